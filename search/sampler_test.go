package search_test

import (
	"slices"
	"strings"
	"testing"

	"autotune/search"
	"autotune/search/searchtest"
	"autotune/tuner"
)

func sampler(t testing.TB, name string) tuner.Sampler {
	t.Helper()
	s, err := search.New(name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestEverySamplerKeepsToTheSuite(t *testing.T) {
	searchtest.NotShort(t)
	options := map[string][]string{"grid": {searchtest.Seedless}, "goptuna-cmaes": {searchtest.NumbersAlone}}
	for _, name := range search.Names() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			searchtest.Run(t, func() tuner.Sampler { return sampler(t, name) }, options[name]...)
		})
	}
}

func TestModelsBeatRandom(t *testing.T) {
	searchtest.NotShort(t)
	searchtest.BeatsRandom(t, sampler(t, "gp"), sampler(t, "random"), 40, 10, 0.3)
	searchtest.BeatsRandom(t, sampler(t, "tpe"), sampler(t, "random"), 40, 10, 0.6)
	searchtest.BeatsRandom(t, sampler(t, "rf"), sampler(t, "random"), 40, 10, 0.7)
}

func TestUnknownSampler(t *testing.T) {
	_, err := search.New("tpee")
	known := strings.Join(slices.Sorted(slices.Values(search.Names())), ", ")
	if want := `no sampler is called "tpee"; there are ` + known; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
