package metric

import (
	"maps"
	"math"
	"slices"
)

// Difference is a figure that comes out otherwise than it is stored.
type Difference struct {
	Metric     string   `json:"metric"`
	Stored     *float64 `json:"stored"`     // nil: it is not stored
	Recomputed *float64 `json:"recomputed"` // nil: it does not come out
}

// resolution is how far apart two figures may be that are one: instants are stored to the microsecond, and an earlier version computed from
// finer ones.
const resolution = 1e-6

// Compare holds stored figures against those computed again, in the order of the definitions; names that are not known come last. Figures
// of a run that Compute does not give (see Definition) are passed over, and so is what comes out but is not stored: further counts that, an
// earlier version did not define it.
func Compare(stored, again map[string]float64) (equal, further int, differences []Difference) {
	seen := map[string]bool{}
	for _, name := range Names() {
		seen[name] = true
		a, kept := stored[name]
		b, came := again[name]
		switch {
		case !kept && !came:
		case !kept:
			further++
		case came && same(a, b):
			equal++
		case came:
			differences = append(differences, Difference{name, &a, &b})
		default:
			differences = append(differences, Difference{name, &a, nil})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(stored)) {
		if d, _ := Lookup(name); !seen[name] && !d.Derived {
			a := stored[name]
			differences = append(differences, Difference{name, &a, nil})
		}
	}
	return equal, further, differences
}

func same(a, b float64) bool {
	return a == b || math.Abs(a-b) <= resolution*math.Max(1, math.Max(math.Abs(a), math.Abs(b)))
}
