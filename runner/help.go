package runner

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"autotune/runner/engine"
	"autotune/runner/place"
	"autotune/tuner"
)

// HelpLimit bounds how long an engine may take to print its help: its imports alone take 15 to 40 s, and minutes from a cold network disk.
const HelpLimit = 5 * time.Minute

// ErrNoHelp says that an engine's help could not be had, though nothing is wrong with the machine: its command takes no --help, or prints another
// program's, or did not end.
var ErrNoHelp = errors.New("the engine's own list of flags could not be read")

// helpWidth makes argparse print wide lines.
const helpWidth = "COLUMNS=200"

// ReadHelp asks an engine for its flags, by its own command on the study's place: nothing is loaded and no GPU is touched. plan says how the engine is
// started. An engine that cannot even print its help is the machine's fault, a *tuner.MachineError; ErrNoHelp is wrapped by what is nobody's.
func ReadHelp(ctx context.Context, where place.Place, plan Plan, environ []string, self string, limit time.Duration) (engine.Help, error) {
	folder, err := os.MkdirTemp("", "autotune-help-")
	if err != nil {
		return engine.Help{}, fmt.Errorf("asking %s for its flags: %w", plan.Engine.Title, err)
	}
	defer func() { _ = os.RemoveAll(folder) }()
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	a := asking{where: where, plan: plan, environ: environ, self: self, folder: folder, limit: limit}
	var h engine.Help
	for _, words := range plan.Engine.HelpArguments() {
		if h, err = a.ask(ctx, words); !errors.Is(err, ErrNoHelp) || ctx.Err() != nil {
			break
		}
	}
	if ctx.Err() == context.DeadlineExceeded {
		err = fmt.Errorf("%w: it did not end within %v", ErrNoHelp, limit)
	}
	return h, err
}

// asking is what an engine is asked for its help with.
type asking struct {
	where   place.Place
	plan    Plan
	environ []string
	self    string
	folder  string
	limit   time.Duration
}

// ask starts the engine's command once, and reads what it prints.
func (a asking) ask(ctx context.Context, words []string) (engine.Help, error) {
	hidden := findSecrets(a.environ, a.plan)
	command := func(slot place.Slot) place.Command {
		env := slices.Concat(a.environ, slot.Env, a.plan.Engine.Env(engine.Launch{}), a.plan.Env, []string{helpWidth})
		return place.Command{Argv: append(a.executable(), words...), Env: env}
	}
	id := "help-" + filepath.Base(a.folder)
	server, err := a.where.Start(ctx, place.Job{ID: id, Command: command, Log: filepath.Join(a.folder, logName), Redact: hidden.redact, Grace: helpGrace})
	if err != nil {
		return engine.Help{}, a.cannotStart(ctx, err)
	}
	select {
	case <-server.Done():
	case <-ctx.Done():
		return engine.Help{}, errors.Join(ctx.Err(), server.Stop(helpGrace))
	}
	exit := server.Exit()
	if err := server.Stop(helpGrace); err != nil {
		return engine.Help{}, fmt.Errorf("asking %s for its flags: %w", a.plan.Engine.Title, err)
	}
	lines := server.Lines()
	if exit.Code == 0 {
		h, err := engine.ParseHelp(strings.Join(lines, "\n"))
		if err != nil {
			err = fmt.Errorf("%w: %w", ErrNoHelp, err)
		}
		return h, err
	}
	return engine.Help{}, a.failed(exit, lines)
}

// executable is how the engine is started.
func (a asking) executable() []string {
	if words := a.plan.executable(a.self); len(words) > 0 {
		return words
	}
	return a.plan.Engine.Executable()
}

const helpGrace = 2 * time.Second

// failed judges an engine that did not get as far as its help. One whose parser only refuses these words of asking is none of that.
func (a asking) failed(exit place.Exit, lines []string) error {
	f := engine.Classify(engine.Evidence{Engine: a.plan.Engine.Name, Lines: lines, Phase: tuner.PhaseFlags, ExitCode: exit.Code, Signal: exit.Signal})
	if exit.Code == exitUsage {
		return fmt.Errorf("%w: %s", ErrNoHelp, last(lines))
	}
	o := tuner.Outcome{Kind: tuner.Infeasible, Phase: tuner.PhaseFlags, Reason: tuner.ReasonEnvironment, Signature: f.Signature, Evidence: f.Evidence, Hint: f.Hint}
	if !f.Found() || f.Reason != tuner.ReasonEnvironment && f.Reason != tuner.ReasonUser {
		o.Signature, o.Evidence = "no_help", last(lines)
		o.Hint = fmt.Sprintf("run the engine's command with --help by hand: %s does not start on this machine, whatever its flags", a.plan.Engine.Title)
	}
	o.Evidence = fmt.Sprintf("%s cannot print its own flags (%v): %s", a.plan.Engine.Title, exit, o.Evidence)
	return &tuner.MachineError{Outcome: o}
}

// exitUsage is how argparse ends that does not know a word.
const exitUsage = 2

func (a asking) cannotStart(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return &tuner.MachineError{Outcome: tuner.Outcome{Kind: tuner.Infeasible, Phase: tuner.PhaseInit, Reason: tuner.ReasonUser, Signature: "no_command", Evidence: err.Error(),
			Hint: fmt.Sprintf("install %s, or say in the spec how it is started: command: [...]", a.plan.Engine.Title)}}
	}
	return fmt.Errorf("asking %s for its flags: %w", a.plan.Engine.Title, err)
}

// last is the last line that says something.
func last(lines []string) string {
	for _, line := range slices.Backward(lines) {
		if strings.TrimSpace(line) != "" {
			return strings.TrimSpace(line)
		}
	}
	return "it printed nothing"
}
