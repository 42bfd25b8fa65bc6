package law

import (
	"math"
	"time"
)

// sequence is a request in the server.
type sequence struct {
	id     int
	at     time.Duration
	need   int // tokens to read before it decodes: the prompt, and after a preemption what it had generated
	filled int // of those, read
	made   int // tokens generated
	left   int // tokens to generate
	credit float64
	err    string
}

// context is how many tokens it has in the cache once it decodes.
func (q *sequence) context() int { return q.filled }

// queue is first in, first out, but what was preempted goes back to its front.
type queue struct {
	items []*sequence
	head  int
}

func (q *queue) len() int         { return len(q.items) - q.head }
func (q *queue) push(s *sequence) { q.items = append(q.items, s) }

func (q *queue) first() *sequence {
	if q.head == len(q.items) {
		return nil
	}
	return q.items[q.head]
}

func (q *queue) pop() {
	q.items[q.head] = nil
	q.head++
	if q.head == len(q.items) {
		q.items, q.head = q.items[:0], 0
	}
}

func (q *queue) unshift(s *sequence) {
	if q.head == 0 {
		q.items = append([]*sequence{nil}, q.items...)
		q.head = 1
	}
	q.head--
	q.items[q.head] = s
}

// piece is the part of a prompt that a step reads.
type piece struct {
	q        *sequence
	from, to int
}

// rank is one attention rank: a queue, a cache, and what runs.
type rank struct {
	sim     *Simulation
	waiting queue
	prefill []*sequence // admitted, their prompts not yet read to the end; in order of admission
	decode  []*sequence // in order of admission
	pieces  []piece     // of the step at hand
	used    int         // tokens in the cache, what is admitted counted in full
	future  int         // tokens that the decoding sequences have yet to make
	seen    int         // sum of the contexts of the decoding sequences
	window  int         // the same, each cut to the window of attention
	ratio   float64     // share of future that SGLang keeps free when it admits
}

func (k *rank) running() int { return len(k.prefill) + len(k.decode) }
func (k *rank) load() int    { return k.running() + 4*k.waiting.len() }
func (k *rank) room() int    { return k.sim.memory.tokens - k.used }

// padding is what a sequence wastes of its last page, on average.
func (k *rank) padding() int { return k.sim.cfg.Page / 2 }

func (k *rank) cut(n int) int {
	if w := k.sim.model.window; w > 0 {
		return min(n, w)
	}
	return n
}

// refuse ends what can never run.
func (k *rank) refuse(now time.Duration) {
	for q := k.waiting.first(); q != nil && q.err != "" && q.at+handover <= now; q = k.waiting.first() {
		k.waiting.pop()
		k.sim.events = append(k.sim.events, Event{ID: q.id, At: now, Done: true, Err: q.err})
		k.sim.counters.Failed++
		k.sim.free = append(k.sim.free, q)
	}
}

// ready is the first waiting request that has reached the scheduler.
func (k *rank) ready(now time.Duration) *sequence {
	if q := k.waiting.first(); q != nil && q.err == "" && q.at+handover <= now {
		return q
	}
	return nil
}

func (k *rank) admit(q *sequence) {
	k.waiting.pop()
	k.prefill = append(k.prefill, q)
	k.used += q.need + k.padding()
}

// read takes up to budget tokens of a prompt into the step and returns how many.
func (k *rank) read(q *sequence, budget int, sh *share) int {
	n := min(budget, q.need-q.filled)
	if n <= 0 {
		return 0
	}
	p := piece{q, q.filled, q.filled + n}
	k.pieces = append(k.pieces, p)
	looked, all := k.sim.speed.looked(p.from, p.to)
	sh.prefill += n
	sh.looked += looked
	sh.indexed += all
	if p.to == q.need {
		sh.done++
	}
	return n
}

// decodes takes every decoding sequence into the step.
func (k *rank) decodes(sh *share) {
	sh.seqs = len(k.decode)
	sh.decode = sh.seqs * (1 + k.sim.cfg.Draft)
	sh.context = float64(k.window)
	sh.contextI = float64(k.seen)
}

// grow makes room for the tokens of a decoding step, at the cost of the latest sequences; false when something had to go.
func (k *rank) grow() bool {
	each := 1 + k.sim.cfg.Draft
	kept := true
	for k.running() > 1 && k.room() < len(k.decode)*each {
		kept = false
		k.preempt()
	}
	return kept
}

// preempt puts a sequence back to the front of the queue: the one that was admitted last, or in SGLang the one that has made least.
func (k *rank) preempt() {
	k.sim.counters.Preemptions++
	if n := len(k.prefill); n > 0 && (k.sim.cfg.Engine == "vllm" || len(k.decode) == 0) {
		q := k.prefill[n-1]
		k.prefill = k.prefill[:n-1]
		k.used -= q.need + k.padding()
		q.filled = 0
		k.waiting.unshift(q)
		return
	}
	i := len(k.decode) - 1
	if k.sim.cfg.Engine == "sglang" {
		for j, q := range k.decode {
			if q.made < k.decode[i].made {
				i = j
			}
		}
	}
	q := k.decode[i]
	k.decode = append(k.decode[:i], k.decode[i+1:]...)
	k.leave(q)
	q.need, q.filled = q.filled, 0
	k.waiting.unshift(q)
}

// leave takes a decoding sequence out of the sums.
func (k *rank) leave(q *sequence) {
	k.used -= q.context() + k.padding()
	k.future -= q.left
	k.seen -= q.context()
	k.window -= k.cut(q.context())
}

// apply carries out what was planned, at the end of the step.
func (k *rank) apply(now time.Duration, sh *share) {
	if sh.seqs > 0 {
		k.advance(now)
	}
	for _, p := range k.pieces {
		p.q.filled = p.to
		if p.to < p.q.need {
			continue
		}
		k.remove(p.q)
		q := p.q
		if q.made == 0 {
			k.sim.counters.PromptTokens += int64(q.need)
		}
		k.future += q.left
		k.seen += q.filled
		k.window += k.cut(q.filled)
		if !k.make(q, 1, now) {
			k.decode = append(k.decode, q)
		}
	}
	k.pieces = k.pieces[:0]
}

// remove takes a sequence out of those whose prompts are read; it is the first but for rare cases.
func (k *rank) remove(q *sequence) {
	for i := range k.prefill {
		if k.prefill[i] == q {
			k.prefill = append(k.prefill[:i], k.prefill[i+1:]...)
			return
		}
	}
}

// advance gives every decoding sequence its tokens.
func (k *rank) advance(now time.Duration) {
	kept := k.decode[:0]
	each := k.sim.speed.tokens
	for _, q := range k.decode {
		n := 1
		if each != 1 {
			q.credit += each
			n = int(math.Floor(q.credit))
			q.credit -= float64(n)
		}
		if !k.make(q, n, now) {
			kept = append(kept, q)
		}
	}
	k.decode = kept
}

// make gives a sequence n tokens and tells whether it is done.
func (k *rank) make(q *sequence, n int, now time.Duration) bool {
	n = min(n, q.left)
	before := q.filled
	q.made += n
	q.left -= n
	q.filled += n
	k.used += n
	k.future -= n
	k.seen += n
	k.window += k.cut(q.filled) - k.cut(before)
	k.sim.counters.GenerationTokens += int64(n)
	done := q.left == 0
	k.sim.events = append(k.sim.events, Event{ID: q.id, At: now, Tokens: n, Done: done})
	if done {
		k.leave(q)
		k.sim.counters.Finished++
		k.sim.free = append(k.sim.free, q)
	}
	return done
}
