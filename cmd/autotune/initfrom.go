package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"autotune/runner/deploy"
	"autotune/runner/engine"
	"autotune/space"
	"autotune/tuner/studyfile"
)

// textOf is the text of --from, and what it is called in messages.
func (w *world) textOf(from string) (text, source string, err error) {
	if from == "-" {
		read, err := io.ReadAll(io.LimitReader(w.in, specRead))
		if err != nil {
			return "", "", fmt.Errorf("reading standard input: %w", err)
		}
		return string(read), "standard input", nil
	}
	if _, err := os.Stat(from); err == nil {
		read, err := readRegular(from)
		if err != nil {
			return "", "", usage("--from: %w", err)
		}
		return string(read), from, nil
	} else if !strings.ContainsAny(from, " \t\n") && errors.Is(err, fs.ErrNotExist) {
		return "", "", trying(usage("--from %s: there is no such file, and it is no command", from), "--from 'vllm serve MODEL ...', in quotes, or a file that holds it")
	}
	return from, "--from", nil
}

// fileOf is where the text of --from lies, as an absolute path; empty where it is no file.
func fileOf(source string) string {
	if _, err := os.Stat(source); err != nil {
		return ""
	}
	file, err := filepath.Abs(source)
	if err != nil {
		return ""
	}
	return file
}

// configFile reads a file that a command names: from where the text lies, or from here.
func configFile(source string) func(string) ([]byte, error) {
	return func(path string) ([]byte, error) {
		if beside := filepath.Join(filepath.Dir(source), path); !filepath.IsAbs(path) {
			if text, err := readRegular(beside); err == nil {
				return text, nil
			}
		}
		return readRegular(path)
	}
}

// assignments reads NAME=VALUE, each once.
func assignments(words []string) (map[string]string, error) {
	set := map[string]string{}
	for _, word := range words {
		name, value, ok := strings.Cut(word, "=")
		if !ok || name == "" {
			return nil, trying(usage("--set %s: it is not NAME=VALUE", word), "--set MODEL=Qwen/Qwen3-8B, once for each variable")
		}
		set[name] = value
	}
	return set, nil
}

// specFrom makes a spec whose baseline is the command that serves today.
func (w *world) specFrom(o initOptions) (in studyfile.TemplateInput, notes []string, err error) {
	text, source, err := w.textOf(o.from)
	if err != nil {
		return in, nil, err
	}
	set, err := assignments(o.set)
	if err != nil {
		return in, nil, err
	}
	im, err := deploy.Read(text, deploy.Options{Source: source, Path: fileOf(source), Set: set, Home: w.getenv("HOME"), Which: o.which, Model: o.model, Open: configFile(source)})
	var wrong *deploy.Error
	if errors.As(err, &wrong) {
		if wrong.Try == "" {
			return in, nil, &exitError{code: exitUsage, err: wrong}
		}
		return in, nil, trying(usage("%w", wrong), "%s", wrong.Try)
	}
	if err != nil {
		return in, nil, err
	}
	if o.enginesGiven && !slices.Contains(o.engines, im.Engine.Name) {
		return in, nil, usage("--engine %s: the command starts %s", strings.Join(o.engines, ","), im.Engine.Title)
	}
	host := engine.Host{GPUs: im.GPUs()}
	if o.gpus != "" {
		if host, err = readGPUs(o.gpus); err != nil {
			return in, nil, err
		}
	}
	c, notes := w.checkpointOf(im.Model)
	for _, n := range im.Notes {
		notes = append(notes, fmt.Sprintf("%s:%d: %s", source, n.Line, n.Text))
	}
	in = studyfile.TemplateInput{Model: im.Model, GPUs: host.GPUs, Longest: longest(im, c), Comments: []string{fmt.Sprintf("Made from the command on line %d of %s: that is the baseline, and what gains are counted from.", im.Line, source)}}
	if about := aboutModel(c); about != "" && !c.Guessed {
		in.Comments = append(in.Comments, about)
	}
	for _, n := range im.Notes {
		in.Comments = append(in.Comments, fmt.Sprintf("Line %d: %s.", n.Line, strings.TrimSuffix(n.Text, ".")))
	}
	in.Engines = []studyfile.TemplateEngine{today(im, im.Engine.Propose(c, host))}
	return in, notes, nil
}

// longest is the longest request that today's command takes, in tokens; 0: not known.
func longest(im deploy.Import, c engine.Checkpoint) int {
	for _, flag := range []string{"max-model-len", "context-length"} {
		if v, ok := im.Value(flag); ok && v.AsInt() > 0 {
			return int(v.AsInt())
		}
	}
	return c.ContextLen
}

// today puts each flag of a command where it belongs: what is worth searching is searched around its value, the rest stays.
func today(im deploy.Import, p engine.Proposal) studyfile.TemplateEngine {
	e := studyfile.TemplateEngine{Name: im.Engine.Name}
	if !slices.Equal(im.Launch, im.Engine.Executable()) {
		e.Command = im.Launch
	}
	for _, v := range im.Env {
		if !v.Deployment {
			e.Env = append(e.Env, studyfile.EnvVar{Name: v.Name, Value: v.Value})
		}
	}
	dims := p.Tuning
	var left []string
	for _, f := range im.Flags {
		dim, searched := searchedAround(im, f, &dims)
		line := studyfile.TemplateLine{Flag: f.Flag, Value: studyfile.ValueText(f.Value), Why: dim.Why}
		switch {
		case f.Deployment:
			left = append(left, strings.Join(im.Engine.Render([]engine.Setting{f.Setting}), " "))
		case searched:
			line.Why = fmt.Sprintf("line %d", f.Line)
			e.Baseline = append(e.Baseline, line)
		default:
			line.Why = why(im.Engine, f)
			e.Fixed = append(e.Fixed, line)
		}
	}
	for _, d := range dims {
		if !clashes(d, e) {
			e.Space = append(e.Space, dimension(d))
		}
	}
	if len(left) > 0 {
		e.Comments = append(e.Comments, "Left out, since autotune gives each server an address and a name of its own: "+strings.Join(left, " "))
	}
	for _, v := range im.Env {
		if v.Deployment {
			e.Comments = append(e.Comments, "Left out, since autotune says what a server may use; export it in the shell that starts autotune: "+v.Name+"="+v.Value)
		}
	}
	return e
}

// sharedBelow is the memory share below which a GPU is likely to hold something else too: such a share is not turned up without being asked.
var sharedBelow = map[string]float64{"gpu-memory-utilization": 0.75, "mem-fraction-static": 0.5}

// costly are switches that often cost more than they give: what runs with them is also tried without.
var costly = map[string]string{
	"enforce-eager": "no graphs: starts sooner, runs slower", "disable-cuda-graph": "no graphs: starts sooner, decodes slower", "disable-overlap-schedule": "the next step is not prepared while one runs",
}

// searchedAround finds the dimension of a flag, or makes one, and widens it so that today's value is in it.
func searchedAround(im deploy.Import, f deploy.Flag, dims *[]engine.Dimension) (engine.Dimension, bool) {
	share, bounded := sharedBelow[f.Flag]
	switch {
	case f.Deployment || f.Unknown || bounded && f.Value.AsFloat() < share:
		return engine.Dimension{}, false
	case costly[f.Flag] != "" && f.Value == space.Bool(true):
		*dims = slices.DeleteFunc(slices.Clone(*dims), func(d engine.Dimension) bool { return d.Flag == f.Flag })
		*dims = append(*dims, engine.Dimension{Flag: f.Flag, Values: []space.Value{space.Default(), space.Bool(true)}, Why: costly[f.Flag]})
		return engine.Dimension{}, true
	case f.Flag == "speculative-config":
		*dims = slices.DeleteFunc(slices.Clone(*dims), func(d engine.Dimension) bool { return d.Flag == f.Flag })
		*dims = append(*dims, engine.Dimension{Flag: f.Flag, Values: []space.Value{space.Default(), f.Value}, Why: "with many requests at a time a draft often costs more than it gives"})
		return engine.Dimension{}, true
	}
	for i, d := range *dims {
		if d.Flag == f.Flag && !d.Off {
			*dims = slices.Clone(*dims)
			(*dims)[i] = d.Including(f.Value)
			return d, true
		}
	}
	return engine.Dimension{}, false
}

// clashes tells whether a flag is in the command already, itself or by its keys.
func clashes(d engine.Dimension, e studyfile.TemplateEngine) bool {
	return slices.ContainsFunc(e.Fixed, func(l studyfile.TemplateLine) bool {
		stem, _, _ := strings.Cut(l.Flag, ".")
		return stem == d.Flag
	})
}

// why says what a flag that stays is for, and on which line it stands.
func why(d *engine.Definition, f deploy.Flag) string {
	line := fmt.Sprintf("line %d", f.Line)
	if known, ok := d.Flag(f.Flag); ok && known.Help != "" {
		return line + ": " + strings.TrimSuffix(known.Help, ".")
	}
	if f.Unknown {
		return line + ": passed through as written"
	}
	return line
}
