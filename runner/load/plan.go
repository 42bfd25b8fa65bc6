package load

import (
	"container/heap"
	"math"
	"slices"
	"sync"
	"time"

	"autotune/tuner/metric"
	"autotune/tuner/workload"
)

// forever is an instant after every other.
const forever = time.Duration(math.MaxInt64)

// slots are the free ones, each by the instant since which it has been free; a heap.
type slots []time.Duration

// newSlots are as many as a cap says, and as many as requests without one.
func newSlots(most, requests int) slots {
	if most <= 0 || most > requests {
		most = requests
	}
	return make(slots, most)
}

func (s slots) Len() int           { return len(s) }
func (s slots) Less(i, j int) bool { return s[i] < s[j] }
func (s slots) Swap(i, j int)      { s[i], s[j] = s[j], s[i] }
func (s *slots) Push(x any)        { *s = append(*s, x.(time.Duration)) }
func (s *slots) Pop() any {
	last := (*s)[len(*s)-1]
	*s = (*s)[:len(*s)-1]
	return last
}

// take gives the instant since which the longest free slot has been free, and takes the slot.
func (s *slots) take() time.Duration { return heap.Pop(s).(time.Duration) }

// release frees a slot at an instant.
func (s *slots) release(at time.Duration) { heap.Push(s, at) }

// horizon knows up to which instant everything is known: the earliest of the last known instants of the requests in flight. No request
// that is still to be sent comes before it, because each waits for the end of one in flight: for a slot, or as the turn after it.
type horizon struct {
	at     []time.Duration // by request: how far it is known
	fly    []bool
	from   int // no request before it is in flight
	sent   int // no request from here on is
	flying int
	owner  int           // the request whose instant is the earliest; -1: to be looked for
	last   time.Duration // the latest known instant
}

func newHorizon(requests int) horizon {
	return horizon{at: make([]time.Duration, requests), fly: make([]bool, requests), owner: -1}
}

func (h *horizon) send(i int, at time.Duration) {
	h.at[i], h.fly[i] = at, true
	h.from, h.sent = min(h.from, i), max(h.sent, i+1)
	h.flying++
	h.last = max(h.last, at)
	if h.owner >= 0 && at < h.at[h.owner] {
		h.owner = i
	}
}

func (h *horizon) hear(n news) {
	h.at[n.index] = n.at
	h.last = max(h.last, n.at)
	if n.index == h.owner {
		h.owner = -1
	}
	if n.ended {
		h.fly[n.index] = false
		h.flying--
	}
}

// low is the instant before which everything is known; forever when nothing is in flight.
func (h *horizon) low() time.Duration {
	if h.flying == 0 {
		return forever
	}
	for !h.fly[h.from] {
		h.from++
	}
	if h.owner < 0 {
		h.owner = h.from
		for i := h.from; i < h.sent; i++ {
			if h.fly[i] && h.at[i] < h.at[h.owner] {
				h.owner = i
			}
		}
	}
	return h.at[h.owner]
}

// early finds out whether the workload's first requests all failed, and none succeeded before the last of them. A server that refuses a share
// of the requests does so at once, while it still works on the others: so those that end first say little.
type early struct {
	limit   int // 0: never
	failed  int
	waiting []metric.Record // whose place in the order is not certain yet
	cut     *cutOff
	at      time.Duration
}

func (e *early) ended(r *metric.Record, end time.Duration) {
	if e.limit > 0 && e.cut == nil && (r.OK() || r.Index < e.limit) {
		e.waiting = append(e.waiting, metric.Record{Index: r.Index, End: end, Error: r.Error})
	}
}

// check takes account of all ends before low; cut is nil and at is forever while nothing is to be cut.
func (e *early) check(low time.Duration) (*cutOff, time.Duration) {
	if e.cut != nil {
		return e.cut, e.at
	}
	slices.SortFunc(e.waiting, func(a, b metric.Record) int {
		if a.End != b.End {
			return int(min(max(a.End-b.End, -1), 1))
		}
		return a.Index - b.Index
	})
	for len(e.waiting) > 0 && e.waiting[0].End < low {
		r := e.waiting[0]
		e.waiting = e.waiting[1:]
		if r.OK() {
			e.limit, e.waiting = 0, nil
			break
		}
		if e.failed++; e.failed == e.limit {
			e.cut, e.at = cutFailed(e.limit), r.End
			return e.cut, e.at
		}
	}
	return nil, forever
}

// lawTally counts by seconds of law time; what stands at a second's end counts to it.
type lawTally struct {
	mu     sync.Mutex
	second time.Duration
	counts map[int64]Progress
	sum    Progress
	upto   int64
}

func (t *lawTally) add(at time.Duration, p Progress) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.put(at, p)
}

func (t *lawTally) put(at time.Duration, p Progress) {
	second := int64((at + t.second - 1) / t.second)
	t.counts[second] = plus(t.counts[second], p)
}

func (t *lawTally) stream(stamps []int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := 0; i < len(stamps); {
		from, end := i, (micros(stamps[i])+t.second-1)/t.second*t.second
		for i < len(stamps) && (micros(stamps[i]) <= end || i == from) {
			i++
		}
		t.put(micros(stamps[from]), Progress{StreamedTokens: i - from})
	}
}

func (t *lawTally) finish(r *metric.Record) {
	p := Progress{Done: 1, Failed: 1}
	if r.OK() {
		p = Progress{Done: 1, InputTokens: r.Input, OutputTokens: r.Output}
	}
	t.add(r.End, p)
}

// until is the progress up to an instant, a whole second; instants ascend from call to call.
func (t *lawTally) until(at time.Duration, total int) Progress {
	t.mu.Lock()
	defer t.mu.Unlock()
	for ; t.upto <= int64(at/t.second); t.upto++ {
		t.sum = plus(t.sum, t.counts[t.upto])
		delete(t.counts, t.upto)
	}
	p := t.sum
	p.Elapsed, p.Total, p.Share = at, total, float64(p.Done)/float64(total)
	return p
}

func plus(a, b Progress) Progress {
	return Progress{Sent: a.Sent + b.Sent, Done: a.Done + b.Done, Failed: a.Failed + b.Failed, InputTokens: a.InputTokens + b.InputTokens,
		OutputTokens: a.OutputTokens + b.OutputTokens, StreamedTokens: a.StreamedTokens + b.StreamedTokens}
}

// truncate makes the records what they were at an instant at which the run was cut short: what came after it is forgotten.
func (r *run) truncate(cut *cutOff, at time.Duration) {
	if cut == nil {
		return
	}
	for i := range r.records {
		rec := &r.records[i]
		switch {
		case rec.Error == metric.ErrUnsent:
		case rec.Sent >= at:
			*rec, r.digests[i], r.whole[i] = unsent(r.requests[i]), workload.Digest{}, false
		case at != forever && (rec.End > at || !r.whole[i]):
			r.whole[i] = false
			clip(rec, at, cut)
		}
	}
}

// clip makes a record one of a request that was ended at an instant.
func clip(r *metric.Record, at time.Duration, why *cutOff) {
	n := len(r.Tokens)
	for n > 0 && r.Tokens[n-1].At > at {
		n--
	}
	r.Tokens, r.End, r.Error, r.Detail = r.Tokens[:n], at, why.class, why.detail
	r.Input, r.Output = 0, 0
	if r.FirstByte > at {
		r.FirstByte = 0
	}
	if n == 0 {
		r.Status = 0 // whether the head of an answer had come is not known in law time
	}
}

// elapsed is the latest end.
func (r *run) elapsed() time.Duration {
	last := time.Duration(0)
	for i := range r.records {
		last = max(last, r.records[i].End)
	}
	return last
}
