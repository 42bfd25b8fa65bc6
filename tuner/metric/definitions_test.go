package metric

import (
	"slices"
	"testing"
	"time"
)

// Compute gives no name that is not defined, and on a run with nothing undefined every defined one.
func TestEveryMetricIsDefined(t *testing.T) {
	records := waves()
	records[5].Scheduled = time.Second // where all are due at once no wait can grow
	m := Basis{GPUs: 8, SLOs: SLOs{TTFT: time.Second}}.Compute(records)
	for name := range m {
		if canonical, ok := Canonical(name); !ok || canonical != name {
			t.Errorf("%s is computed but not defined", name)
		}
	}
	for _, name := range Names() {
		if _, ok := m[name]; !ok {
			t.Errorf("%s is defined but was not computed", name)
		}
	}
	for _, d := range Definitions() {
		if d.Unit == "" || d.Help == "" || d.Formula == "" {
			t.Errorf("%s lacks a unit, a help text or a formula", d.Name)
		}
	}
}

func TestCanonical(t *testing.T) {
	for name, want := range map[string]string{
		"median_ttft": "p50_ttft", "p95_e2e": "p95_latency", "mean_e2el": "mean_latency", "median_e2e_latency": "p50_latency",
		"p99_latency_per_output_token": "p99_latency_per_output_token", "mean_ttft_sent": "mean_ttft_sent", "duration": "duration",
		"client_lag_p99": "client_lag_p99", "total_token_throughput_per_gpu": "total_token_throughput_per_gpu",
	} {
		if got, ok := Canonical(name); !ok || got != want {
			t.Errorf("Canonical(%q) = %q, %v, want %q", name, got, ok, want)
		}
	}
	for _, name := range []string{"", "ttft", "p97_ttft", "p95_duration", "throughput", "mean_", "p95"} {
		if Known(name) {
			t.Errorf("%q is taken for a metric", name)
		}
	}
}

func TestNear(t *testing.T) {
	for name, want := range map[string]string{
		"total_token_throughputs": "total_token_throughput", "p95_tfft": "p95_ttft", "ttft": "p95_ttft", "e2e": "p95_latency",
		"sucess_rate": "success_rate", "zzzzzz": "",
	} {
		if got := Near(name); got != want {
			t.Errorf("Near(%q) = %q, want %q", name, got, want)
		}
	}
	if !slices.Contains(Names(), "p90_itl") {
		t.Error("p90_itl is missing among the names")
	}
}

func TestFormat(t *testing.T) {
	for _, c := range []struct {
		name  string
		value float64
		want  string
	}{
		{"p95_ttft", 5, "5s"}, {"p95_ttft", 0.0123, "12.3 ms"}, {"p95_ttft", 592.31554, "592.3s"}, {"mean_itl", 0.000042, "42 us"},
		{"mean_itl", 0, "0s"}, {"mean_itl", 0.9999, "1s"}, {"duration", 1684.76, "1685s"},
		{"total_token_throughput", 17525.76, "17526 tokens/s"}, {"request_throughput", 0.59, "0.59 requests/s"},
		{"success_rate", 0.99, "99 %"}, {"success_rate", 0.9871, "98.71 %"}, {"success_rate", 1, "100 %"},
		{"successful_requests", 1000, "1000 requests"}, {"unknown", 1.5, "1.5"}, {"chat.p95_ttft", 0.0123, "12.3 ms"}, {"total_token_throughput", 1234567, "1234567 tokens/s"},
	} {
		if got := Format(c.name, c.value); got != c.want {
			t.Errorf("Format(%s, %v) = %q, want %q", c.name, c.value, got, c.want)
		}
	}
	if got := Format("p95_ttft", (5 * time.Second).Seconds()); got != "5s" {
		t.Errorf("got %q", got)
	}
}
