package fake

import (
	"time"

	"autotune/tuner/law"
)

// call is one request on its way through the server.
type call struct {
	plan     string // id; empty outside of any
	index    int
	said     int64 // the instant at which the client says that it sent it, of a plan
	received int64 // microseconds of the server's clock
	input    int
	limit    int // tokens that the client wants at most
	asked    int // tokens that the model says
	output   int // tokens that the simulation is to give: fewer when a fault ends it early
	fate     string
	refusal  *refusal
	stream   *stream
	begun    bool // its first token came: its prompt has been read
}

// refusal is an answer other than 200.
type refusal struct {
	status  int
	kind    string // the engine's name for the error
	message string
	param   string
}

// refused tells whether the request stays out of the simulation.
func (c *call) refused() bool { return c.refusal != nil }

// cut shortens what the simulation is asked for by the request's fate, so that the simulated end is the end that the client sees.
func (c *call) cut() {
	switch c.fate {
	case "stream-error", "abort", "truncate", "cut", "lengths":
		c.output = max(1, c.asked/2)
	case "empty":
		c.output = 1
	default:
		c.output = c.asked
	}
}

func micros(d time.Duration) int64 { return d.Microseconds() }

// deliver hands the events of a simulation's step to their streams and returns which requests ended.
func deliver(events []law.Event, calls map[int]*call, count func(prompt, tokens int)) (ended []int) {
	for _, e := range events {
		c := calls[e.ID]
		if c == nil {
			continue
		}
		if e.Tokens > 0 && c.fate != "empty" {
			c.stream.push(micros(e.At), e.Tokens)
			prompt := c.input
			if c.begun {
				prompt = 0
			}
			c.begun = true
			count(prompt, e.Tokens)
		}
		if e.Done {
			delete(calls, e.ID)
			c.stream.finish(micros(e.At), e.Err)
			ended = append(ended, e.ID)
		}
	}
	return ended
}
