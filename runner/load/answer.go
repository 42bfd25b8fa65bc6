package load

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"autotune/tuner/metric"
)

var doneMark = []byte("[DONE]")

// The names of events that matter.
const (
	errorEvent = "error"
	pingEvent  = "ping"
)

// answer follows one event stream and writes what came into a record.
type answer struct {
	rec   *metric.Record
	law   bool                                  // instants come from the events' stamps
	now   func() time.Duration                  // the run's clock, on the wall
	heard func(tokens int, known time.Duration) // after each event that carried tokens: how many, and its instant (the last one's, in law time)

	chunk    chunk
	counts   []int // the usage so far that came with each event of rec.Tokens; -1: none
	counted  bool  // usage came
	finish   string
	finished time.Duration // when the finish reason came
	done     bool          // the end mark came
	over     time.Duration // when it came
	failed   bool
	failure  string
	kind     string // the answer's content type, when it is none of an event stream
	odd      string // what the body said outside of any event
	stated   bool   // the server said when it ended, in law time
	spread   bool   // tokens were spread over the events, because these do not count
}

// follow reads to the end mark or to the end of the body, whichever is first, and says what broke it, if anything did.
func (a *answer) follow(body io.Reader) error {
	e := newEvents(body, a.now)
	for {
		data, name, err := e.next()
		if !a.law {
			a.rec.FirstByte = e.first
		}
		if err != nil {
			a.strange(e)
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		if err := a.events(data, name, e.at); err != nil {
			if e.cut {
				return nil // half an event is none
			}
			return err
		}
		if a.done {
			a.over = e.at
			return nil
		}
	}
}

// isDone tells the end mark, also where a gateway has made a text of it.
func isDone(data []byte) bool {
	return bytes.Equal(data, doneMark) || len(data) == len(doneMark)+2 && bytes.Equal(bytes.Trim(data, `"`), doneMark)
}

// events takes what one event holds: some gateways leave out the blank line, or the line end, between two.
func (a *answer) events(data []byte, name string, at time.Duration) error {
	data = bytes.TrimSpace(data)
	if string(data) == "null" || name == pingEvent {
		return nil // a sign of life
	}
	for len(data) > 0 {
		if isDone(data) {
			a.done = true
			return nil
		}
		n, err := a.event(data, name, at)
		if err != nil {
			return err
		}
		data = bytes.TrimSpace(data[n:])
	}
	return nil
}

// strange makes a failure of a body that is no event stream at all, and keeps what stands beside the events of one that is.
func (a *answer) strange(e *events) {
	text := bytes.TrimSpace(e.odd)
	if len(text) == 0 {
		return
	}
	a.odd = errorText(text)
	if a.failed || a.counted || len(a.rec.Tokens) > 0 {
		return
	}
	a.failed, a.failure = true, "the answer is no event stream: "+a.odd
	if a.kind != "" {
		a.failure = "the answer is no event stream but " + a.kind + ": " + a.odd
	}
}

// event takes the first object of an event's data, and says where it ends.
func (a *answer) event(data []byte, name string, at time.Duration) (end int, err error) {
	c := &a.chunk
	if end, err = c.parseFirst(data); err != nil {
		if name != errorEvent {
			return 0, fmt.Errorf("%w: %.80q", err, data)
		}
		c.failed, c.failure, end = true, string(data), len(data)
	}
	if name == errorEvent && !c.failed {
		c.failed, c.failure = true, errorText(data)
	}
	if c.failed && !a.failed {
		a.failed, a.failure = true, c.failure
	}
	if c.ended && a.law {
		a.stated, a.rec.End = true, micros(c.end)
	}
	a.tokens(at)
	if c.finish != "" {
		a.finish, a.finished = c.finish, at
	}
	if c.counted && (c.completion > 0 || a.rec.Output == 0) { // a usage of nothing after a true one was added by somebody who counted nothing
		a.counted, a.rec.Output = true, c.completion
		if c.prompt > 0 {
			a.rec.Input = c.prompt
		}
	}
	return end, nil
}

// tokens notes an event that carried some: by its stamps, its text, or because the usage grew. A usage that comes with the finish
// reason, or without a choice, counts all that went before and is no token, unless the events counted all along.
func (a *answer) tokens(at time.Duration) {
	c := &a.chunk
	if a.law {
		a.stamped()
		return
	}
	grew := 0
	if c.counted {
		grew = c.completion - a.rec.Output
	}
	running := len(a.counts) > 0 && !slices.Contains(a.counts[len(a.counts)-1:], -1)
	if !c.choices || !c.text && (grew <= 0 || c.finish != "" && !running) {
		return
	}
	count := -1
	if c.counted {
		count = c.completion
	}
	a.rec.Tokens = append(a.rec.Tokens, metric.Event{At: at})
	a.counts = append(a.counts, count)
	a.heard(max(1, grew), at)
}

// stamped takes an event's stamps; tokens of one instant came together.
func (a *answer) stamped() {
	r := a.rec
	for _, us := range a.chunk.stamps {
		at := micros(us)
		if n := len(r.Tokens); n > 0 && r.Tokens[n-1].At == at {
			r.Tokens[n-1].Tokens++
			continue
		}
		r.Tokens = append(r.Tokens, metric.Event{At: at, Tokens: 1})
	}
	if n := len(a.chunk.stamps); n > 0 {
		if r.FirstByte == 0 {
			r.FirstByte = r.Tokens[0].At
		}
		a.heard(n, r.Tokens[len(r.Tokens)-1].At)
	}
}

// settle says how many tokens each event carried, once the usage is known.
func (a *answer) settle() {
	r := a.rec
	if len(r.Tokens) == 0 && r.Output > 0 && a.finish != "" {
		r.Tokens = []metric.Event{{At: a.finished, Tokens: r.Output}} // tokens without any text, such as half a letter
		return
	}
	if a.law || len(r.Tokens) == 0 {
		return
	}
	if a.countsHold() {
		a.difference()
		return
	}
	a.spread = len(r.Tokens) != r.Output
	spread(r.Tokens, r.Output)
}

// countsHold tells whether the events' own counts can be believed: every event has one, from its first token on.
func (a *answer) countsHold() bool {
	return a.counts[0] > 0 && slices.IsSorted(a.counts) && a.counts[len(a.counts)-1] <= a.rec.Output
}

func (a *answer) difference() {
	kept, before := a.rec.Tokens[:0], 0
	for i, e := range a.rec.Tokens {
		if e.Tokens = a.counts[i] - before; e.Tokens > 0 { // text that was held back adds none
			kept = append(kept, e)
		}
		before = a.counts[i]
	}
	kept[len(kept)-1].Tokens += a.rec.Output - before
	a.rec.Tokens = kept
}

// spread gives the first event one token and the others equal shares of the rest.
func spread(events []metric.Event, total int) {
	events[0].Tokens = min(1, total)
	rest, n := max(0, total-1), len(events)-1
	if n == 0 {
		events[0].Tokens = total
		return
	}
	for i := range n {
		events[1+i].Tokens = rest*(i+1)/n - rest*i/n
	}
}

func micros(us int64) time.Duration { return time.Duration(us) * time.Microsecond }
