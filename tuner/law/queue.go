package law

import (
	"container/heap"
	"time"
)

// Queue says which request of a plan is sent next, and when. A conversation takes one of Cap slots at its first turn, at the later of its arrival and
// the instant at which a slot became free, and gives it back at the end of its last one; a later turn is sent when the one before has ended and the
// client has thought. A request that follows none is a conversation of its own. Nothing is sent at Limit or later.
type Queue struct {
	plan  *Plan
	next  int             // the first turn that is sent next
	begun int             // conversations that have begun
	ends  []time.Duration // instants at which slots became free, in order
	later turnHeap        // turns whose instant is known
}

// NewQueue is the queue of a plan, of which arrivals, turns, think, cap and limit count.
func NewQueue(p *Plan) *Queue { return &Queue{plan: p} }

// Next is the request that is sent next and its instant. known is false while that depends on an end that has not come, and when nothing is left.
func (q *Queue) Next() (index int, at time.Duration, known bool) {
	q.skip()
	first, due := q.firstDue()
	if len(q.later) > 0 && (!due || q.later[0].at < first || q.later[0].at == first && q.later[0].index < q.next) {
		return q.later[0].index, q.later[0].at, true
	}
	return q.next, first, due
}

// firstDue is the instant at which the next conversation begins, when it is known.
func (q *Queue) firstDue() (time.Duration, bool) {
	if q.next >= len(q.plan.Arrivals) {
		return 0, false
	}
	at, freed := q.plan.Arrivals[q.next], q.begun-q.plan.Cap
	switch {
	case q.plan.Cap == 0 || freed < 0:
	case freed >= len(q.ends):
		return 0, false
	default:
		at = max(at, q.ends[freed])
	}
	if q.late(at) {
		q.next = len(q.plan.Arrivals)
		return 0, false
	}
	return at, true
}

func (q *Queue) late(at time.Duration) bool { return q.plan.Limit > 0 && at >= q.plan.Limit }

// skip passes over later turns.
func (q *Queue) skip() {
	for q.next < len(q.plan.Arrivals) && q.plan.turn(q.next) > 0 {
		q.next++
	}
}

// Sent takes what Next gave off the queue.
func (q *Queue) Sent(index int) {
	if len(q.later) > 0 && q.later[0].index == index {
		heap.Pop(&q.later)
		return
	}
	q.next++
	q.begun++
}

// Ended tells of a request's end, which makes the next turn known, or frees a slot.
func (q *Queue) Ended(index int, at time.Duration) {
	if next := index + 1; next < len(q.plan.Arrivals) && q.plan.turn(next) > 0 {
		if due := at + q.plan.Think; !q.late(due) {
			heap.Push(&q.later, turn{next, due})
			return
		}
	}
	q.ends = append(q.ends, at)
}

// turn of its conversation that a request is, from 0.
func (p *Plan) turn(i int) int {
	if len(p.Turns) == 0 {
		return 0
	}
	return p.Turns[i]
}

type turn struct {
	index int
	at    time.Duration
}

// turnHeap has the earliest turn first, of several the one that stands first in the plan.
type turnHeap []turn

func (h turnHeap) Len() int { return len(h) }
func (h turnHeap) Less(i, j int) bool {
	return h[i].at < h[j].at || h[i].at == h[j].at && h[i].index < h[j].index
}
func (h turnHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *turnHeap) Push(x any)   { *h = append(*h, x.(turn)) }
func (h *turnHeap) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}
