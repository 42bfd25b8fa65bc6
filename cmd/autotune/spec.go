package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"autotune/runner/bench"
	"autotune/runner/engine"
	"autotune/search"
	"autotune/tuner"
	"autotune/tuner/studyfile"
)

// samplerOfBefore is that of a study whose file does not say which one it began with: there was no other default then.
const samplerOfBefore = "tpe"

// errStudy says of a file that was given for a spec what it is.
var errStudy = errors.New("is a study file, not a spec")

// readSpec reads and parses a spec file. sampler is that of a spec which names none; empty for this version's default.
func readSpec(path, sampler string) (*studyfile.Spec, error) {
	text, err := readRegular(path)
	if err != nil {
		return nil, trying(usage("reading the spec: %w", err), "autotune init writes a spec to start from")
	}
	if bytes.HasPrefix(text, []byte("SQLite format 3\x00")) { // a database names itself at its beginning
		return nil, trying(usage("reading the spec: %s %w", path, errStudy), "autotune status %s, or autotune resume %s", path, path)
	}
	spec, err := parseSpec(path, text, sampler)
	if err != nil {
		return nil, &exitError{code: exitUsage, err: err}
	}
	return spec, nil
}

// specRead bounds what is read of a spec, in bytes: the parser refuses less than that as too long.
const specRead = 1 << 20

// readRegular reads a file that has an end: a device or a pipe may have none.
func readRegular(path string) (text []byte, err error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, fmt.Errorf("%s is a directory", path)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is no regular file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return io.ReadAll(io.LimitReader(f, specRead))
}

// parseSpec reads a spec against the names of the catalogs.
func parseSpec(source string, text []byte, sampler string) (*studyfile.Spec, error) {
	return studyfile.Known{Engines: engine.Names(), Samplers: search.Names(), Tools: bench.Names(), Sampler: sampler}.Parse(source, text)
}

// storedSpec reads the spec in a study file, and what else the study was made from. A study keeps the sampler that it began with, whatever this
// version's default is.
func storedSpec(study tuner.Study) (*studyfile.Spec, inputs, error) {
	var in inputs
	if err := json.Unmarshal(study.Inputs, &in); err != nil {
		return nil, in, fmt.Errorf("reading the study's inputs: %w", err)
	}
	if in.Sampler == "" {
		in.Sampler = samplerOfBefore
	}
	spec, err := parseSpec(study.Source, study.Spec, in.Sampler)
	if err != nil {
		err = fmt.Errorf("the spec in the study file is not one that this version reads: %w", err)
	}
	return spec, in, err
}
