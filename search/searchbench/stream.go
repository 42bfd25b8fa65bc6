package searchbench

import (
	"math"
	"math/rand/v2"
	"time"

	"autotune/space"
	"autotune/tuner"
	"autotune/tuner/law"
	"autotune/tuner/metric"
)

// watchEvery is how often a stopper sees a run: a real one is shown by the second, and stoppers look every five.
const watchEvery = 10 * time.Second

// drift is by how much the speed of a run wanders about its mean, up and down once.
const drift = 0.05

// Watch shows a measured trial to a stopper as it would have gone by, and gives the outcome: the same one, or that of a run that was cut short.
// When requests come and go is taken from the law's discrete-event simulation of the point where the surface has one, else from a server that is always
// full; the time is stretched so that the run ends with what was measured, and wanders by a twentieth about its mean speed.
func (s *Surface) Watch(t tuner.Trial, whole tuner.Outcome, p tuner.Problem, h tuner.History, stopper tuner.Stopper) tuner.Outcome {
	if whole.Kind != tuner.Measured {
		return whole
	}
	r := s.replay(t.Point)
	r.stretch(whole.Measured.Metrics[Objective], rand.New(rand.NewPCG(s.mixed^0x6472696674, uint64(t.Number))))
	now := tuner.Partial{Trial: t, Phase: tuner.PhaseBench, Total: len(r.sights), Workload: s.Name, Requests: make([]metric.Sight, len(r.sights))}
	for at := watchEvery; at < r.end; at += watchEvery {
		now.Elapsed, now.Done = at, 0
		now.Pace = append(now.Pace, metric.Event{At: at, Tokens: r.made[at/watchEvery-1]})
		for i, sight := range r.sights {
			if now.Requests[i] = sight.Before(at); now.Requests[i].State.Ended() {
				now.Done++
			}
		}
		now.Share = float64(now.Done) / float64(now.Total)
		if v := stopper.Stop(p, h, now); v.Stop {
			return cutShort(whole, v, at)
		}
	}
	return whole
}

// cutShort is the outcome of a run that a stopper ended: of the objective what would have come of it, as far as could be seen.
func cutShort(whole tuner.Outcome, v tuner.Verdict, at time.Duration) tuner.Outcome {
	m := *whole.Measured
	m.Share, m.Metrics = v.Share, map[string]float64{}
	for name, x := range whole.Measured.Metrics {
		if name != Objective {
			m.Metrics[name] = x // latencies are known long before the end
		}
	}
	if x, ok := v.Expected[Objective]; ok {
		m.Metrics[Objective] = x
	}
	return tuner.Outcome{Kind: tuner.Stopped, Phase: tuner.PhaseBench, Signature: v.Rule, Evidence: v.Reason, Share: v.Share, Measured: &m,
		Cost: minutesReady*time.Minute + at}
}

// replay is a run that is over, to be looked at again.
type replay struct {
	sights []metric.Sight
	made   []int // tokens generated, by watchEvery
	tokens float64
	end    time.Duration
	events []metric.Event // when tokens came, in no order
}

// full is a server that is always full: requests of one length begin one after another in so many slots, and each lasts as long.
func full(requests, slots, input, output int) *replay {
	r := &replay{tokens: float64(requests * (input + output))}
	const each = time.Second // between two first tokens; stretched later
	for i := range requests {
		first := time.Duration(i+1) * each
		q := metric.Sight{State: metric.Succeeded, First: first, Last: first + time.Duration(slots)*each, Burst: 1, AskedIn: input, AskedOut: output, Input: input, Output: output}
		if i >= slots {
			q.Sent = r.sights[i-slots].Last
		}
		r.sights = append(r.sights, q)
		for k := range fullEvents {
			r.events = append(r.events, metric.Event{At: first + time.Duration(k*slots)*each/(fullEvents-1), Tokens: output / fullEvents})
		}
		r.end = q.Last
	}
	return r
}

// fullEvents is in how many pieces an answer of a server that is always full comes.
const fullEvents = 16

// stretch fits the run's time to the tokens a second that were measured.
func (r *replay) stretch(rate float64, random *rand.Rand) {
	length := r.tokens / rate // s
	was, phase := r.end.Seconds(), 2*math.Pi*random.Float64()
	warp := func(t time.Duration) time.Duration {
		x := t.Seconds() / was
		x += drift * (math.Sin(2*math.Pi*x+phase) - math.Sin(phase)) / (2 * math.Pi)
		return time.Duration(x * length * float64(time.Second))
	}
	r.end = warp(r.end)
	r.made = make([]int, r.end/watchEvery+2)
	for _, e := range r.events {
		slot := (warp(e.At)+watchEvery-1)/watchEvery - 1 // what comes at the very end of one is in it
		r.made[max(slot, 0)] += e.Tokens
	}
	for i := range r.sights {
		q := &r.sights[i]
		q.Sent, q.First, q.Last = warp(q.Sent), warp(q.First), warp(q.Last)
	}
}

// replayed is the discrete-event simulation of a point; nil when it does not serve there.
func (v *serving) replayed(p space.Point) *replay {
	cfg, err := law.Resolve(p.Engine(), v.modelOf(p.Get), v.flagsOf(p.Get), v.machine)
	if err != nil {
		return nil
	}
	sim, f := law.New(cfg, law.Options{Perturb: v.perturb})
	if f != nil {
		return nil
	}
	plan := law.Plan{Cap: v.traffic.Concurrency}
	for range v.traffic.Requests {
		plan.Arrivals = append(plan.Arrivals, 0)
		plan.Input, plan.Output = append(plan.Input, v.traffic.Input), append(plan.Output, v.traffic.Output)
	}
	records, f := law.Play(sim, plan)
	if f != nil {
		return nil
	}
	r := &replay{tokens: float64(v.traffic.Requests * (v.traffic.Input + v.traffic.Output))}
	for _, q := range records {
		if !q.OK() {
			return nil
		}
		r.end = max(r.end, q.End)
		r.sights = append(r.sights, q.Sight(q.End))
		r.events = append(r.events, q.Tokens...)
	}
	return r
}
