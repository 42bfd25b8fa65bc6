package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"autotune/runner"
	"autotune/runner/load"
	"autotune/tuner/workload"
)

// checkedWorkload is what check says of a workload.
type checkedWorkload struct {
	Name  string `json:"name"`
	Sends string `json:"sends"`
}

// readTraffic reads the workloads' files, in the order of the workloads.
func (w *world) readTraffic(a *assembly) ([]runner.Traffic, error) {
	var all []runner.Traffic
	for _, t := range a.spec.Traffic {
		if warning := missingVariable(t.Spec, w.getenv); warning != "" && !a.inputs.Rehearse {
			return nil, trying(usage("%s", warning), "export it in the shell that runs autotune")
		}
		traffic, err := w.readDataset(a, t.Spec)
		if err != nil {
			return nil, err
		}
		all = append(all, traffic)
	}
	return all, nil
}

// missingVariable says which variable of the environment a workload names that is not set.
func missingVariable(spec workload.Spec, getenv func(string) string) string {
	for _, name := range spec.Variables() {
		if getenv(name) == "" {
			return fmt.Sprintf("the workload %s is sent with the value of $%s, which is not set", spec.Name, name)
		}
	}
	return ""
}

// readDataset reads one workload's file. A rehearsal without the file of a ShareGPT workload goes by the published statistics of its lengths, and says so.
func (w *world) readDataset(a *assembly, spec workload.Spec) (runner.Traffic, error) {
	path := a.datasetPath(spec)
	if path == "" {
		return runner.Traffic{Workload: spec}, nil
	}
	if warning := datasetWarning(spec, path); warning != "" {
		if spec.Dataset != workload.ShareGPT {
			return runner.Traffic{}, trying(usage("%s", warning), "download the file, or correct the workload's path")
		}
		if a.inputs.Rehearse {
			fmt.Fprintf(w.out, "The dataset file %s is missing: this rehearsal uses the published statistics of its lengths.\n", path)
			requests, err := spec.ExpandLengths(workload.ShareGPTMeanInput, workload.ShareGPTMeanOutput)
			return runner.Traffic{Workload: spec, Requests: requests}, err
		}
		return runner.Traffic{}, trying(usage("%s", warning), "download the file, correct the workload's path, or rehearse with --rehearse")
	}
	d, requests, err := expandFile(spec, path)
	if err != nil {
		return runner.Traffic{}, &exitError{code: exitUsage, err: err}
	}
	if d.Dropped > 0 {
		fmt.Fprintf(w.out, "Of %s, %d rows can be sent and %d are dropped: too short or too long, see docs/workloads.md.\n", path, len(d.Rows), d.Dropped)
	}
	if word := a.beyondContext(spec, requests); word != "" {
		fmt.Fprintf(w.out, "Warning: %s\n", word)
	}
	spec.Requests = len(requests)
	return runner.Traffic{Workload: spec, Rows: d.Rows, FileHash: d.Hash}, nil
}

// expandFile reads a workload's file and makes its requests.
func expandFile(spec workload.Spec, path string) (load.Dataset, []workload.Request, error) {
	d, err := load.ReadDataset(spec.Dataset, path, spec.OutputTokens)
	if err != nil {
		return d, nil, err
	}
	requests, err := spec.Expand(d.Rows)
	if err != nil {
		return d, nil, fmt.Errorf("the workload %s and its dataset %s: %w", spec.Name, path, err)
	}
	return d, requests, nil
}

// checkedBytes bounds the file that check reads: a few seconds.
const checkedBytes = 256 << 20

// describeWorkload says in a line what a workload sends; warning says why its file cannot be read.
func (a *assembly) describeWorkload(spec workload.Spec) (line, warning string) {
	path := a.datasetPath(spec)
	if path == "" {
		requests, err := spec.Expand(nil)
		if err != nil {
			return spec.Describe(nil), err.Error()
		}
		return spec.Describe(requests), ""
	}
	if warning = datasetWarning(spec, path); warning != "" {
		return spec.Describe(nil), warning
	}
	if info, err := os.Stat(path); err != nil || info.Size() > checkedBytes {
		return spec.Describe(nil), ""
	}
	_, requests, err := expandFile(spec, path)
	if err != nil {
		return spec.Describe(nil), err.Error()
	}
	return spec.Describe(requests), a.beyondContext(spec, requests)
}

// datasetWarning says that the dataset's file cannot be read.
func datasetWarning(spec workload.Spec, path string) string {
	f, err := os.Open(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && spec.Dataset == workload.ShareGPT:
		return fmt.Sprintf("the dataset file %s does not exist: run needs it; a rehearsal uses the published statistics of its lengths instead", path)
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Sprintf("the dataset file %s does not exist: run needs it, and so does a rehearsal", path)
	case err != nil:
		return fmt.Sprintf("the dataset file cannot be read: %v", err)
	}
	if err := f.Close(); err != nil {
		return err.Error()
	}
	return ""
}

// datasetPath is where a workload's file lies, relative paths seen from the spec's folder; empty when it has none.
func (a *assembly) datasetPath(w workload.Spec) string {
	path := w.Path
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(a.inputs.Folder, path)
}
