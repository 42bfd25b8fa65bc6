//go:build bench

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"autotune/runner/load"
	"autotune/tuner/metric"
	"autotune/tuner/workload"
)

// guidellmVariable names the folder in which guidellm is installed, with a model's tokenizer in its folder tiny; see make bench-load.
const guidellmVariable = "AUTOTUNE_GUIDELLM"

// outcome is what a load generator says of a run, and what it cost.
type outcome struct {
	Lag         time.Duration // 99th percentile of how late requests were sent
	Peak        int           // most requests in flight
	Good        int
	TTFT, TTFT9 time.Duration // median, 99th percentile, as the tool itself reports them
	ITL         time.Duration // mean, as the tool itself reports it
	Throughput  float64       // output tokens/s, as the tool itself reports it
	spent
}

// generator sends one workload to a server.
type generator struct {
	name string
	send func(t *testing.T, url string, spec workload.Spec) outcome
}

func builtin(t *testing.T, url string, spec workload.Spec) outcome {
	t.Helper()
	a, used := carryOut(t, childTask{Part: "load", URL: url, Options: load.Options{Spec: spec}})
	m := metric.Compute(a.Result.Records, 1)
	o := outcome{Lag: inSeconds(m["client_lag_p99"]), Peak: int(m["peak_concurrency"]), TTFT: inSeconds(m["p50_ttft"]), TTFT9: inSeconds(m["p99_ttft"]), ITL: inSeconds(m["mean_tpot"]),
		Throughput: m["output_token_throughput"], spent: used}
	for _, r := range a.Result.Records {
		if r.OK() {
			o.Good++
		}
	}
	return o
}

func inSeconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// guidellmReport is as much of guidellm's file as is compared.
type guidellmReport struct {
	Benchmarks []struct {
		Requests struct {
			Successful []struct {
				Info struct {
					Timings struct {
						Targeted float64 `json:"targeted_start"`
						Start    float64 `json:"request_start"`
						End      float64 `json:"request_end"`
					} `json:"timings"`
				} `json:"info"`
			} `json:"successful"`
		} `json:"requests"`
		Metrics map[string]json.RawMessage `json:"metrics"`
	} `json:"benchmarks"`
}

// figure is a statistic of one of its metrics over the requests that succeeded.
func (r guidellmReport) figure(t *testing.T, name, percentile string) float64 {
	t.Helper()
	var v struct {
		Successful struct {
			Mean        float64            `json:"mean"`
			Percentiles map[string]float64 `json:"percentiles"`
		} `json:"successful"`
	}
	if err := json.Unmarshal(r.Benchmarks[0].Metrics[name], &v); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if percentile == "" {
		return v.Successful.Mean
	}
	return v.Successful.Percentiles[percentile]
}

func guidellm(t *testing.T, url string, spec workload.Spec) outcome {
	t.Helper()
	home, file := os.Getenv(guidellmVariable), filepath.Join(t.TempDir(), "guidellm.json")
	c := exec.Command(filepath.Join(home, "bin", "guidellm"), "run",
		"--backend", "kind=openai_http,target="+url+",model=bench,request_format=/v1/completions",
		"--tokenizer", "kind=huggingface_auto,model="+filepath.Join(home, "tiny"),
		"--data", fmt.Sprintf("kind=synthetic_text,prompt_tokens=%d,output_tokens=%d", spec.InputTokens, spec.OutputTokens),
		"--profile", "kind=constant,rate="+strconv.FormatFloat(spec.Rate, 'g', -1, 64),
		"--constraint", fmt.Sprintf("kind=max_requests,count=%d", spec.Requests),
		"--output", "kind=json,path="+file, "--disable-progress")
	c.Env = append(os.Environ(), "HF_HUB_OFFLINE=1")
	memory := make(chan int64)
	quit := make(chan struct{})
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { memory <- watchMemory(c.Process.Pid, quit) }()
	err := c.Wait()
	close(quit)
	held := <-memory
	if err != nil {
		t.Fatalf("guidellm: %v", err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var r guidellmReport
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	done := r.Benchmarks[0].Requests.Successful
	var lags []time.Duration
	var records []metric.Record
	for i, q := range done {
		at := q.Info.Timings
		lags = append(lags, inSeconds(at.Start-at.Targeted))
		first := done[0].Info.Timings.Start
		records = append(records, metric.Record{Index: i, Sent: inSeconds(at.Start - first), End: inSeconds(at.End - first)})
	}
	o := outcome{Good: len(done), Lag: percentileOf(lags, 0.99), TTFT: inSeconds(r.figure(t, "time_to_first_token_ms", "p50") / 1e3), TTFT9: inSeconds(r.figure(t, "time_to_first_token_ms", "p99") / 1e3),
		ITL: inSeconds(r.figure(t, "inter_token_latency_ms", "") / 1e3), Throughput: r.figure(t, "output_tokens_per_second", ""), spent: spentBy(c)}
	o.Memory = held
	_, o.Peak = mostAtOnce(records)
	return o
}

// watchMemory is the most that a process and its descendants held at once, proportionally shared pages counted once; looked at ten times a second.
func watchMemory(pid int, quit <-chan struct{}) (most int64) {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-quit:
			return most
		case <-tick.C:
			most = max(most, memoryOf(pid))
		}
	}
}

func memoryOf(pid int) (sum int64) {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if _, rest, ok := strings.Cut(string(text), "\nPss:"); ok {
		if fields := strings.Fields(rest); len(fields) > 0 {
			n, _ := strconv.ParseInt(fields[0], 10, 64)
			sum = n << 10
		}
	}
	children, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	if err != nil {
		return sum
	}
	for _, path := range children {
		text, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		for _, word := range strings.Fields(string(text)) {
			child, _ := strconv.Atoi(word)
			sum += memoryOf(child)
		}
	}
	return sum
}

// mostAtOnce sweeps over sends and ends.
func mostAtOnce(records []metric.Record) (at time.Duration, most int) {
	type edge struct {
		at   time.Duration
		step int
	}
	var edges []edge
	for _, r := range records {
		edges = append(edges, edge{r.Sent, 1}, edge{r.End, -1})
	}
	slices.SortFunc(edges, func(a, b edge) int { return int(min(max(a.at-b.at, -1), 1)) })
	n := 0
	for _, e := range edges {
		if n += e.step; n > most {
			at, most = e.at, n
		}
	}
	return at, most
}
