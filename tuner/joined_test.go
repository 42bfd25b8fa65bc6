package tuner

import (
	"testing"

	"autotune/space"
	"autotune/tuner/metric"
)

// rates is a measured trial of a point, and what its server reported as the key of what it runs.
func rated(t *testing.T, number int, n int64, resolved string, throughput float64) Trial {
	t.Helper()
	d, err := space.Choices(space.Int(1), space.Int(2), space.Int(3))
	if err != nil {
		t.Fatal(err)
	}
	s, err := space.New([]space.Param{{Name: "n", Domain: d}}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	p, err := s.Point(map[string]space.Value{"n": space.Int(n)})
	if err != nil {
		t.Fatal(err)
	}
	return Trial{Number: number, Point: p, Outcome: Outcome{Kind: Measured, Run: Run{ResolvedKey: resolved},
		Measured: &Measurement{Workload: "w", Identity: "q", Clock: metric.Law, Share: 1, Metrics: map[string]float64{"throughput": throughput, "ttft": throughput / 10}}}}
}

// TestTrialsOfOneConfigurationAreJoined: by what their servers reported, into the mean of each metric.
func TestTrialsOfOneConfigurationAreJoined(t *testing.T) {
	a := rated(t, 0, 1, "", 100)
	b := rated(t, 1, 2, "", 90)
	c := rated(t, 2, 3, a.Point.Key(), 130)
	h := History{a, b, c}
	j := h.Joined()
	if got := j[0].Outcome.Measured.Metrics; got["throughput"] != 115 || got["ttft"] != 11.5 || j[0].Repeats() != 2 || j[0].Twin || len(j[0].Joins) != 2 || j[0].Joins[1] != 2 {
		t.Errorf("%+v %v", j[0], got)
	}
	if !j[2].Twin || j[2].Outcome.Measured.Metrics["throughput"] != 115 || j[1].Twin || j[1].Repeats() != 1 || j[1].Outcome.Measured != b.Outcome.Measured {
		t.Errorf("%+v", j)
	}
	if h[0].Outcome.Measured.Metrics["throughput"] != 100 || h[2].Twin {
		t.Error("the history itself was changed")
	}
	if again := j.Joined(); again[0].Outcome.Measured.Metrics["throughput"] != 115 || !again[2].Twin {
		t.Errorf("joined twice: %+v", again)
	}
}

// TestWhatIsNotJoined: another question or clock, stale trials, those of other programs, failures.
func TestWhatIsNotJoined(t *testing.T) {
	for name, change := range map[string]func(*Trial){
		"question": func(x *Trial) {
			m := *x.Outcome.Measured
			m.Identity = "other"
			x.Outcome.Measured = &m
		},
		"clock": func(x *Trial) {
			m := *x.Outcome.Measured
			m.Clock = metric.Wall
			x.Outcome.Measured = &m
		},
		"stale":   func(x *Trial) { x.Stale = true },
		"foreign": func(x *Trial) { x.Foreign = true },
		"outside": func(x *Trial) { x.Outside = true },
		"failed":  func(x *Trial) { x.Outcome.Kind = Infeasible },
		"invalid": func(x *Trial) { x.Outcome.Kind = Invalid },
	} {
		a := rated(t, 0, 1, "", 100)
		b := rated(t, 1, 2, a.Point.Key(), 130)
		change(&b)
		j := History{a, b}.Joined()
		if j[0].Repeats() != 1 || j[0].Outcome.Measured.Metrics["throughput"] != 100 || j[1].Twin {
			t.Errorf("%s: %+v", name, j)
		}
	}
}

// TestAWholeMeasurementStandsForOneCutShort, whichever came first, and lends it no value.
func TestAWholeMeasurementStandsForOneCutShort(t *testing.T) {
	a := rated(t, 0, 1, "", 100)
	a.Outcome.Kind = Stopped
	b := rated(t, 1, 2, a.Point.Key(), 130)
	j := History{a, b}.Joined()
	if !j[0].Twin || j[1].Twin || j[1].Repeats() != 1 || j[1].Outcome.Measured.Metrics["throughput"] != 130 || j[0].Outcome.Measured.Metrics["throughput"] != 100 {
		t.Errorf("%+v", j)
	}
	b.Outcome.Kind = Stopped
	if j := (History{a, b}).Joined(); j[0].Twin || j[1].Twin {
		t.Errorf("two that were cut short: %+v", j)
	}
}

// TestFurtherWorkloadsAreJoined, one that only some trials measured included; the probes of a search for a rate stay the first trial's.
func TestFurtherWorkloadsAreJoined(t *testing.T) {
	with := func(x Trial, guard float64, probe bool) Trial {
		m := x.Outcome.Measured
		if guard > 0 {
			m.Also = append(m.Also, &Measurement{Workload: "guard", Identity: "g", Clock: metric.Law, Share: 1, Metrics: map[string]float64{"throughput": guard}})
		}
		if probe {
			m.Also = append(m.Also, &Measurement{Workload: "w", Identity: "q", Clock: metric.Law, Share: 1, Metrics: map[string]float64{metric.RequestRate: 3}})
		}
		return x
	}
	a := with(rated(t, 0, 1, "", 100), 0, true)
	b := with(rated(t, 1, 2, a.Point.Key(), 130), 50, true)
	c := with(rated(t, 2, 3, a.Point.Key(), 130), 70, false)
	m := History{a, b, c}.Joined()[0].Outcome.Measured
	if m.Metrics["throughput"] != 120 || len(m.Also) != 2 || m.Of("guard").Metrics["throughput"] != 60 {
		t.Errorf("%+v", m)
	}
}

// TestGainsAreCountedFromTheJoinedBaseline.
func TestGainsAreCountedFromTheJoinedBaseline(t *testing.T) {
	a := rated(t, 0, 1, "", 100)
	a.Origin = OriginBaseline
	b := rated(t, 1, 2, a.Point.Key(), 130)
	p := Problem{Baselines: []space.Point{a.Point}, Goal: Goal{Metric: "throughput", Direction: Maximize}}
	if r, ok := Reference(p, History{a, b}); !ok || r.Value != 115 {
		t.Errorf("%+v", r)
	}
}
