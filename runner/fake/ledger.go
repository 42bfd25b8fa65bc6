package fake

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"sync"
	"time"

	"autotune/tuner/metric"
)

// Ledger is what a server wrote about itself and about every request that it answered.
type Ledger struct {
	Server  Server
	Entries []Entry // in the order in which they ended
}

// Server is the first line of a ledger.
type Server struct {
	Engine string       `json:"engine"`
	Model  string       `json:"model"` // the served name
	Clock  metric.Clock `json:"clock"`
	Seed   uint64       `json:"seed"`
	Noise  float64      `json:"noise"`
	PID    int          `json:"pid"`
	Start  time.Time    `json:"start"` // zero of the instants of the wall clock
}

// Entry is one request as the server truly served it. Instants are counted from the start of the server (wall) or of the plan (law).
type Entry struct {
	Plan     string          // id of the plan; empty for a request outside of any
	Index    int             // place in the plan, else the order of arrival
	Received time.Duration   // wall: the request's head was read; law: it was sent by the plan
	Stamps   []time.Duration // when each token was sent: wall, just before the write; law, by the simulation; empty for a probe in law time
	End      time.Duration
	Input    int    // prompt tokens
	Output   int    // tokens sent
	Status   int    // HTTP status
	Finish   string // finish reason as sent; empty when none was
	Fault    string // name of the fault that befell it, or client-gone
	Events   int    // server-sent events that carried tokens
}

// OK tells whether the request was served as asked.
func (e Entry) OK() bool {
	return e.Status == 200 && (e.Finish == "length" || e.Finish == "stop") && e.Output > 0 && e.Fault == ""
}

// First is the instant of the first token; false when there was none.
func (e Entry) First() (time.Duration, bool) {
	if len(e.Stamps) == 0 {
		return 0, false
	}
	return e.Stamps[0], true
}

// line is an entry as it stands in the file.
type line struct {
	Plan     string  `json:"plan,omitempty"`
	Index    int     `json:"index"`
	Received int64   `json:"received_us"`
	Stamps   []int64 `json:"tokens_us,omitempty"` // first, then differences
	End      int64   `json:"end_us"`
	Input    int     `json:"input"`
	Output   int     `json:"output"`
	Status   int     `json:"status"`
	Finish   string  `json:"finish,omitempty"`
	Fault    string  `json:"fault,omitempty"`
	Events   int     `json:"events"`
}

// book writes a ledger: every line in one write, so that a killed server leaves whole lines. A nil book writes nothing.
type book struct {
	mu   sync.Mutex
	file *os.File
}

func openBook(path string, about Server) (*book, error) {
	if path == "" {
		return nil, nil
	}
	f, err := os.Create(path)
	if err != nil {
		return nil, fmt.Errorf("opening the ledger: %w", err)
	}
	b := &book{file: f}
	return b, b.write(about)
}

func (b *book) write(v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	_, err = b.file.Write(append(text, '\n'))
	return err
}

// enter writes one request. The stamps are absolute.
func (b *book) enter(l line) error {
	if b == nil {
		return nil
	}
	for i := len(l.Stamps) - 1; i > 0; i-- {
		l.Stamps[i] -= l.Stamps[i-1]
	}
	return b.write(l)
}

func (b *book) close() {
	if b != nil {
		b.file.Close()
	}
}

// ReadLedger reads the ledger file of a server, which may still be running: a last line that is not whole yet is left out.
func ReadLedger(path string) (Ledger, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return Ledger{}, fmt.Errorf("reading the ledger: %w", err)
	}
	text = text[:bytes.LastIndexByte(text, '\n')+1]
	var l Ledger
	in := bufio.NewReader(bytes.NewReader(text))
	dec := json.NewDecoder(in)
	if err := dec.Decode(&l.Server); err != nil {
		return l, fmt.Errorf("reading the ledger %s: its first line: %w", path, err)
	}
	for dec.More() {
		var e line
		if err := dec.Decode(&e); err != nil {
			return l, fmt.Errorf("reading the ledger %s: entry %d: %w", path, len(l.Entries), err)
		}
		l.Entries = append(l.Entries, e.entry())
	}
	return l, nil
}

func (l line) entry() Entry {
	e := Entry{Plan: l.Plan, Index: l.Index, Received: duration(l.Received), End: duration(l.End), Input: l.Input, Output: l.Output,
		Status: l.Status, Finish: l.Finish, Fault: l.Fault, Events: l.Events}
	var at int64
	for _, d := range l.Stamps {
		at += d
		e.Stamps = append(e.Stamps, duration(at))
	}
	return e
}

func duration(us int64) time.Duration { return time.Duration(us) * time.Microsecond }
