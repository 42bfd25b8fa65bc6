package law

import (
	"math"
	"time"
)

// plan decides what a rank does in the step that begins now.
func (k *rank) plan(now time.Duration, sh *share) {
	if k.sim.cfg.Engine == "vllm" {
		k.planVLLM(now, sh)
	} else {
		k.planSGLang(now, sh)
	}
}

// planVLLM is vLLM's scheduler: what decodes goes on, and prompts take what is left of the step's tokens, in pieces. A request is
// admitted when its whole prompt has room; what it will generate is not reserved, so that later ones are preempted at times.
func (k *rank) planVLLM(now time.Duration, sh *share) {
	c := &k.sim.cfg
	kept := k.grow()
	k.decodes(sh)
	budget := c.Chunk - sh.decode
	whole := c.MaxPrefill < 0
	for _, q := range k.prefill {
		budget -= k.read(q, budget, sh)
	}
	for q := k.ready(now); kept && q != nil && budget > 0 && k.running() < k.sim.memory.running; q = k.ready(now) {
		if k.room() < q.need+1+k.padding()+len(k.decode) || whole && q.need > budget && sh.prefill > 0 {
			break
		}
		k.admit(q)
		n := budget
		if whole {
			n = max(n, q.need)
		}
		budget -= k.read(q, n, sh)
	}
}

// planSGLang is SGLang's scheduler: prompts first, and what decodes waits for them unless chunks are mixed in. A request is admitted when its
// prompt and all that it will generate have room beside a share of what the running ones have yet to generate.
func (k *rank) planSGLang(now time.Duration, sh *share) {
	c := &k.sim.cfg
	budget := min(c.Chunk, c.MaxPrefill)
	if c.Mixed {
		budget -= len(k.decode)
	}
	for _, q := range k.prefill {
		budget -= k.read(q, budget, sh)
	}
	for q := k.ready(now); q != nil && (budget > 0 || sh.prefill == 0) && len(k.prefill) <= len(k.pieces) && k.running() < k.sim.memory.running; q = k.ready(now) {
		asked := q.need + min(q.left, clippedOutput) + k.padding()
		if k.running() > 0 && float64(k.room()-asked) < k.ratio*float64(k.future) {
			break
		}
		k.admit(q)
		if c.Chunk == math.MaxInt32 {
			budget = max(budget, q.need) // prompts are not split
		}
		budget -= k.read(q, max(budget, 1), sh)
	}
	if sh.prefill > 0 && !c.Mixed {
		return
	}
	if !k.grow() { // it learns from what it had to take back
		k.ratio = min(1, (float64(k.made())+20*float64(len(k.decode)))/float64(k.made()+k.future+1))
	}
	k.decodes(sh)
	k.ratio = max(k.ratio-c.reserveRatio()*(1-reserveFloor)/reserveSteps, c.reserveRatio()*reserveFloor)
}

// SGLang's own constants: the share of the running requests' future tokens that it keeps free falls from 0.7 times the conservativeness
// to 0.14 of that within 600 decoding steps; of a new request at most 4096 future tokens count.
const (
	reserveShare  = 0.7
	reserveFloor  = 0.14
	reserveSteps  = 600
	clippedOutput = 4096
)

func (c Config) reserveRatio() float64 { return min(1, reserveShare*c.Conservative) }

// made is how many tokens the decoding sequences have made.
func (k *rank) made() int {
	n := 0
	for _, q := range k.decode {
		n += q.made
	}
	return n
}
