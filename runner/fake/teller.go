package fake

import (
	"net/http"
	"strconv"

	"autotune/runner/internal/lawtime"
)

// teller writes the answer to one request as its tokens come, and remembers for the ledger what it truly wrote.
type teller struct {
	server *server
	call   *call
	ask    *ask
	w      http.ResponseWriter
	wire   *wire

	buf    []byte
	opened bool
	sent   int     // tokens written
	events int     // that carried tokens
	stamps []int64 // of every token written
	finish string
	status int
	fault  string // what befell it, for the ledger
}

// tell writes the whole answer, then the ledger's entry.
func (t *teller) tell(r *http.Request) {
	t.status, t.fault = http.StatusOK, t.call.fate
	if t.call.refused() {
		t.refuse(r)
		return
	}
	if t.ask.Stream && !t.server.law() {
		t.open() // as the real ones: the status is sent before the first token
		t.flush()
	}
	var pieces []piece
	for ended := false; !ended; {
		var ok bool
		if pieces, ended, ok = t.call.stream.take(r.Context().Done(), pieces); !ok {
			t.lost(r)
			return
		}
		pieces = t.write(pieces, ended)
	}
	end, failure := t.call.stream.outcome()
	cut := t.close(end, failure)
	t.record(end)
	t.server.access(r, t.status)
	if cut {
		panic(http.ErrAbortHandler) // breaks the connection
	}
}

// refuse answers a request that never reached the simulation, once its end has come.
func (t *teller) refuse(r *http.Request) {
	if _, _, ok := t.call.stream.take(r.Context().Done(), nil); !ok {
		t.lost(r)
		return
	}
	end, _ := t.call.stream.outcome()
	t.status = t.call.refusal.status
	if t.law() {
		t.w.Header().Set(lawtime.HeaderEnd, strconv.FormatInt(end, 10))
	}
	t.server.writeRefusal(t.w, t.call.refusal)
	t.record(end)
	t.server.access(r, t.status)
}

// lost is the end of a request whose client went away: of a plan it ends the plan, for what comes after it would be guesswork.
func (t *teller) lost(r *http.Request) {
	t.fault = "client-gone"
	if t.law() {
		t.server.plans.stop("a client went away before the end of its request")
	}
	t.record(t.server.now())
	t.server.access(r, t.status)
}

// law tells whether the answer carries stamps.
func (t *teller) law() bool { return t.call.planned(t.server) }

// open sends the head of a stream.
func (t *teller) open() {
	if t.opened {
		return
	}
	t.opened = true
	t.w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	t.w.WriteHeader(http.StatusOK)
}

func (t *teller) flush() {
	if f, ok := t.w.(http.Flusher); ok {
		f.Flush()
	}
}

// write sends pieces as events. It returns the pieces that wait for more: the last token waits for the end, which tells its finish reason,
// and a bundle waits until it is full.
func (t *teller) write(pieces []piece, ended bool) (rest []piece) {
	if !t.ask.Stream {
		return pieces
	}
	if t.law() {
		return t.writeLaw(pieces, ended)
	}
	for len(pieces) > 0 {
		n, used := 0, 0
		for used < len(pieces) && (used == 0 || n < t.server.bundle) {
			n += pieces[used].tokens
			used++
		}
		last := t.sent+n >= t.call.output
		if !ended && (last || n < t.server.bundle) {
			break
		}
		t.event(n, last && ended, nil, 0)
		pieces = pieces[used:]
	}
	return pieces
}

// writeLaw sends all pieces as one event, with a stamp for each token; the tokens of a bundle all come with its last one.
func (t *teller) writeLaw(pieces []piece, ended bool) []piece {
	total := 0
	for _, p := range pieces {
		total += p.tokens
	}
	if total == 0 || !ended && t.sent+total >= t.call.output {
		return pieces
	}
	stamps := make([]int64, 0, total)
	for _, p := range pieces {
		for range p.tokens {
			stamps = append(stamps, p.at)
		}
	}
	for from := 0; t.server.bundle > 1 && from < total; {
		to := min(total, from+t.server.bundle-(t.sent+from)%t.server.bundle)
		for i := from; i < to; i++ {
			stamps[i] = stamps[to-1]
		}
		from = to
	}
	end, _ := t.call.stream.outcome()
	t.event(total, ended, stamps, end)
	return pieces[:0]
}

// event writes one event of n tokens; last says that the request's end is known.
func (t *teller) event(n int, last bool, stamps []int64, end int64) {
	first := !t.opened || t.sent == 0
	t.open()
	t.buf = t.buf[:0]
	if first && t.wire.chat {
		t.buf = t.wire.role(t.buf)
	}
	if last {
		t.finish = t.reason()
	}
	t.buf = t.wire.tokens(t.buf, t.sent, n, t.finish, stamps, end)
	t.sent += n
	t.events++
	if stamps == nil && !t.server.law() {
		now := t.server.now()
		for range n {
			t.stamps = append(t.stamps, now)
		}
	}
	t.stamps = append(t.stamps, stamps...)
	_, _ = t.w.Write(t.buf) // a client that is gone shows in the request's context
	t.flush()
}

// reason is the finish reason by the request's fate; empty when none is given.
func (t *teller) reason() string {
	_, failure := t.call.stream.outcome()
	switch {
	case failure != "":
		return ""
	case t.call.fate == "truncate", t.call.fate == "cut", t.call.fate == "stream-error":
		return ""
	case t.call.fate == "abort":
		return "abort"
	case t.call.fate == "lengths", t.call.fate == "empty":
		return "stop"
	case !t.ask.IgnoreEOS && t.call.asked < t.call.limit:
		return "stop"
	default:
		return "length"
	}
}

// close writes what follows the last token; cut says that the connection is to be broken.
func (t *teller) close(end int64, failure string) (cut bool) {
	if !t.ask.Stream {
		t.answerWhole(end, failure)
		return false
	}
	stampedEnd := int64(-1)
	if t.law() {
		stampedEnd = end
	}
	fate := t.call.fate
	t.buf = t.buf[:0]
	switch {
	case failure == "" && fate == "cut":
		t.open()
		t.flush()
		return true
	case failure == "" && fate == "truncate":
		t.open()
		return false
	case failure != "" || fate == "stream-error":
		if failure == "" {
			failure = "CUDA error: an illegal memory access was encountered"
		}
		t.fault = firstOf(t.fault, failure)
		t.open()
		t.buf = t.wire.failure(t.buf, failure, stampedEnd)
	default:
		t.open()
		if t.finish == "" { // no token was sent: the finish reason still has to be
			t.finish = t.reason()
			var none []int64
			if t.law() {
				none = []int64{}
			}
			t.buf = t.wire.tokens(t.buf, 0, 0, t.finish, none, end)
		}
		t.buf = t.wire.close(t.buf, t.sent, stampedEnd)
	}
	_, _ = t.w.Write(t.buf)
	t.flush()
	return false
}

// answerWhole answers a request that wanted no stream.
func (t *teller) answerWhole(end int64, failure string) {
	if failure != "" {
		t.fault, t.status = firstOf(t.fault, failure), http.StatusInternalServerError
		t.server.writeRefusal(t.w, &refusal{t.status, "InternalServerError", failure, ""})
		return
	}
	t.sent, t.events, t.finish = t.call.output, 1, t.reason()
	if t.call.fate == "empty" {
		t.sent, t.events = 0, 0
	}
	t.buf = t.wire.whole(t.buf[:0], t.sent, t.finish)
	if t.law() {
		t.w.Header().Set(lawtime.HeaderEnd, strconv.FormatInt(end, 10))
	}
	t.w.Header().Set("Content-Type", "application/json")
	t.w.Header().Set("Content-Length", strconv.Itoa(len(t.buf)))
	_, _ = t.w.Write(t.buf)
}

func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// record enters the request in the ledger.
func (t *teller) record(end int64) {
	c := t.call
	if !t.law() {
		end = t.server.now()
	}
	l := line{Plan: c.plan, Index: c.index, Received: c.received, Stamps: t.stamps, End: end, Input: c.input, Output: t.sent,
		Status: t.status, Finish: t.finish, Fault: t.fault, Events: t.events}
	t.server.metrics.ended(t.finish)
	t.server.enter(l)
}
