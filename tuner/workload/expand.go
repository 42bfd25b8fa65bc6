package workload

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"
)

// Streams of random numbers that are made from one seed, so that they do not repeat each other.
const (
	streamRows     = 0x726f7773
	streamInputs   = 0x696e7075
	streamOutputs  = 0x6f757470
	streamArrivals = 0x61727269
)

// Expand makes the requests in order of arrival, a function of the spec and the rows alone. Rows are those of the dataset's file, when it has
// one. The error says what the rows lack.
func (s Spec) Expand(rows []Row) ([]Request, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	switch s.Dataset {
	case Random, Prefix:
		return s.expandRandom(), nil
	case Conversation:
		return s.expandConversations(), nil
	case ShareGPT:
		return s.expandShareGPT(rows)
	default:
		return s.expandFile(rows)
	}
}

// expandRandom makes prompts of random tokens. Those of a prefix dataset begin with one of its prefixes, each of which is as frequent as the others.
func (s Spec) expandRandom() []Request {
	requests := make([]Request, s.Requests)
	arrivals, in, out := s.arrivals(s.Requests), s.inputs(s.Requests), s.outputs(s.Requests)
	order := rand.New(rand.NewPCG(s.Seed, streamRows)).Perm(s.Requests)
	for i := range requests {
		requests[i] = Request{Index: i, Arrival: arrivals[i], Input: in[i], Output: out[i]}
		if s.Dataset == Prefix {
			requests[i].Pieces = []Piece{{key(kindPrefix, uint64(order[i]%s.Prefixes)), s.PrefixTokens}, {key(kindOwn, uint64(i)), in[i]}}
			requests[i].Input += s.PrefixTokens
		}
	}
	return requests
}

// expandConversations makes conversations, the turns of each one after the other. The prompt of a turn is that of the turn before, an answer
// of that turn's length, and what is new. The answers in it are the workload's own, so that every server is asked the same.
func (s Spec) expandConversations() []Request {
	n := s.Requests
	requests := make([]Request, n)
	arrivals, in, out := s.arrivals((n+s.Turns-1)/s.Turns), s.inputs(n), s.outputs(n)
	var context []Piece // of the conversation so far; each turn's prompt is its beginning, so that they share memory
	length := 0
	add := func(kind, number uint64, tokens int) {
		context, length = append(context, Piece{key(kind, number), tokens}), length+tokens
	}
	for i := range requests {
		r := &requests[i]
		*r = Request{Index: i, Arrival: arrivals[i/s.Turns], Output: out[i], Turn: i % s.Turns}
		if r.Turn == 0 {
			context, length = nil, 0
			if s.PrefixTokens > 0 {
				add(kindPrefix, 0, s.PrefixTokens)
			}
		} else {
			r.Think = s.ThinkTime
			add(kindAnswer, uint64(i-1), out[i-1])
		}
		add(kindOwn, uint64(i), in[i])
		r.Pieces, r.Input = slices.Clip(context), length
	}
	return requests
}

// expandShareGPT sends each chosen row once; the seed says which.
func (s Spec) expandShareGPT(rows []Row) ([]Request, error) {
	if len(rows) < s.Requests {
		return nil, fmt.Errorf("the dataset has %d usable conversations, the workload asks for %d requests; try a larger file or fewer requests", len(rows), s.Requests)
	}
	requests, arrivals, out := make([]Request, s.Requests), s.arrivals(s.Requests), s.outputs(s.Requests)
	chosen := rand.New(rand.NewPCG(s.Seed, streamRows)).Perm(len(rows))
	for i := range requests {
		row := rows[chosen[i]]
		requests[i] = Request{Index: i, Arrival: arrivals[i], Output: cmp.Or(out[i], row.Output), Text: row.Prompt}
	}
	return requests, nil
}

// expandFile sends a window of the file's rows in order of arrival (in the file's order, where they say none).
func (s Spec) expandFile(rows []Row) ([]Request, error) {
	window, err := s.window(rows)
	if err != nil {
		return nil, err
	}
	n := len(window)
	requests, arrivals, out := make([]Request, n), s.arrivals(n), s.outputs(n)
	for i, row := range window {
		r := Request{Index: i, Arrival: arrivals[i], Input: row.Input, Output: cmp.Or(out[i], row.Output), Text: row.Prompt, Messages: row.Messages, Tokens: row.Tokens}
		if row.Timed && !s.Own() {
			r.Arrival = time.Duration(float64(row.Arrival-window[0].Arrival)/cmp.Or(s.Speed, 1)) / time.Microsecond * time.Microsecond
		}
		if len(r.Tokens) > 0 {
			r.Input = len(r.Tokens)
		}
		if len(row.Blocks) > 0 {
			r.Pieces = blocks(row)
		}
		if err := s.takes(r); err != nil {
			return nil, fmt.Errorf("line %d of the dataset: %w", row.Line, err)
		}
		requests[i] = r
	}
	return requests, nil
}

// takes refuses a request that the workload's endpoint does not take, or whose answer has no length.
func (s Spec) takes(r Request) error {
	switch {
	case r.Output < 1:
		return fmt.Errorf("the length of the answer is missing; give the row output_tokens, or the workload, for all of them")
	case s.Endpoint == Chat && r.Text == "" && r.Messages == "":
		return fmt.Errorf("the prompt is token ids, which only endpoint: %s takes", Completions)
	case s.Endpoint != Chat && r.Messages != "":
		return fmt.Errorf("the prompt is messages, which only endpoint: %s takes", Chat)
	}
	return nil
}

// window are the rows that are sent: those that arrive within From..To, the first Requests of them.
func (s Spec) window(rows []Row) ([]Row, error) {
	timed := 0
	for _, r := range rows {
		if r.Timed {
			timed++
		}
	}
	switch {
	case timed == 0 && (s.From > 0 || s.To > 0 || s.Speed > 0):
		return nil, fmt.Errorf("from, to and speed are about arrivals, and no row of the dataset has one")
	case timed > 0 && timed < len(rows):
		return nil, fmt.Errorf("%d of the dataset's %d rows have an arrival; either all have one or none", timed, len(rows))
	}
	rows = slices.Clone(rows)
	slices.SortStableFunc(rows, func(a, b Row) int { return cmp.Compare(a.Arrival, b.Arrival) })
	span := time.Duration(0)
	if timed > 0 {
		first := rows[0].Arrival
		span = rows[len(rows)-1].Arrival - first
		rows = slices.DeleteFunc(rows, func(r Row) bool {
			return r.Arrival-first < s.From || s.To > 0 && r.Arrival-first >= s.To
		})
	}
	switch {
	case len(rows) == 0:
		to := "the file's end"
		if s.To > 0 {
			to = s.To.String()
		}
		return nil, fmt.Errorf("the dataset has no row in the window from %v to %s: its rows arrive over %v", s.From, to, span)
	case s.Requests > len(rows):
		return nil, fmt.Errorf("the dataset has %d rows in the window, the workload asks for %d requests; try a larger window or fewer requests", len(rows), s.Requests)
	case s.Requests > 0:
		rows = rows[:s.Requests]
	}
	return rows, nil
}

// blocks makes a prompt of a trace's blocks: a block of one id holds the same tokens wherever it stands.
func blocks(row Row) []Piece {
	pieces := make([]Piece, len(row.Blocks))
	for i, id := range row.Blocks {
		pieces[i] = Piece{key(kindBlock, uint64(id)), min(BlockTokens, row.Input-i*BlockTokens)}
	}
	return pieces
}
