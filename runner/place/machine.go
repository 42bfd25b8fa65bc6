package place

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"

	"autotune/runner/internal/proc"
)

// GPU is one of this machine's, as its driver reports it.
type GPU struct {
	Name      string // NVIDIA H200
	MemoryGiB float64
}

// How long a program is waited for that says what there is. An engine's program loads all of PyTorch to say its version.
const (
	gpuLimit    = 10 * time.Second
	engineLimit = time.Minute
)

// GPUs asks nvidia-smi for this machine's GPUs. The error says why they are not known: there is no nvidia-smi, it fails, or it does not answer.
func GPUs(ctx context.Context, environ []string) ([]GPU, error) {
	lines, err := ask(ctx, environ, gpuLimit, "nvidia-smi", "--query-gpu=name,memory.total", "--format=csv,noheader,nounits")
	if err != nil {
		return nil, err
	}
	var gpus []GPU
	for _, line := range lines {
		comma := strings.LastIndexByte(line, ',')
		if comma < 0 {
			continue
		}
		mib, err := strconv.ParseFloat(strings.TrimSpace(line[comma+1:]), 64)
		if err != nil {
			return nil, fmt.Errorf("nvidia-smi says %q of a GPU's memory", strings.TrimSpace(line[comma+1:]))
		}
		gpus = append(gpus, GPU{strings.TrimSpace(line[:comma]), mib / 1024})
	}
	if len(gpus) == 0 {
		return nil, errors.New("nvidia-smi names no GPU")
	}
	return gpus, nil
}

// questions are the commands that print an engine's version as the last word of a line.
var questions = map[string][][]string{
	"vllm":   {{"vllm", "--version"}},
	"sglang": {{"python", "-c", "import sglang; print(sglang.__version__)"}, {"python3", "-c", "import sglang; print(sglang.__version__)"}},
}

// Installed asks for the versions of those engines that can be started here; one that is not there is left out.
func Installed(ctx context.Context, environ []string) map[string]string {
	versions := map[string]string{}
	var mu sync.Mutex
	var all sync.WaitGroup
	for name, commands := range questions {
		all.Go(func() {
			for _, command := range commands {
				lines, err := ask(ctx, environ, engineLimit, command...)
				if err != nil || len(lines) == 0 {
					continue
				}
				words := strings.Fields(lines[len(lines)-1]) // warnings come first
				mu.Lock()
				versions[name] = words[len(words)-1]
				mu.Unlock()
				return
			}
		})
	}
	all.Wait()
	return versions
}

// ask runs a program that prints something short, and ends it when it takes too long.
func ask(ctx context.Context, environ []string, limit time.Duration, argv ...string) ([]string, error) {
	var lines []string
	log, err := proc.NewLog(os.DevNull, nil, func(line string) {
		if strings.TrimSpace(line) != "" {
			lines = append(lines, line)
		}
	})
	if err != nil {
		return nil, err
	}
	p, err := proc.Start(proc.Spec{Argv: argv, Env: environ, Marker: fmt.Sprintf("ask-%d-%s", os.Getpid(), argv[0]), Log: log})
	switch {
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("there is no %s here", argv[0])
	case err != nil:
		return nil, err
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	late := error(nil)
	select {
	case <-p.Done():
	case <-timer.C:
		late = fmt.Errorf("%s does not answer within %s", argv[0], limit)
	case <-ctx.Done():
		late = context.Cause(ctx)
	}
	if err := errors.Join(late, p.Stop(0)); err != nil {
		return nil, err
	}
	if exit := p.Exit(); exit.Code != 0 {
		said := ""
		if len(lines) > 0 {
			said = ": " + lines[len(lines)-1]
		}
		return nil, fmt.Errorf("%s ends with %s%s", argv[0], exit, said)
	}
	return lines, nil
}
