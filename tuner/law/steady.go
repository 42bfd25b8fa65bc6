package law

import (
	"fmt"
	"math"
)

// Traffic is a closed loop of equal requests: as one ends the client sends the next.
type Traffic struct {
	Input, Output int // tokens of a request
	Requests      int // in the whole run
	Concurrency   int // most requests in flight
}

// Rates are what Steady expects of a run.
type Rates struct {
	Duration   float64 // s, from the first request to the last answer
	Throughput float64 // tokens/s: (input + output tokens) / duration
	TTFT       float64 // s from sending to the first token, mean over the run; waiting in the server included
	TPOT       float64 // s a token after the first, mean
	BurstTTFT  float64 // s to the first token of the last of the requests with which the loop begins
	Stall      float64 // s of the longest gap between two tokens of a request: a step that reads prompts
	Running    float64 // sequences that run at once on an attention rank
	StepTokens int     // tokens of the largest step, over all ranks
}

// Steady is a closed form of what Play finds by simulation, some hundred times faster: how many sequences run, what a decoding step and a
// step with prompts take (speed.step, the simulation's own), and how many of each a run has. It uses the same memory plan, so that a start
// fails here exactly if it fails there; running out of memory under load, and requests that are too long, are Failures too.
//
// What it leaves out: ranks that are not in step with each other, sequences that are taken back more than on average, SGLang's reserve while it
// adapts, prompts of different lengths. How far off that makes it is in this package's tests.
func Steady(cfg Config, opt Options, t Traffic) (Rates, *Failure) {
	s, f := New(cfg, opt)
	if f != nil {
		return Rates{}, f
	}
	if limit := min(s.memory.context, s.memory.tokens-cfg.Page); t.Input+t.Output > limit {
		return Rates{}, &Failure{Phase: "bench", Signature: "low_success", Exit: 1, Message: fmt.Sprintf("requests of %d tokens are refused where at most %d fit", t.Input+t.Output, limit)}
	}
	l := newLoop(s, t)
	if f := l.overload(); f != nil {
		return Rates{}, f
	}
	return l.rates(), nil
}

// loop is a closed loop as one attention rank sees it.
type loop struct {
	sim       *Simulation
	in, out   float64 // tokens of a request
	steps     float64 // decoding steps of a request
	requests  float64 // of the run, a rank's share
	clients   float64 // in flight, a rank's share
	running   float64 // sequences at once
	budget    float64 // prompt tokens of a full step
	mixed     bool    // decoding goes on in steps that read prompts
	again     float64 // prompt tokens that are read for each one that is needed: above 1 where sequences are taken back
	cacheFull bool    // the cache, not a limit, decides how many run
}

func newLoop(s *Simulation, t Traffic) *loop {
	c := s.cfg
	shares := float64(c.Ranks * c.Replicas)
	l := &loop{sim: s, in: float64(max(t.Input, 1)), out: float64(max(t.Output, 1)), mixed: c.Engine == "vllm" || c.Mixed, again: 1}
	l.steps = max(1, l.out/s.speed.tokens)
	l.requests = max(1, float64(t.Requests)/shares)
	l.clients = max(1, min(float64(t.Concurrency)/shares, l.requests))
	l.fit()
	each := float64(1 + c.Draft)
	switch {
	case c.Engine == "vllm":
		l.running = max(1, min(l.running, float64(c.Chunk)/each))
		l.budget = max(1, float64(c.Chunk)-l.running*each)
		if c.MaxPrefill < 0 { // prompts are not split
			l.budget = max(l.in, l.in*math.Floor(l.budget/l.in))
		}
	case c.Chunk == math.MaxInt32:
		l.budget = max(l.in, float64(c.MaxPrefill))
	default:
		l.budget = float64(min(c.Chunk, c.MaxPrefill))
		if c.Mixed {
			l.budget = max(1, l.budget-l.running)
		}
	}
	l.budget = min(l.budget, l.in*l.clients)
	return l
}

// fit sets how many sequences run at once: as many as there are, as the engine allows, and as the cache holds when each is, on average, half done.
func (l *loop) fit() {
	m := l.sim.memory
	tokens, padding := float64(m.tokens), float64(l.sim.cfg.Page)/2
	holds := tokens / (l.in + l.out/2 + padding)
	if l.sim.cfg.Engine == "sglang" {
		ratio := l.sim.cfg.reserveRatio() * (1 - (1-reserveFloor)*min(1, l.steps/reserveSteps)/2)
		asked := l.in + min(l.out, clippedOutput) + padding
		holds = 1 + (tokens-asked)/(l.in+l.out/2+padding+ratio*l.out/2)
	}
	limit := min(l.clients, float64(m.running))
	l.running = max(1, min(limit, holds))
	if holds < limit {
		l.cacheFull = true
		if l.sim.cfg.Engine == "vllm" {
			l.again = 1 + takenBack*l.out/(l.in+l.out)
		}
	}
}

// takenBack is how much of a prompt vLLM reads again, for outputs that are long against the prompt, once the cache decides how many run.
const takenBack = 0.5

// overload tells whether the largest step is the server's last: the first, when every client sends at once, or one in which all decode.
func (l *loop) overload() *Failure {
	ranks := float64(l.sim.cfg.Ranks)
	largest := max(l.budget, l.running*float64(1+l.sim.cfg.Draft)) * ranks
	return l.sim.overload(0, int(largest), int(l.running))
}

// stepTime is the time of a step in which every rank reads so many prompt tokens and decodes so many sequences.
func (l *loop) stepTime(prompt, running float64) float64 {
	low := math.Floor(running)
	t := l.whole(prompt, int(low))
	if part := running - low; part > 0.01 {
		t += part * (l.whole(prompt, int(low)+1) - t)
	}
	return t
}

func (l *loop) whole(prompt float64, running int) float64 {
	sp := l.sim.speed
	var sh share
	if prompt > 0 {
		windowed, all := sp.looked(0, int(l.in))
		sh.prefill = int(prompt)
		sh.looked, sh.indexed = windowed*prompt/l.in, all*prompt/l.in
		sh.done = int(prompt/l.in + 0.5)
	}
	context := l.in + l.out/2
	sh.seqs, sh.decode = running, running*(1+l.sim.cfg.Draft)
	sh.contextI = float64(running) * context
	sh.context = sh.contextI
	if w := float64(l.sim.model.window); w > 0 {
		sh.context = float64(running) * min(context, w)
	}
	shares := make([]share, l.sim.cfg.Ranks)
	for i := range shares {
		shares[i] = sh
	}
	return sp.step(shares) * l.sim.pace
}

// rates counts the steps of a run. The clients begin at once, so that requests run in waves of as many as run at a time.
func (l *loop) rates() Rates {
	reading := l.requests * l.in * l.again / l.budget // steps that read prompts
	first := l.running * l.in * l.again / l.budget    // of them, until a whole wave is read
	r := Rates{Running: l.running, StepTokens: int(max(l.budget, l.running) * float64(l.sim.cfg.Ranks))}
	waves := math.Ceil(l.requests/l.running - 1e-9)
	if l.cacheFull {
		waves = l.requests/l.running + 0.5 // sequences begin as others end, so that there are no waves
	}
	waves = max(waves, 1)
	var read float64
	if l.mixed {
		read = l.mixedRun(&r, reading, first, waves)
	} else {
		read = l.stepTime(l.budget, 0)
		decode := l.stepTime(0, l.requests/waves)
		r.Duration = reading*read + waves*l.steps*decode
		r.Stall = read*math.Ceil(l.in/l.budget) + decode
	}
	shares := float64(l.sim.cfg.Ranks * l.sim.cfg.Replicas)
	r.Throughput = l.requests * shares * (l.in + l.out) / r.Duration
	l.latencies(&r, read, first)
	return r
}

// mixedRun is a run in which decoding goes on while prompts are read: a wave's requests begin one after another and end so.
func (l *loop) mixedRun(r *Rates, reading, first, waves float64) (read float64) {
	total := waves*l.steps + reading - (waves-1)*first // steps, where a wave is read in fewer than it decodes in
	if first >= l.steps {
		total = reading + l.steps // reading prompts decides
	}
	total = max(total, reading)
	busy := min(l.running, l.requests*l.steps/total)
	read = l.stepTime(l.budget, busy)
	decode := l.stepTime(0, busy)
	r.Duration = reading*read + (total-reading)*decode
	r.Stall = read
	return read
}

// latencies follow from Little's law (A Proof for the Queuing Formula L = λW, Operations Research 9, 1961): a request runs for running/rate, and waits in the server for its turn and for its prompt to be read.
func (l *loop) latencies(r *Rates, read, first float64) {
	rate := l.requests / r.Duration // requests a second of a rank
	own := read * math.Ceil(l.in/l.budget)
	r.BurstTTFT = read*first*l.clients/l.running + max(0, l.clients-l.running)/rate
	r.TTFT = own + max(0, l.clients-l.running)/rate + read*first/2*min(1, l.clients/l.requests)
	r.TPOT = max(l.stepTime(0, l.running)*l.steps/l.out, (min(l.running/rate, r.Duration)-own)/l.out)
}
