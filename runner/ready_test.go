package runner_test

import (
	"strings"
	"testing"
	"time"

	"autotune/tuner"
)

// TestNeverReady: a server that answers each request with a refusal is told from one that is silent, and from one that is only slow.
func TestNeverReady(t *testing.T) {
	for _, c := range []struct {
		name, words string
		set         func(*trial)
		reason      tuner.Reason
		signature   string
		kind        string
		evidence    string
		hint        string
	}{
		{"refuses until the limit", "--start-time 0s --fault refuse=1", func(t *trial) { t.config.Timeouts.Hang = time.Second }, tuner.ReasonInfeasible, "refuses", "refuses every request (serve)", "503", "5xx"},
		{"refuses and logs nothing", "--start-time 0s --fault refuse=1", func(t *trial) { t.config.Timeouts.Silence = time.Second }, tuner.ReasonInfeasible, "refuses", "refuses every request (serve)", "503", "5xx"},
		{"refuses until it is late", "--start-time 0s --fault refuse=1", func(t *trial) { t.config.Timeouts.Start = 2 * time.Second }, tuner.ReasonInfeasible, "refuses", "refuses every request (serve)", "503", "5xx"},
		{"answers nothing", "--clock law --fault health-200-but-hangs", func(t *trial) { t.config.Timeouts.Hang = time.Second }, tuner.ReasonUnknown, "hang", "hung (serve)", "fell silent", "timeouts.silence"},
		{"is slow", "--clock law --fault slow-start=1h", func(t *trial) { t.config.Timeouts.Start = time.Second }, tuner.ReasonUnknown, "slow_start", "start took too long (load)", "not ready in time", "raise timeouts.start"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newTrial(t, "vllm", strings.Fields(c.words)...)
			c.set(r)
			o, err := r.run(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if o.Kind != tuner.Infeasible || o.Reason != c.reason || o.Signature != c.signature {
				t.Errorf("%s, %s, %s", o.Kind, o.Reason, o.Signature)
			}
			if name := tuner.FailureOf(o).Name(); name != c.kind {
				t.Errorf("it is called %q, want %q", name, c.kind)
			}
			if !strings.Contains(o.Evidence, c.evidence) || !strings.Contains(o.Hint, c.hint) {
				t.Errorf("evidence %q, hint %q", o.Evidence, o.Hint)
			}
		})
	}
}
