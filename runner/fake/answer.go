package fake

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"time"

	"autotune/runner/internal/lawtime"
)

// complete answers /v1/completions and /v1/chat/completions.
func (s *server) complete(chat bool) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		received := s.now()
		s.touch()
		s.inFlight.enter()
		defer s.inFlight.leave()
		body, err := readBody(r)
		if err != nil {
			return // the client went away
		}
		a, err := parseAsk(body)
		if err != nil {
			s.refuse(w, r, &refusal{http.StatusBadRequest, "Bad Request", "1 validation error:\n  {'type': 'json_invalid', 'loc': 'body', 'msg': 'JSON decode error', 'ctx': {'error': '" + err.Error() + "'}}", "body"})
			return
		}
		c, ok := s.newCall(r, &a, chat, received)
		if ok && !c.refused() && s.caching() {
			s.lookUp(c.input, body)
		}
		if !ok {
			s.refuse(w, r, badRequest("the headers of a planned request are "+lawtime.HeaderPlan+", "+lawtime.HeaderIndex+" and "+lawtime.HeaderSent+" (whole numbers)", ""))
			return
		}
		if problem := s.admit(c); problem != "" {
			s.refuse(w, r, &refusal{http.StatusConflict, "Conflict", problem, ""})
			return
		}
		t := &teller{server: s, call: c, ask: &a, w: w, wire: s.wire(&a, chat, c.input)}
		t.tell(r)
	}
}

func readBody(r *http.Request) ([]byte, error) {
	if r.ContentLength <= 0 {
		return io.ReadAll(r.Body)
	}
	body := make([]byte, r.ContentLength)
	_, err := io.ReadFull(r.Body, body)
	return body, err
}

// newCall says what becomes of a request: its lengths, its fate, and whether it is refused. ok is false for plan headers that make no sense.
func (s *server) newCall(r *http.Request, a *ask, chat bool, received int64) (c *call, ok bool) {
	c = &call{plan: r.Header.Get(lawtime.HeaderPlan), received: received}
	if c.planned(s) {
		var err1, err2 error
		c.index, err1 = strconv.Atoi(r.Header.Get(lawtime.HeaderIndex))
		c.said, err2 = strconv.ParseInt(r.Header.Get(lawtime.HeaderSent), 10, 64)
		if err1 != nil || err2 != nil {
			return nil, false
		}
		c.received = c.said
		c.stream = newStream(lawBatch)
	} else {
		c.plan = ""
		c.index = int(s.ordinal.Add(1)) - 1
		c.stream = newStream(1)
	}
	if c.planned(s) || !s.law() {
		c.fate = s.faults.fate(c.index)
	}
	input, err := a.input(chat)
	c.input = input
	c.limit = a.limit(chat, s.context, input)
	c.asked = a.output(c.limit, c.index)
	switch {
	case err != nil:
		c.refusal = badRequest(err.Error(), "prompt")
	case c.fate == "refuse":
		c.refusal = &refusal{http.StatusServiceUnavailable, "ServiceUnavailableError", "The request queue is full.", ""}
	default:
		c.refusal = a.check(s.served, input, c.limit, s.context)
	}
	c.cut()
	return c, true
}

func (c *call) planned(s *server) bool { return c.plan != "" && s.law() }

// admit hands a call to the clock. problem says why a plan does not take it.
func (s *server) admit(c *call) (problem string) {
	switch {
	case s.dead.Load():
		c.refusal = &refusal{http.StatusInternalServerError, "InternalServerError", deadMessage, ""}
		c.stream.finish(c.received, "")
	case c.planned(s):
		if err := s.plans.arrive(c); err != nil {
			return err.Error()
		}
	case c.refused():
		c.stream.finish(s.now(), "")
	case s.hung.Load(): // it waits for good
	case s.law():
		s.plans.answerProbe(c)
	default:
		s.wall.admit(c)
	}
	return ""
}

func (s *server) wire(a *ask, chat bool, input int) *wire {
	var id [8]byte
	_, _ = rand.Read(id[:]) // never fails
	prefix := "cmpl-"
	if chat {
		prefix = "chatcmpl-"
	}
	return &wire{sglang: s.sglang(), chat: chat, id: prefix + hex.EncodeToString(id[:]), model: strconv.Quote(s.served),
		created: strconv.FormatInt(time.Now().Unix(), 10), prompt: input,
		usage: a.StreamOptions.IncludeUsage, running: a.StreamOptions.IncludeUsage && a.StreamOptions.Continuous}
}

// refuse answers with an error that no clock and no ledger knows of.
func (s *server) refuse(w http.ResponseWriter, r *http.Request, f *refusal) {
	s.writeRefusal(w, f)
	s.access(r, f.status)
}

func (s *server) writeRefusal(w http.ResponseWriter, f *refusal) {
	kind, param := f.kind, any(f.param)
	if f.param == "" {
		param = nil
	}
	e := map[string]any{"message": f.message, "type": kind, "param": param, "code": f.status}
	var v any = map[string]any{"error": e}
	if s.sglang() {
		e["object"] = "error"
		v = e
	}
	writeJSON(w, f.status, v)
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	text, err := json.Marshal(v)
	if err != nil {
		status, text = http.StatusInternalServerError, []byte(`{}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	w.WriteHeader(status)
	_, _ = w.Write(text) // a client that is gone needs no answer
}
