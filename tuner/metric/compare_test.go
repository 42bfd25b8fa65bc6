package metric

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Figures are equal to the microsecond; what is stored and does not come out is a difference, what comes out and is not stored is none.
func TestCompare(t *testing.T) {
	stored := map[string]float64{"duration": 2, "p95_ttft": 0.5, "mean_itl": 0.01, "total_token_throughput": 1e6, "p50_tpot": 1, "retained": 0.9, "odd": 3}
	again := map[string]float64{"duration": 2, "p95_ttft": 0.5 + 0.9e-6, "mean_itl": 0.01 + 1.5e-6, "total_token_throughput": 1e6 + 0.5, "goodput": 4}
	equal, further, differences := Compare(stored, again)
	v := func(x float64) *float64 { return &x }
	want := []Difference{{"p50_tpot", v(1), nil}, {"mean_itl", v(0.01), v(0.01 + 1.5e-6)}, {"odd", v(3), nil}}
	if diff := cmp.Diff(want, differences); equal != 3 || further != 1 || diff != "" {
		t.Errorf("%d equal, %d further (-want +got):\n%s", equal, further, diff)
	}
	if equal, further, differences = Compare(again, again); equal != len(again) || further != 0 || differences != nil {
		t.Errorf("the same figures: %d equal, %d further, %v", equal, further, differences)
	}
}
