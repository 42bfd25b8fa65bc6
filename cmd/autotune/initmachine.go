package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"autotune/runner/checkpoint"
	"autotune/runner/engine"
	"autotune/runner/place"
	"autotune/tuner/law"
)

// machine is what a spec is written for.
type machine struct {
	host      engine.Host
	installed map[string]string // engine to version; nil: not asked
	notes     []string
}

// String names the GPUs.
func (m machine) String() string {
	switch {
	case m.host.GPUs == 0:
		return "a machine without a GPU"
	case m.host.GPU == "" && m.host.GPUs == 1:
		return "one GPU of a kind that is not known"
	case m.host.GPU == "":
		return fmt.Sprintf("%d GPUs of a kind that is not known", m.host.GPUs)
	}
	return fmt.Sprintf("%d x %s, %.4g GiB each", m.host.GPUs, m.host.GPU, m.host.MemoryGiB)
}

var planned = regexp.MustCompile(`^([0-9]{1,4})(?:[x*]([A-Za-z0-9].*))?$`)

// readGPUs reads --gpus: N, or NxTYPE.
func readGPUs(text string) (engine.Host, error) {
	m := planned.FindStringSubmatch(strings.TrimSpace(text))
	if m == nil {
		return engine.Host{}, usage("--gpus %s: allowed is a number, 0 (no GPU) to 4096, or a number and a type, as 8xH200", text)
	}
	n, err := strconv.Atoi(m[1])
	if err != nil || n > 4096 {
		return engine.Host{}, usage("--gpus %s: allowed is 0 (no GPU) to 4096", text)
	}
	h := engine.Host{GPUs: n, GPU: m[2]}
	if m[2] != "" {
		gib, ok := law.GPUMemory(m[2])
		if !ok {
			return h, trying(usage("--gpus %s: no data sheet of %q is known here", text, m[2]), "a number alone, or one of %s", strings.Join(law.GPUNames(), ", "))
		}
		h.MemoryGiB = gib
	}
	return h, nil
}

// machineFor finds out what there is, unless --gpus says what to plan for.
func (w *world) machineFor(ctx context.Context, o initOptions) (machine, error) {
	var m machine
	var err error
	if o.gpus != "" {
		if m.host, err = readGPUs(o.gpus); err != nil || m.host.GPU != "" {
			return m, err
		}
	}
	if o.gpus == "" || m.host.GPUs > 0 {
		if err := m.askGPUs(ctx, w, o.gpus == ""); err != nil {
			return m, err
		}
	}
	if !o.enginesGiven {
		m.installed = place.Installed(ctx, w.environ)
	}
	return m, nil
}

// askGPUs asks this machine; all says to take every one.
func (m *machine) askGPUs(ctx context.Context, w *world, all bool) error {
	found, err := place.GPUs(ctx, w.environ)
	switch {
	case err != nil && all:
		return trying(usage("the GPUs of this machine are not known: %w", err), "--gpus N, --gpus 8xH200 to plan for another machine, or --gpus 0 for one without any")
	case err != nil:
		m.notes = append(m.notes, fmt.Sprintf("the GPUs of this machine are not known (%v): the ranges are general; --gpus %dxTYPE says which they will be", err, m.host.GPUs))
		return nil
	case all:
		m.host.GPUs = len(found)
	case m.host.GPUs > len(found):
		m.notes = append(m.notes, fmt.Sprintf("this machine has %d GPUs, fewer than the %d that the spec asks for", len(found), m.host.GPUs))
	}
	m.host.GPU, m.host.MemoryGiB = found[0].Name, found[0].MemoryGiB
	for _, g := range found[:min(len(found), m.host.GPUs)] {
		if g.Name != m.host.GPU {
			m.notes = append(m.notes, fmt.Sprintf("the GPUs differ (%s, %s): CUDA_VISIBLE_DEVICES picks those that are alike", m.host.GPU, g.Name))
			break
		}
	}
	return nil
}

// enginesFor are the engines of the spec: those asked for, else those that are installed, else all.
func (m *machine) enginesFor(o initOptions) []string {
	if o.enginesGiven || m.installed == nil {
		return o.engines
	}
	here := slices.DeleteFunc(slices.Clone(o.engines), func(name string) bool { return m.installed[name] == "" })
	if len(here) == 0 {
		m.notes = append(m.notes, "no engine is found on this machine's PATH: the spec is for "+strings.Join(o.engines, " and "))
		return o.engines
	}
	return here
}

// checkpointOf reads what is known of a model: config.json in its folder or in the hub's cache on this machine, else what its name tells.
func (w *world) checkpointOf(model string) (c engine.Checkpoint, notes []string) {
	folders := []string{model}
	if cached := checkpoint.Cached(w.hub(), model); cached != "" {
		folders = append(folders, cached)
	}
	for _, folder := range folders {
		path := filepath.Join(folder, "config.json")
		text, err := readRegular(path)
		if err != nil {
			continue
		}
		c, err := engine.ReadCheckpoint(text)
		if err == nil {
			return c, notes
		}
		notes = append(notes, fmt.Sprintf("%s: %v; the model's name is all that is known of it", path, err))
	}
	if _, err := os.Stat(model); err != nil && (strings.HasPrefix(model, "/") || strings.HasPrefix(model, "./")) {
		notes = append(notes, fmt.Sprintf("the folder %s does not exist here: the model's name is all that is known of it", model))
	}
	return engine.GuessCheckpoint(model), notes
}
