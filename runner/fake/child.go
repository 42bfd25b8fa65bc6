package fake

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	// childLife bounds how long an orphan stays behind, so that nothing stays for good.
	childLife = 10 * time.Minute
	// childStart bounds how long a child may take to say that it is there.
	childStart = 10 * time.Second
	// childStop is how long a child may take to go after SIGTERM.
	childStop = 2 * time.Second
)

// child is the process below the server that holds the GPUs.
type child struct {
	cmd      *exec.Cmd
	done     chan struct{}  // closed once it was waited for
	hold     io.WriteCloser // its stdin: when it closes, the server is gone
	stopping atomic.Bool    // its end is wanted
}

// titles are the names under which the real processes show in ps.
func (s *server) title() string {
	if s.sglang() {
		return "sglang::scheduler_TP0"
	}
	return "VLLM::EngineCore"
}

// startChild starts exe again below this process and waits until it holds the GPUs. busy names a GPU that somebody else holds.
func (s *server) startChild(part string, attr *syscall.SysProcAttr) (c *child, busy string, err error) {
	args := []string{s.title(), Command, "--child=" + part}
	if s.faults.has("ignore-sigterm") || part == "orphan" {
		args = append(args, "--ignore-sigterm")
	}
	if s.gpuDir != "" && part != "orphan" {
		args = append(args, "--gpu-dir="+s.gpuDir, "--gpus="+strconv.Itoa(s.machine.GPUs))
	}
	c = &child{cmd: &exec.Cmd{Path: s.exe, Args: args, SysProcAttr: attr}, done: make(chan struct{})}
	out, err := c.cmd.StdoutPipe()
	if err == nil {
		c.hold, err = c.cmd.StdinPipe()
	}
	if err == nil {
		err = c.cmd.Start()
	}
	if err != nil {
		return nil, "", fmt.Errorf("starting the engine's child: %w", err)
	}
	timer := time.AfterFunc(childStart, func() { _ = c.cmd.Process.Kill() })
	word, _ := bufio.NewReader(out).ReadString('\n') // an early end reads as no word
	timer.Stop()
	go c.wait()
	busy, isBusy := strings.CutPrefix(strings.TrimSpace(word), "busy ")
	switch {
	case isBusy:
		return nil, busy, nil
	case word != "ready\n":
		return nil, "", fmt.Errorf("the engine's child did not start: it said %q", word)
	}
	return c, "", nil
}

// wait reaps the child.
func (c *child) wait() {
	_ = c.cmd.Wait() // how it ended says nothing
	close(c.done)
}

// stop ends the child: SIGTERM, then SIGKILL.
func (c *child) stop() {
	if c == nil {
		return
	}
	c.stopping.Store(true)
	_ = c.cmd.Process.Signal(syscall.SIGTERM) // it may be gone
	select {
	case <-c.done:
	case <-time.After(childStop):
		_ = c.cmd.Process.Kill()
		<-c.done
	}
}

// kill lets the child die without a word.
func (c *child) kill() { _ = c.cmd.Process.Kill() } // it may be gone

// runChild is the child's own life: it takes the GPUs, says so, and holds them until SIGTERM or until its server is gone. An orphan stays
// behind for childLife at most.
func runChild(ctx context.Context, o options, stdout io.Writer, getenv func(string) string) int {
	title := "VLLM::EngineCore"
	if len(os.Args) > 0 && strings.Contains(os.Args[0], "::") {
		title = os.Args[0]
	}
	_ = os.WriteFile("/proc/self/comm", []byte(title), 0o644) // for ps alone
	if o.ignores {
		signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
		ctx = context.WithoutCancel(ctx)
	}
	if o.gpuDir != "" {
		held, busy := takeGPUs(o, getenv("CUDA_VISIBLE_DEVICES"))
		defer func() {
			for _, f := range held {
				f.Close()
			}
		}()
		if busy != "" {
			fmt.Fprintf(stdout, "busy %s\n", busy)
			return 1
		}
	}
	fmt.Fprintln(stdout, "ready")
	lost := make(chan struct{})
	go func() { _, _ = io.Copy(io.Discard, os.Stdin); close(lost) }()
	select {
	case <-ctx.Done():
		return 0
	case <-lost:
	}
	if o.child != "orphan" {
		return 0
	}
	select {
	case <-ctx.Done():
	case <-time.After(childLife):
	}
	return 0
}

// takeGPUs locks one file a visible GPU; a file that another process holds stands for a GPU whose memory is not free.
func takeGPUs(o options, visible string) (held []*os.File, busy string) {
	names := strings.Split(visible, ",")
	if visible == "" {
		names = nil
		for i := range o.machine.GPUs {
			names = append(names, strconv.Itoa(i))
		}
	}
	for _, name := range names {
		f, err := os.OpenFile(filepath.Join(o.gpuDir, "gpu-"+filepath.Base(name)+".lock"), os.O_CREATE|os.O_RDWR, 0o644)
		if err != nil {
			return held, name
		}
		held = append(held, f)
		if syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
			return held, name
		}
	}
	return held, ""
}
