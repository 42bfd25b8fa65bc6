package runner_test

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"autotune/runner"
	"autotune/tuner"
	"autotune/tuner/metric"
)

// TestFaults: each way of failing comes to its own end, in bounded time, with evidence, and leaves nothing behind.
func TestFaults(t *testing.T) {
	silent := func(t *trial) { t.config.Timeouts.Silence = time.Second }
	late := func(t *trial) { t.config.Timeouts.Start = time.Second }
	hang := func(t *trial) { t.config.Timeouts.Hang = time.Second }
	for _, c := range []struct {
		name, words string
		set         func(*trial)
		phase       tuner.Phase
		reason      tuner.Reason
		signature   string
		evidence    string
	}{
		{"oom at load", "--clock law --fault oom-start=load", nil, tuner.PhaseLoad, tuner.ReasonMemory, "cuda_oom_torch", "CUDA out of memory"},
		{"oom at capture", "--clock law --fault oom-start=capture", nil, tuner.PhaseCapture, tuner.ReasonMemory, "cuda_oom_torch", "CUDA out of memory"},
		{"a flag refused", "--clock law --fault reject-flag=max-num-seqs", nil, tuner.PhaseFlags, tuner.ReasonInfeasible, "unrecognised", "--max-num-seqs"},
		{"hangs at start", "--clock law --fault hang-start", silent, tuner.PhaseProfile, tuner.ReasonUnknown, "hang", "fell silent"},
		{"never ready", "--clock law --fault slow-start=1h", late, tuner.PhaseLoad, tuner.ReasonUnknown, "slow_start", "not ready in time"},
		{"says oom and lives on", "--clock law --fault log-oom-but-alive", nil, tuner.PhaseProfile, tuner.ReasonMemory, "cuda_oom_torch", "CUDA out of memory"},
		{"well and gives nothing", "--clock law --fault health-200-but-hangs", hang, tuner.PhaseServe, tuner.ReasonUnknown, "hang", "gives no completion"},
		{"hangs in serving", "--start-time 0s --fault hang-serve=5", hang, tuner.PhaseServe, tuner.ReasonUnknown, "hang", "nothing has come for 1s"},
		{"refuses a half", "--clock law --fault refuse=0.5", nil, tuner.PhaseBench, tuner.ReasonInfeasible, "low_success", "12 of 24 requests succeeded"},
		{"refuses all", "--clock law --fault refuse=1", nil, tuner.PhaseBench, tuner.ReasonInfeasible, "low_success", "0 of 24 requests succeeded"},
		{"breaks a half", "--clock law --fault stream-error=0.5", nil, tuner.PhaseBench, tuner.ReasonInfeasible, "low_success", "12 stream"},
		{"stops half too early", "--clock law --fault lengths=0.5", nil, tuner.PhaseBench, tuner.ReasonInfeasible, "low_success", "12 length"},
		{"cuts connections", "--start-time 0s --fault cut=0.5", nil, tuner.PhaseBench, tuner.ReasonInfeasible, "low_success", "12 truncated"},
		{"oom under load", "--clock law --fault oom-load=5", nil, tuner.PhaseServe, tuner.ReasonMemory, "cuda_oom_torch", "CUDA out of memory"},
		{"dies under load", "--clock law --fault crash-after=5", nil, tuner.PhaseServe, tuner.ReasonTransient, "vllm_worker_died", "died unexpectedly"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newTrial(t, "vllm", strings.Fields(c.words)...)
			if c.set != nil {
				c.set(r)
			}
			o, err := r.run(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if o.Kind != tuner.Infeasible || o.Phase != c.phase || o.Reason != c.reason || o.Signature != c.signature {
				t.Errorf("%s in %s, %s, %s; want infeasible in %s, %s, %s", o.Kind, o.Phase, o.Reason, o.Signature, c.phase, c.reason, c.signature)
			}
			if !strings.Contains(o.Evidence, c.evidence) {
				t.Errorf("evidence %q, want %q in it", o.Evidence, c.evidence)
			}
			if _, err := os.Stat(filepath.Join(filepath.Dir(r.config.Logs), o.Run.Log)); err != nil {
				t.Errorf("the log: %v", err)
			}
		})
	}
}

// TestTheMachinesFault: what is no verdict on the configuration is an error, after new ports were tried.
func TestTheMachinesFault(t *testing.T) {
	for fault, signature := range map[string]string{"wrong-model-name": "wrong_server", "address-in-use": "port_in_use"} {
		t.Run(fault, func(t *testing.T) {
			_, err := newTrial(t, "vllm", "--clock", "law", "--fault", fault).run(t.Context())
			var machine *tuner.MachineError
			if !errors.As(err, &machine) || machine.Outcome.Signature != signature || machine.Outcome.Reason != tuner.ReasonEnvironment || machine.Outcome.Hint == "" {
				t.Errorf("%v: %+v, want the machine's fault %s with a hint", err, machine, signature)
			}
		})
	}
}

// TestMeasured: a server that works is measured, also one that does not want to end.
func TestMeasured(t *testing.T) {
	for _, engineName := range []string{"vllm", "sglang"} {
		for _, words := range []string{"--clock law", "--clock law --fault ignore-sigterm", "--clock law --fault orphan", "--clock law --fault orphan=session", "--start-time 0s"} {
			t.Run(engineName+" "+words, func(t *testing.T) {
				r := newTrial(t, engineName, strings.Fields(words)...)
				version := ""
				var phases []tuner.Phase
				r.observe = func(p tuner.Partial) tuner.Verdict {
					if p.EngineVersion != "" {
						version = p.EngineVersion
					}
					if len(phases) == 0 || phases[len(phases)-1] != p.Phase {
						phases = append(phases, p.Phase)
					}
					return tuner.Verdict{}
				}
				o, err := r.run(t.Context())
				if err != nil || o.Kind != tuner.Measured {
					t.Fatalf("%s: %s, %v", o.Kind, o.Evidence, err)
				}
				checkMeasured(t, o, map[bool]metric.Clock{true: metric.Law, false: metric.Wall}[strings.Contains(words, "law")])
				if version == "" || o.Run.EngineVersion != version {
					t.Errorf("version %q observed, %q recorded", version, o.Run.EngineVersion)
				}
				if phases[len(phases)-1] != tuner.PhaseBench {
					t.Errorf("phases %v", phases)
				}
				checkSecret(t, r, o)
			})
		}
	}
}

func checkMeasured(t *testing.T, o tuner.Outcome, clock metric.Clock) {
	t.Helper()
	m := o.Measured
	if m.Clock != clock || m.Share != 1 || len(m.Records) != 24 || m.Metrics["success_rate"] != 1 || m.Metrics["output_tokens"] != 24*8 || m.Metrics["input_tokens"] != 24*32 {
		t.Errorf("clock %s, share %v, %d records, metrics %v", m.Clock, m.Share, len(m.Records), m.Metrics)
	}
	if len(o.Run.Argv) == 0 || o.Run.Host != "here" || o.Run.Started.IsZero() || len(o.Run.Phases) == 0 {
		t.Errorf("run %+v", o.Run)
	}
}

// checkSecret: what the server inherits is in nothing that is kept.
func checkSecret(t *testing.T, r *trial, o tuner.Outcome) {
	t.Helper()
	text, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), secret) {
		t.Errorf("the secret is in the outcome: %s", text)
	}
	err = filepath.WalkDir(r.config.Logs, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		kept, err := os.ReadFile(path)
		if strings.Contains(string(kept), secret) {
			t.Errorf("the secret is in %s", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// TestInterrupted: when a person stops the study, in whatever phase, the server is ended and the trial interrupted.
func TestInterrupted(t *testing.T) {
	for phase, words := range map[tuner.Phase]string{tuner.PhaseFlags: "--clock law", tuner.PhaseProfile: "--clock law --fault hang-start --fault ignore-sigterm", tuner.PhaseBench: "--start-time 0s --fault hang-serve=5"} {
		t.Run(string(phase), func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			r := newTrial(t, "vllm", strings.Fields(words)...)
			r.observe = func(p tuner.Partial) tuner.Verdict {
				if p.Phase == phase {
					cancel()
				}
				return tuner.Verdict{}
			}
			if o, err := r.run(ctx); o.Kind != tuner.Interrupted {
				t.Errorf("%s, %v, want interrupted", o.Kind, err)
			}
		})
	}
}

// TestStopped: an observer's verdict ends the benchmark, with what was measured.
func TestStopped(t *testing.T) {
	r := newTrial(t, "vllm", "--clock", "law")
	r.config.Traffic[0].Workload.Rate, r.config.Traffic[0].Workload.Requests = 2, 60
	r.observe = func(p tuner.Partial) tuner.Verdict {
		return tuner.Verdict{Stop: p.Phase == tuner.PhaseBench && p.Done >= 10, Reason: "hopeless"}
	}
	o, err := r.run(t.Context())
	if err != nil || o.Kind != tuner.Stopped || o.Evidence != "hopeless" || o.Share < 0.1 || o.Share > 0.5 || o.Measured == nil {
		t.Errorf("%s, share %v, %q, %v", o.Kind, o.Share, o.Evidence, err)
	}
}

// TestCutShort: a stopper's verdict ends the benchmark as of that second. The trial keeps what was expected of it in the place of what had ended, and is
// infeasible where so many requests had failed that the gate was broken.
func TestCutShort(t *testing.T) {
	expected := map[string]float64{"total_token_throughput": 123}
	verdict := tuner.Verdict{Stop: true, Rule: tuner.RuleBroken, Reason: "after 4 s: enough", Share: 0.25, Expected: expected}
	for _, c := range []struct {
		name, words string
		kind        tuner.Kind
		signature   string
		evidence    string
	}{
		{"in law time", "--clock law", tuner.Stopped, tuner.RuleBroken, "after 4 s: enough"},
		{"in wall time", "--start-time 0s", tuner.Stopped, tuner.RuleBroken, "after 4 s: enough"},
		{"the gate is broken", "--clock law --fault refuse=0.5", tuner.Infeasible, "low_success", "after 4 s: enough; "},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newTrial(t, "vllm", strings.Fields(c.words)...)
			r.config.Traffic[0].Workload.Rate, r.config.Traffic[0].Workload.Requests = 4, 60
			streamed := 0
			r.observe = func(p tuner.Partial) tuner.Verdict {
				if p.Phase != tuner.PhaseBench || p.Elapsed < 4*time.Second {
					return tuner.Verdict{}
				}
				for i, e := range p.Pace {
					streamed += e.Tokens
					if i > 0 && e.At <= p.Pace[i-1].At {
						t.Errorf("reports at %v and %v", p.Pace[i-1].At, e.At)
					}
				}
				if p.Workload != "w" || p.GPUs != 1 || len(p.Requests) != 60 || p.Requests[59].State != metric.Unsent {
					t.Errorf("workload %q, %d GPUs, %d requests", p.Workload, p.GPUs, len(p.Requests))
				}
				return verdict
			}
			o, err := r.run(t.Context())
			if err != nil || o.Kind != c.kind || o.Phase != tuner.PhaseBench || o.Signature != c.signature || !strings.HasPrefix(o.Evidence, c.evidence) {
				t.Fatalf("%s in %s, %s, %q, %v", o.Kind, o.Phase, o.Signature, o.Evidence, err)
			}
			m := o.Measured
			if o.Share != 0.25 || m.Share != 0.25 || m.Metrics["total_token_throughput"] != 123 || len(m.Metrics) != 1 || len(m.Records) != 60 {
				t.Errorf("share %v and %v, %d records, metrics %v", o.Share, m.Share, len(m.Records), m.Metrics)
			}
			came := 0
			for _, rec := range m.Records {
				came += len(rec.Tokens)
			}
			if c.kind == tuner.Stopped && (streamed < 8 || came < streamed || came > streamed+40) {
				t.Errorf("%d tokens were reported, %d are kept", streamed, came)
			}
		})
	}
}

// TestSeveralWorkloads: they are sent one after the other to one launch, those that are not wanted left out; the prompts of one are not those of
// another; what the first gave is kept when the second is refused.
func TestSeveralWorkloads(t *testing.T) {
	for _, c := range []struct {
		name, words string
		skip        bool
		kind        tuner.Kind
		measured    []string
	}{
		{"all", "--clock law", false, tuner.Measured, []string{"w", "other", "last"}},
		{"on the wall clock", "--start-time 0s", false, tuner.Measured, []string{"w", "other", "last"}},
		{"one left out", "--clock law", true, tuner.Measured, []string{"w", "last"}},
		{"the server dies in the second", "--clock law --fault oom-load=30", false, tuner.Infeasible, []string{"w"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newTrial(t, "vllm", strings.Fields(c.words)...)
			for _, name := range []string{"other", "last"} {
				w := r.config.Traffic[0]
				w.Workload.Name, w.Workload.Requests = name, 12
				r.config.Traffic = append(r.config.Traffic, w)
			}
			r.observe = func(p tuner.Partial) tuner.Verdict {
				if p.Begins && (p.Phase != tuner.PhaseBench || p.Measured.Workload != "w" || p.Workload == "w") {
					t.Errorf("before %q, in %s: %+v", p.Workload, p.Phase, p.Measured)
				}
				return tuner.Verdict{Skip: p.Begins && c.skip && p.Workload == "other"}
			}
			o, err := r.run(t.Context())
			if err != nil || o.Kind != c.kind {
				t.Fatalf("%s, %q, %v", o.Kind, o.Evidence, err)
			}
			var names []string
			sent := map[string]bool{}
			for i, m := range o.Measured.All() {
				if i > 0 && c.kind == tuner.Infeasible {
					break // what the second gave before its end, if its requests failed before the server was gone
				}
				names = append(names, m.Workload)
				sent[m.Sent] = true
				if want := []int{24, 12, 12}[i]; len(m.Records) != want || m.Metrics["successful_requests"] != float64(want) {
					t.Errorf("%s: %d records, %v", m.Workload, len(m.Records), m.Metrics["successful_requests"])
				}
			}
			if !slices.Equal(names, c.measured) || len(sent) != len(names) {
				t.Errorf("measured %v, sent %d different things", names, len(sent))
			}
		})
	}
}

// TestWorkloadsAfterALimit: a workload whose limit was up with enough successes is measured like any other, and the next one is sent.
func TestWorkloadsAfterALimit(t *testing.T) {
	r := newTrial(t, "vllm", "--clock", "law")
	first := r.config.Traffic[0]
	first.Workload.Rate, first.Workload.WallLimit = 1, 22500*time.Millisecond
	second := r.config.Traffic[0]
	second.Workload.Name = "other"
	r.config.Traffic = []runner.Traffic{first, second}
	o, err := r.run(t.Context())
	if err != nil || o.Kind != tuner.Measured || len(o.Measured.All()) != 2 {
		t.Fatalf("%s, %q, %d measurements, %v", o.Kind, o.Evidence, len(o.Measured.All()), err)
	}
	if rate := o.Measured.Metrics["success_rate"]; rate < 0.9 || rate == 1 {
		t.Errorf("the limit was to cut a few requests off: %v succeeded", rate)
	}
}
