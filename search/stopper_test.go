package search

import (
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"autotune/space"
	"autotune/tuner"
	"autotune/tuner/metric"
)

// shop is a server that reads one prompt after the other and answers so many at once, each in the same time.
type shop struct {
	requests, slots int
	arrival         time.Duration // between two requests; 0: all at once, each waiting for a slot
	read, answer    time.Duration // for a prompt, for an answer
	input, output   int
}

// records is a run of the shop, to the millisecond.
func (s shop) records() []metric.Record {
	all := make([]metric.Record, s.requests)
	reader := time.Duration(0)
	for i := range all {
		r := metric.Record{Index: i, Scheduled: s.arrival * time.Duration(i), Status: 200, AskedIn: s.input, AskedOut: s.output, Input: s.input, Output: s.output}
		r.Sent = r.Scheduled
		if i >= s.slots {
			r.Sent = max(r.Sent, all[i-s.slots].End)
		}
		reader = max(reader, r.Sent) + s.read
		for k := range s.output {
			r.Tokens = append(r.Tokens, metric.Event{At: reader + s.answer*time.Duration(k)/time.Duration(max(1, s.output-1)), Tokens: 1})
		}
		r.FirstByte, r.End = reader, r.Tokens[s.output-1].At
		all[i] = r
	}
	return all
}

// shownAfter is a run as a runner shows it after so many seconds.
func shownAfter(records []metric.Record, at int) tuner.Partial {
	return shown(records, paceOf(records), at)
}

func shown(records []metric.Record, pace []metric.Event, at int) tuner.Partial {
	now := time.Duration(at) * time.Second
	p := tuner.Partial{Trial: tuner.Trial{Number: 9, Origin: tuner.OriginSearch}, Phase: tuner.PhaseBench, Elapsed: now, Total: len(records), GPUs: 2,
		Workload: "w", Requests: make([]metric.Sight, len(records)), Pace: pace[:at]}
	for i, r := range records {
		p.Requests[i] = r.Sight(now)
	}
	return p
}

// paceOf counts tokens by the second, beyond the end of the run.
func paceOf(records []metric.Record) []metric.Event {
	pace := make([]metric.Event, 1000)
	for i := range pace {
		pace[i].At = time.Duration(i+1) * time.Second
	}
	for _, r := range records {
		for _, e := range r.Tokens {
			pace[max(0, int((e.At+time.Second-1)/time.Second)-1)].Tokens += e.Tokens
		}
	}
	return pace
}

// firstStop shows a run by the second until it is stopped.
func firstStop(s tuner.Stopper, p tuner.Problem, h tuner.History, records []metric.Record, origin tuner.Origin) (tuner.Verdict, int) {
	pace := paceOf(records)
	for at := 1; at < int(records[len(records)-1].End/time.Second); at++ {
		now := shown(records, pace, at)
		now.Trial.Origin = origin
		if v := s.Stop(p, h, now); v.Rule != "" {
			return v, at
		}
	}
	return tuner.Verdict{}, 0
}

func mustStopper(t *testing.T, mode string, gate float64) tuner.Stopper {
	t.Helper()
	s, err := NewStopper(mode, gate)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// goalOf is a problem that maximises a throughput, or minimises anything else.
func goalOf(name string, bounds ...tuner.Bound) tuner.Problem {
	g := tuner.Goal{Metric: name, Direction: tuner.Minimize, SubjectTo: bounds}
	if strings.Contains(name, "throughput") {
		g.Direction = tuner.Maximize
	}
	return tuner.Problem{Goal: g}
}

// historyOf is a history of one measured trial.
func historyOf(metrics map[string]float64) tuner.History {
	return tuner.History{measuredTrial(0, "a", metrics)}
}

func measuredTrial(n int, name string, metrics map[string]float64) tuner.Trial {
	return tuner.Trial{Number: n, Point: pointNamed(name), Origin: tuner.OriginBaseline,
		Outcome: tuner.Outcome{Kind: tuner.Measured, Measured: &tuner.Measurement{Share: 1, Metrics: metrics}}}
}

func pointNamed(name string) space.Point {
	d, err := space.Choices(space.String("a"), space.String("b"), space.String("c"))
	if err != nil {
		panic(err)
	}
	s, err := space.New([]space.Param{{Name: "x", Domain: d}}, nil, nil)
	if err != nil {
		panic(err)
	}
	p, err := s.Point(map[string]space.Value{"x": space.String(name)})
	if err != nil {
		panic(err)
	}
	return p
}

// slow takes 1.5 s a prompt: 600 s and more, 2250 tokens in 1.5 s at most.
var slow = shop{requests: 400, slots: 64, read: 1500 * time.Millisecond, answer: 60 * time.Second, input: 2000, output: 250}

func TestHopeless(t *testing.T) {
	records := slow.records()
	final := metric.Compute(records, 2)
	name := "total_token_throughput"
	v, at := firstStop(mustStopper(t, StopOn, 0.99), goalOf(name), historyOf(map[string]float64{name: 2 * final[name]}), records, tuner.OriginSearch)
	if !v.Stop || v.Rule != tuner.RuleHopeless {
		t.Fatalf("%+v", v)
	}
	// The first answers end after 61.5 s; from then on as many requests are answered, and that has been so for a third of the time after 90 s.
	if at != 90 {
		t.Errorf("stopped after %d s, want 90", at)
	}
	if want := "after 90 s of about "; !strings.HasPrefix(v.Reason, want) || !strings.Contains(v.Reason, ": at most 1") || !strings.HasSuffix(v.Reason, " tokens/s, the best is "+metric.Format(name, 2*final[name])) {
		t.Errorf("reason %q", v.Reason)
	}
	if want := 90 / final["duration"]; math.Abs(v.Share-want) > 0.06*want {
		t.Errorf("share %.3f, in the end it was %.3f", v.Share, want)
	}
	for _, m := range []string{name, "request_throughput", "output_token_throughput_per_gpu", "duration", "p50_ttft", "p95_ttft", "mean_latency", "p95_latency", "mean_tpot"} {
		if got := v.Expected[m]; math.Abs(got/final[m]-1) > 0.06 {
			t.Errorf("%s was expected to be %.4g, and came to %.4g", m, got, final[m])
		}
	}
	for m := range v.Expected {
		if strings.Contains(m, "itl") || strings.Contains(m, "peak") || strings.Contains(m, "lag") {
			t.Errorf("%s is said to be expected: nothing foresees it", m)
		}
	}
}

// Many equal repeats make the noise small. The margin stays that of the bound's own error: a run that ends 9 % below the best is measured whole, one
// that ends 12 % below it is not.
func TestLeastMargin(t *testing.T) {
	records := slow.records()
	p := goalOf("total_token_throughput")
	final := metric.Compute(records, 2)[p.Goal.Metric]
	for ahead, stopped := range map[float64]bool{0.09: false, 0.12: true} {
		var h tuner.History
		for n := range 40 {
			h = append(h, measuredTrial(n, "a", map[string]float64{p.Goal.Metric: final * math.Exp(ahead)}))
		}
		if v, at := firstStop(mustStopper(t, StopOn, 0.99), p, h, records, tuner.OriginSearch); v.Stop != stopped {
			t.Errorf("%.2f ahead: stopped %v after %d s, want %v", ahead, v.Stop, at, stopped)
		}
	}
}

// Whatever the objective, a run is stopped beside a best that is twice as good, and never beside one that it beats by a hair.
func TestHopelessMetrics(t *testing.T) {
	records := slow.records()
	final := metric.Compute(records, 2)
	s := mustStopper(t, StopOn, 0.99)
	for _, c := range []struct {
		name    string
		stopped bool
	}{
		{"request_throughput", true}, {"input_token_throughput", true}, {"output_token_throughput", true}, {"total_token_throughput_per_gpu", true},
		{"duration", true}, {"mean_latency", true}, {"p95_ttft", true}, {"p50_latency_sent", true}, {"p90_tpot", true}, {"mean_itl", false}, {"failed_requests", false},
	} {
		p := goalOf(c.name)
		factor := 2.0
		if p.Goal.Direction == tuner.Minimize {
			factor = 0.5
		}
		best := map[string]float64{c.name: final[c.name] * factor}
		if v, _ := firstStop(s, p, historyOf(best), records, tuner.OriginSearch); v.Stop != c.stopped {
			t.Errorf("%s: stopped %v, want %v (%s)", c.name, v.Stop, c.stopped, v.Reason)
		}
		best[c.name] = final[c.name] * (1 - 0.0001*math.Copysign(1, factor-1))
		if v, at := firstStop(s, p, historyOf(best), records, tuner.OriginSearch); v.Stop {
			t.Errorf("%s: stopped after %d s beside a best that it beats by a hair: %s", c.name, at, v.Reason)
		}
	}
}

// Baselines, what a person asked for, and a study without a feasible trial are let go on; so is a run whose lengths are not known.
func TestNotHopeless(t *testing.T) {
	records := slow.records()
	name := "total_token_throughput"
	s, h := mustStopper(t, StopOn, 0.99), historyOf(map[string]float64{name: 1e6})
	for _, origin := range []tuner.Origin{tuner.OriginBaseline, tuner.OriginHand} {
		if v, _ := firstStop(s, goalOf(name), h, records, origin); v.Stop {
			t.Errorf("%s is stopped: %s", origin, v.Reason)
		}
	}
	if isSearched(tuner.Trial{Origin: tuner.OriginSearch, Proposal: tuner.Proposal{Kind: tuner.KindGuard}}) {
		t.Error("what is asked again for its guards is not measured whole")
	}
	if v, _ := firstStop(s, goalOf(name), h, records, tuner.OriginRecipe); !v.Stop {
		t.Error("a recipe is not stopped")
	}
	if v, _ := firstStop(s, goalOf(name), nil, records, tuner.OriginSearch); v.Stop {
		t.Errorf("the first trial is stopped: %s", v.Reason)
	}
	h[0].Outcome.Kind = tuner.Stopped
	if v, _ := firstStop(s, goalOf(name), h, records, tuner.OriginSearch); v.Stop {
		t.Errorf("stopped because of one that was cut short itself: %s", v.Reason)
	}
	h[0].Outcome.Kind = tuner.Measured
	texts := slow.records()
	for i := range texts {
		texts[i].AskedIn = 0
	}
	if v, _ := firstStop(s, goalOf(name), h, texts, tuner.OriginSearch); v.Stop {
		t.Errorf("nobody knows how long the prompts are, and it is stopped: %s", v.Reason)
	}
	h[0].Outcome.Measured.Metrics["input_tokens"], h[0].Outcome.Measured.Metrics["successful_requests"] = 400*2000, 400
	if v, _ := firstStop(s, goalOf(name), h, texts, tuner.OriginSearch); !v.Stop {
		t.Error("the best knows how long the prompts are, and it is not stopped")
	}
}

// A server whose requests arrive slowly is as fast as they come, and nobody can be faster.
func TestArrivals(t *testing.T) {
	calm := shop{requests: 300, slots: 300, arrival: 2 * time.Second, read: 100 * time.Millisecond, answer: 30 * time.Second, input: 2000, output: 250}
	records := calm.records()
	final := metric.Compute(records, 2)
	name := "total_token_throughput"
	s := mustStopper(t, StopOn, 0.99)
	if v, at := firstStop(s, goalOf(name), historyOf(map[string]float64{name: final[name] * 1.02}), records, tuner.OriginSearch); v.Stop {
		t.Errorf("stopped after %d s: %s", at, v.Reason)
	}
	_, metrics := expect(shownAfter(records, 200))
	for _, m := range []string{name, "p95_ttft", "mean_latency", "mean_tpot"} {
		if math.Abs(metrics[m]/final[m]-1) > 0.06 {
			t.Errorf("%s was expected to be %.4g, and came to %.4g", m, metrics[m], final[m])
		}
	}
}

func TestModes(t *testing.T) {
	records := slow.records()
	name := "total_token_throughput"
	h := historyOf(map[string]float64{name: 1e6})
	v, _ := firstStop(mustStopper(t, StopReport, 0.99), goalOf(name), h, records, tuner.OriginSearch)
	if v.Stop || !v.Report || v.Rule != tuner.RuleHopeless || v.Reason == "" {
		t.Errorf("a stopper that reports: %+v", v)
	}
	if off := mustStopper(t, StopOff, 0.99); off != nil {
		t.Errorf("off is %v", off)
	}
	if _, err := NewStopper("maybe", 1); err == nil || !strings.Contains(err.Error(), "on, off, report") {
		t.Errorf("an unknown mode: %v", err)
	}
	p := shownAfter(records, 100)
	on := mustStopper(t, StopOn, 0.99)
	if a, b := on.Stop(goalOf(name), h, p), on.Stop(goalOf(name), h, p); !reflect.DeepEqual(a, b) {
		t.Errorf("twice asked, two answers: %+v, %+v", a, b)
	}
	for _, p := range []tuner.Partial{{}, {Phase: tuner.PhaseBench}, {Phase: tuner.PhaseLoad, Requests: p.Requests, Pace: p.Pace}} {
		if v := on.Stop(goalOf(name), h, p); v.Rule != "" {
			t.Errorf("nothing is measured, and it says %+v", v)
		}
	}
}

func TestBroken(t *testing.T) {
	records := slow.records()
	for i := range 8 {
		records[i].Error, records[i].Tokens, records[i].Input, records[i].Output = metric.ErrRefused, nil, 0, 0
		records[i].End = records[i].Sent + time.Duration(i+1)*time.Second
	}
	name := "total_token_throughput"
	for _, c := range []struct {
		gate  float64
		bound tuner.Bound
		at    int
		want  string
	}{
		{0.99, tuner.Bound{}, 5, "after 5 s: 5 of 400 requests have failed, so that at most 98.75 % can succeed, and the gate is 99 %"},
		{0.9, tuner.Bound{Metric: "success_rate", Op: ">=", Limit: 0.985}, 7, "after 7 s: success_rate is at most 98.25 %, whatever still comes, and the bound is success_rate >= 98.5 %"},
		{0.9, tuner.Bound{Metric: "failed_requests", Op: "<=", Limit: 2}, 3, "after 3 s: failed_requests is at least 3 requests, whatever still comes, and the bound is failed_requests <= 2 requests"},
		// All 392 wait from the start. 32 may yet fail; of the others half less the median's own 196 have their first token later than 100 s.
		{0.9, tuner.Bound{Metric: "p50_ttft", Op: "<=", Limit: 100}, 101, "after 101 s: p50_ttft is at least 101s, whatever still comes, and the bound is p50_ttft <= 100s"},
		{0.9, tuner.Bound{Metric: "total_token_throughput", Op: ">=", Limit: 8820}, 101, "after 101 s: total_token_throughput is at most 8732.7 tokens/s, whatever still comes, and the bound is total_token_throughput >= 8820 tokens/s"},
		{0.9, tuner.Bound{Workload: "other", Metric: "p50_ttft", Op: "<=", Limit: 1}, 0, ""},
		{0.9, tuner.Bound{Metric: "p99_itl", Op: "<=", Limit: 0.001}, 0, ""},
	} {
		p := goalOf(name)
		if c.bound.Metric != "" {
			p = goalOf(name, c.bound)
		}
		v, at := firstStop(mustStopper(t, StopOn, c.gate), p, nil, records, tuner.OriginSearch)
		if v.Reason != c.want || at != c.at || v.Stop && v.Rule != tuner.RuleBroken {
			t.Errorf("after %d s %q, want after %d s %q", at, v.Reason, c.at, c.want)
		}
		if v, _ := firstStop(mustStopper(t, StopOn, c.gate), p, nil, records, tuner.OriginBaseline); v.Stop != (c.gate == 0.99) {
			t.Errorf("a baseline: %+v", v)
		}
	}
}

// TestBrokenIsOfTheTarget: a bound that names no workload is on the target, and ends no guard; in a search for a rate it ends a baseline's probe too.
func TestBrokenIsOfTheTarget(t *testing.T) {
	records := slow.records()
	s := mustStopper(t, StopOn, 0.9)
	for _, c := range []struct {
		workload, objective string
		origin              tuner.Origin
		stops               bool
	}{
		{"target", "total_token_throughput", tuner.OriginSearch, true},
		{"guard", "total_token_throughput", tuner.OriginSearch, false},
		{"target", "total_token_throughput", tuner.OriginBaseline, false},
		{"target", metric.RequestRate, tuner.OriginBaseline, true},
	} {
		p := goalOf(c.objective, tuner.Bound{Metric: "p50_ttft", Op: "<=", Limit: 10})
		p.Goal.Guards = []string{"guard"}
		now := shownAfter(records, 60)
		now.Workload, now.Trial = c.workload, tuner.Trial{Origin: c.origin}
		if v := s.Stop(p, nil, now); v.Stop != c.stops {
			t.Errorf("%+v: %+v", c, v)
		}
	}
}

// What is certain holds whatever comes: over random runs, seen at random instants.
func TestCertain(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	checked, tight := 0, 0
	for range 3000 {
		records := chaos(rng)
		final := metric.Compute(records, 2)
		now := shownAfter(records, 1+rng.IntN(60))
		gate := []float64{0.5, 0.8, 0.95}[rng.IntN(3)]
		c := newCertain(now, gate)
		if got := c.mostSuccess(); got < final["success_rate"] {
			t.Fatalf("at most %v of the requests succeed, and %v did", got, final["success_rate"])
		}
		if final["success_rate"] < gate {
			continue
		}
		for name, v := range final {
			if low, ok := c.least(name); ok {
				checked++
				if low > v*(1+1e-9) {
					t.Fatalf("%s is at least %v after %v, and came to %v", name, low, now.Elapsed, v)
				}
				if low > 0.8*v {
					tight++
				}
			}
			if high, ok := c.most(name); ok && high < v*(1-1e-9) {
				t.Fatalf("%s is at most %v after %v, and came to %v", name, high, now.Elapsed, v)
			}
		}
	}
	if checked < 20000 || tight < checked/10 {
		t.Errorf("%d bounds were compared, %d of them within a fifth", checked, tight)
	}
}

// chaos is a run of which nothing can be foreseen.
func chaos(rng *rand.Rand) []metric.Record {
	n := 5 + rng.IntN(40)
	records := make([]metric.Record, n)
	fails := []float64{0, 0.02, 0.1}[rng.IntN(3)]
	some := func(most int) time.Duration { return time.Duration(rng.IntN(most)) * time.Millisecond }
	for i := range records {
		r := metric.Record{Index: i, Scheduled: time.Duration(i) * some(1500), Status: 200, AskedIn: 10, AskedOut: 1 + rng.IntN(6)}
		r.Sent = r.Scheduled + some(20_000)
		at := r.Sent + time.Millisecond + some(20_000)
		for left := r.AskedOut; left > 0; {
			k := 1
			if rng.IntN(8) == 0 {
				k = 1 + rng.IntN(left)
			}
			r.Tokens = append(r.Tokens, metric.Event{At: at, Tokens: k})
			left -= k
			at += time.Millisecond + some(9000)
		}
		r.FirstByte, r.End = r.Tokens[0].At, r.Tokens[len(r.Tokens)-1].At
		r.Input, r.Output = r.AskedIn, r.AskedOut
		if rng.Float64() < fails {
			r.Error, r.Input, r.Output = metric.ErrStream, 0, 0
		}
		records[i] = r
	}
	return records
}

// The noise is the assumed one until configurations repeat; then squares are pooled: of ln 2 apart, (ln 2)^2/2 with one degree of freedom each.
func TestNoise(t *testing.T) {
	p := goalOf("total_token_throughput")
	at := func(n int, name string, v float64) tuner.Trial {
		return measuredTrial(n, name, map[string]float64{p.Goal.Metric: v})
	}
	h := tuner.History{at(0, "a", 100), at(1, "b", 300)}
	if got := noise(p, h); math.Abs(got-noiseAssumed) > 1e-12 {
		t.Errorf("without repeats: %v", got)
	}
	h = append(h, at(2, "a", 200), at(3, "b", 150))
	want := math.Sqrt((noiseWeight*noiseAssumed*noiseAssumed + 2*math.Ln2*math.Ln2/2) / (noiseWeight + 2))
	if got := noise(p, h); math.Abs(got-want) > 1e-12 {
		t.Errorf("with two repeats: %v, want %v", got, want)
	}
	h[2].Stale = true
	h[3].Outcome.Kind = tuner.Stopped
	if got := noise(p, h); math.Abs(got-noiseAssumed) > 1e-12 {
		t.Errorf("stale and cut short: %v", got)
	}
}

// What was cut short never leads, however good what was expected of it.
func TestCutShortNeverLeads(t *testing.T) {
	p := goalOf("total_token_throughput")
	h := tuner.History{measuredTrial(0, "a", map[string]float64{p.Goal.Metric: 100}), measuredTrial(1, "b", map[string]float64{p.Goal.Metric: 500})}
	h[1].Outcome.Kind, h[1].Outcome.Share, h[1].Outcome.Measured.Share = tuner.Stopped, 0.5, 0.5
	if ranked := (Best{}).Rank(p, h); len(ranked) != 1 || ranked[0].Trial.Number != 0 {
		t.Errorf("ranked %v", ranked)
	}
}
