package place

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"autotune/runner/internal/proc"
)

// Local is this machine.
type Local struct {
	gpus  []int
	guard []string
	pool  *pool
}

// LocalConfig is what is known of this machine.
type LocalConfig struct {
	// GPUs are the numbers of those that a server may use; none leaves CUDA_VISIBLE_DEVICES as it is.
	GPUs []int
	// Ports is the range to take ports from; zero is DefaultPorts.
	Ports Ports
	// Guard is a command that reaches Guard with the words that are appended: it ends a server when this process is killed so hard that it cannot.
	// Empty: only a later Reap does.
	Guard []string
}

// NewLocal is this machine as a place.
func NewLocal(c LocalConfig) (*Local, error) {
	pool, err := newPool(c.Ports, os.Getpid()) // processes begin in different places, so they seldom meet
	if err != nil {
		return nil, err
	}
	return &Local{gpus: slices.Clone(c.GPUs), guard: slices.Clone(c.Guard), pool: pool}, nil
}

// Reap implements Place.
func (l *Local) Reap(prefix string, grace time.Duration) ([]string, error) {
	return proc.Reap(prefix, grace)
}

// Start implements Place.
func (l *Local) Start(ctx context.Context, job Job) (Server, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	block, err := l.pool.take()
	if err != nil {
		return nil, err
	}
	s, err := l.start(job, block)
	if err != nil {
		block.release()
		return nil, err
	}
	return s, nil
}

func (l *Local) start(job Job, block *block) (*local, error) {
	slot := Slot{Host: "127.0.0.1", Port: block.first, InternalPort: block.first + internalFirst, GPUs: slices.Clone(l.gpus)}
	if len(l.gpus) > 0 {
		var numbers []string
		for _, g := range l.gpus {
			numbers = append(numbers, strconv.Itoa(g))
		}
		slot.Env = []string{"CUDA_VISIBLE_DEVICES=" + strings.Join(numbers, ",")}
	}
	log, err := proc.NewLog(job.Log, job.Redact, job.OnLine)
	if err != nil {
		return nil, err
	}
	command := job.Command(slot)
	p, err := proc.Start(proc.Spec{Argv: command.Argv, Env: command.Env, Marker: job.ID, Log: log, Guard: l.guard, Grace: job.Grace})
	if err != nil {
		return nil, errors.Join(err, log.Close())
	}
	return &local{slot: slot, block: block, proc: p, log: log}, nil
}

// local is a server on this machine.
type local struct {
	slot    Slot
	block   *block
	proc    *proc.Proc
	log     *proc.Log
	release sync.Once
}

func (s *local) Slot() Slot            { return s.slot }
func (s *local) Done() <-chan struct{} { return s.proc.Done() }
func (s *local) Lines() []string       { return s.log.Lines() }

func (s *local) Exit() Exit {
	e := s.proc.Exit()
	return Exit{Code: e.Code, Signal: e.Signal}
}

// Stop implements Server. The ports of a server that cannot be ended are not given back.
func (s *local) Stop(grace time.Duration) error {
	if err := s.proc.Stop(grace); err != nil {
		return err
	}
	s.release.Do(s.block.release)
	return nil
}

// Guard is what the command of LocalConfig.Guard does with the words that were appended to it. in is its standard input.
func Guard(in io.Reader, words []string) error {
	if len(words) != 2 {
		return errors.New("a guard takes two words: a marker and a grace")
	}
	grace, err := time.ParseDuration(words[1])
	if err != nil {
		return fmt.Errorf("a guard's grace: %w", err)
	}
	return proc.Watch(in, words[0], grace)
}

// Unkillable says which processes outlived SIGKILL, if that is what err tells.
func Unkillable(err error) (processes []string, ok bool) {
	var e *proc.SurvivorsError
	if !errors.As(err, &e) {
		return nil, false
	}
	return e.Processes, true
}
