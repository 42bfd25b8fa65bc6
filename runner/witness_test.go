package runner

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"autotune/runner/engine"
	"autotune/runner/load"
	"autotune/tuner"
	"autotune/tuner/metric"
	"autotune/tuner/workload"
)

// sglangText has two data-parallel ranks of two tensor-parallel ones each; figures of the other tensor-parallel rank repeat and do not count.
const sglangText = `# TYPE sglang:num_running_reqs gauge
sglang:num_running_reqs{dp_rank="0",tp_rank="0"} 64.0
sglang:num_running_reqs{dp_rank="0",tp_rank="1"} 64.0
sglang:num_running_reqs{dp_rank="1",tp_rank="0"} 60.0
sglang:num_queue_reqs{dp_rank="0",tp_rank="0"} 12.0
sglang:num_queue_reqs{dp_rank="1",tp_rank="0"} 1.0
sglang:token_usage{dp_rank="0",tp_rank="0"} 0.9
sglang:token_usage{dp_rank="1",tp_rank="0"} 0.7
sglang:token_usage{dp_rank="2",tp_rank="0"} NaN
sglang:num_retracted_requests_total{tp_rank="0"} 7.0
sglang:cached_tokens_total{cache_source="device"} 100
sglang:cached_tokens_total{cache_source="host"} 20
`

func TestReadGauge(t *testing.T) {
	for name, c := range map[string]struct {
		text, prefix string
		before       map[string]float64
		want         metric.Gauge
	}{
		"sglang": {sglangText, "sglang:", map[string]float64{"num_retracted_requests_total": 5, "cached_tokens_total": 20}, metric.Gauge{Running: 124, Waiting: 13, KVUse: 0.8, PrefixHits: 100, Preempted: 2}},
		"vllm": {"vllm:num_requests_running{engine=\"0\"} 3.0\nvllm:num_requests_waiting_by_reason{engine=\"0\",reason=\"capacity\"} 2.0\nvllm:num_requests_waiting{engine=\"0\"} 2.0\nvllm:kv_cache_usage_perc{engine=\"0\"} 0.25\n",
			"vllm:", nil, metric.Gauge{Running: 3, Waiting: 2, KVUse: 0.25}},
		"an older vllm": {"vllm:gpu_cache_usage_perc 0.5\n", "vllm:", nil, metric.Gauge{KVUse: 0.5}},
		"nothing":       {"", "vllm:", nil, metric.Gauge{}},
	} {
		if diff := cmp.Diff(c.want, readGauge(c.text, c.prefix, c.before, 0)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestWitness: the server is asked until the measurement ends; one that does not tell is let be.
func TestWitness(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	looks := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if looks++; looks == 3 {
			cancel()
		}
		fmt.Fprintf(w, "vllm:num_requests_running %d\nvllm:num_preemptions_total %d\n", looks, 10+looks)
	}))
	defer server.Close()
	d, _ := engine.Find("vllm")
	a := &attempt{client: server.Client(), target: load.Target{URL: server.URL}, plan: Plan{Engine: d}}
	g := a.witness(ctx, map[string]float64{"num_preemptions_total": 10}, time.Millisecond)
	if g == nil || len(g.At) < 2 || g.Running[1] != 2 || g.Preempted[1] != 2 || g.At[1] <= g.At[0] {
		t.Errorf("%+v", g)
	}
	if g := a.witness(ctx, nil, time.Millisecond); g != nil {
		t.Errorf("of a server without counters: %+v", g)
	}
}

func TestCountsDiffer(t *testing.T) {
	ok := metric.Record{Input: 100, Output: 10, Tokens: []metric.Event{{At: 1, Tokens: 10}}}
	bad := metric.Record{Error: metric.ErrRefused}
	good := map[string]float64{"generation_tokens_total": 20, "prompt_tokens_total": 200, "request_success_total": 2}
	for name, c := range map[string]struct {
		counter string
		theirs  float64
		records []metric.Record
		share   float64
		says    string
	}{
		"all agree":                            {"generation_tokens_total", 20, []metric.Record{ok, ok}, 0, ""},
		"tokens are missing":                   {"generation_tokens_total", 15, []metric.Record{ok, ok}, 0.25, "the server counted 15 generated tokens, 20 were received"},
		"prompts were longer":                  {"prompt_tokens_total", 210, []metric.Record{ok, ok}, 0.05, "210 prompt tokens"},
		"requests that we do not know":         {"request_success_total", 3, []metric.Record{ok, ok}, 0.5, "3 finished requests, 2 succeeded"},
		"a failed request may have cost more":  {"generation_tokens_total", 29, []metric.Record{ok, ok, bad}, 0, ""},
		"a failed request does not cost less":  {"generation_tokens_total", 10, []metric.Record{ok, ok, bad}, 0.5, "10 generated tokens"},
		"nothing received, nothing to compare": {"generation_tokens_total", 10, []metric.Record{bad}, 0, ""},
	} {
		a := &attempt{sending: sending{grown: map[string]float64{}}}
		for k, v := range good {
			a.grown[k] = v
		}
		a.grown[c.counter] = c.theirs
		if share, says := a.countsDiffer(c.records); share != c.share || !strings.Contains(says, c.says) {
			t.Errorf("%s: %v, %q; want %v, %q", name, share, says, c.share, c.says)
		}
	}
	if share, _ := (&attempt{}).countsDiffer([]metric.Record{ok}); share != 0 {
		t.Error("a server without counters differs")
	}
}

// TestCountersOfBothEngines: finished requests are compared, and random prompts that a cache knew are found, under either engine's names.
func TestCountersOfBothEngines(t *testing.T) {
	records := make([]metric.Record, 10)
	for i := range records {
		records[i] = metric.Record{Index: i, AskedIn: 100, Input: 100, Output: 10, Sent: 1, End: 2, Tokens: []metric.Event{{At: 1, Tokens: 10}}}
	}
	vllm := map[string]float64{"generation_tokens_total": 100, "prompt_tokens_total": 1000, "request_success_total": 10, "prefix_cache_hits_total": 0, "prefix_cache_queries_total": 1000}
	sglang := map[string]float64{"generation_tokens_total": 100, "prompt_tokens_total": 1000, "num_requests_total": 10, "cached_tokens_total": 0}
	for _, c := range []struct {
		name   string
		grown  map[string]float64
		change map[string]float64
		rule   string
	}{
		{"vllm, all well", vllm, nil, ""},
		{"sglang, all well", sglang, nil, ""},
		{"vllm finished others", vllm, map[string]float64{"request_success_total": 14}, "server_counters"},
		{"sglang finished others", sglang, map[string]float64{"num_requests_total": 14}, "server_counters"},
		{"sglang finished fewer", sglang, map[string]float64{"num_requests_total": 8}, "server_counters"},
		{"vllm's cache knew prompts", vllm, map[string]float64{"prefix_cache_hits_total": 96}, "prefix_cache"},
		{"sglang's cache knew prompts", sglang, map[string]float64{"cached_tokens_total": 96}, "prefix_cache"},
		{"sglang's cache knew tokens by chance", sglang, map[string]float64{"cached_tokens_total": 18}, ""},
		{"sglang took requests up again", sglang, map[string]float64{"cached_tokens_total": 96, "num_retracted_requests_total": 1}, ""},
	} {
		grown := maps.Clone(c.grown)
		maps.Copy(grown, c.change)
		a := &attempt{Traffic: Traffic{Workload: workload.Spec{Dataset: workload.Random}}, sending: sending{grown: grown}}
		if rule, evidence := a.disbelief(load.Result{Records: records}, &tuner.Measurement{}); rule != c.rule {
			t.Errorf("%s: %q, %s; want %q", c.name, rule, evidence, c.rule)
		}
	}
	a := &attempt{Runner: &Runner{}, Traffic: Traffic{Workload: workload.Spec{Requests: 20}}}
	for name, grown := range map[string]map[string]float64{"vllm": vllm, "sglang": sglang} {
		if p := a.standing(grown, time.Second); p.Done != 10 || p.Share != 0.5 {
			t.Errorf("%s: while another tool measures %d requests are done, %g of them", name, p.Done, p.Share)
		}
	}
}
