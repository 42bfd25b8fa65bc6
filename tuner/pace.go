package tuner

import "time"

// Pace is how long trials take, learned from those that have ended: what ran costs its start-up and its benchmark, what failed mostly less.
type Pace struct {
	Ran     int           // trials that ran
	StartUp time.Duration // of one that ran: all but the benchmark, on average
	Bench   time.Duration // of one that ran, on average
	Failed  int           // trials that did not run, or are not believed
	Failure time.Duration // of one of them, on average
	// Expected is what a further trial costs: one like the latest ones, of which as many fail, and which start as configurations like them do.
	Expected time.Duration
	// StartUps are the start-ups by configuration.
	StartUps StartUps
}

// latest is how many trials say what further ones are like: a search fails less the more it knows, and asks more and more of the same.
const latest = 10

// Pace learns from the trials of this study that have come to an end; the zero Pace when there are none.
func (h History) Pace() Pace {
	var p Pace
	var ended []Trial
	for _, t := range h {
		took := t.Ended.Sub(t.Started)
		if t.Foreign || t.Outcome.Kind == Running || t.Outcome.Kind == Interrupted || took < 0 {
			continue
		}
		ended = append(ended, t)
		if !t.Ran() {
			p.Failed++
			p.Failure += took
			continue
		}
		p.Ran++
		bench := min(t.Outcome.Run.Phases[PhaseBench], took)
		p.Bench += bench
		p.StartUp += took - bench
	}
	if p.Ran > 0 {
		p.StartUp, p.Bench = p.StartUp/time.Duration(p.Ran), p.Bench/time.Duration(p.Ran)
	}
	if p.Failed > 0 {
		p.Failure /= time.Duration(p.Failed)
	}
	p.StartUps = h.startUps()
	p.Expected = p.expect(ended[max(0, len(ended)-latest):])
	return p
}

// expect is the mean cost of trials like these.
func (p Pace) expect(like []Trial) time.Duration {
	var sum time.Duration
	for _, t := range like {
		if t.Ran() {
			sum += p.StartUps.Of(t.Point) + p.Bench
		} else {
			sum += p.Failure
		}
	}
	if len(like) == 0 {
		return 0
	}
	return sum / time.Duration(len(like))
}

// Remaining is what is left of a trial that has run for so long, were it to run to its end; 0 while nothing is known, and of one that is late.
func (p Pace) Remaining(t Trial, elapsed time.Duration) time.Duration {
	whole := p.StartUps.Of(t.Point) + p.Bench
	if p.Ran == 0 {
		whole = p.Expected
	}
	return max(0, whole-elapsed)
}

// Left estimates how many trials the rest of the budget buys and how long they take, at this pace. running is what remains of the trial that now runs, which
// is one of them; negative while none does. The time is 0 while nothing is known of it, and the trials are -1 where nothing bounds them.
func (b Budget) Left(h History, p Pace, spent, running time.Duration) (trials int, left time.Duration) {
	trials = -1
	expected := p.Expected
	idle := running < 0
	if idle {
		running = expected
	}
	if b.Trials > 0 {
		if trials = max(0, b.Trials-h.Finished()); trials > 0 {
			left = running + time.Duration(trials-1)*expected
		}
	}
	if b.WallClock == 0 || trials == 0 {
		return trials, left
	}
	clock := max(0, b.WallClock-spent)
	if trials >= 0 && expected > 0 && left <= clock {
		return trials, left
	}
	if expected > 0 {
		// What has begun before the clock runs out is finished.
		n := 1 + int((max(0, clock-running)+expected-1)/expected)
		if idle && clock == 0 {
			n = 0
		}
		if trials < 0 || n < trials {
			trials = n
		}
	}
	return trials, clock
}
