package load

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"autotune/runner/internal/lawtime"
)

// chunk is what one event's JSON says, as far as it is needed.
type chunk struct {
	choices    bool // there is a choice
	text       bool // with text, of an answer or of reasoning
	finish     string
	counted    bool // there is usage
	prompt     int
	completion int
	failed     bool // it is an error object
	failure    string
	stamps     []int64 // instants of its tokens in law time, microseconds
	ended      bool
	end        int64 // in law time, microseconds
}

var errUnreadable = errors.New("an event that is not the JSON of a completion")

// parse reads an event. Thousands come a second and most of their text is of no interest, so it is a scan that skips, not a decoder;
// text within what is skipped is not checked. The stamps' memory is used again.
func (c *chunk) parse(data []byte) error {
	n, err := c.parseFirst(data)
	if err == nil && len(bytes.TrimSpace(data[n:])) > 0 {
		err = errUnreadable
	}
	return err
}

// parseFirst reads the first of several objects, and says where it ends.
func (c *chunk) parseFirst(data []byte) (end int, err error) {
	*c = chunk{stamps: c.stamps[:0]}
	s := &scanner{text: data}
	if s.peek() != '{' {
		return 0, errUnreadable
	}
	var message []byte
	isError := false
	s.object(func(key []byte) {
		switch string(key) {
		case "choices":
			s.array(func() { c.choices = true; s.object(func(key []byte) { c.choice(s, key) }) })
		case "usage":
			s.object(func(key []byte) { c.usage(s, key) })
		case "error":
			if raw := s.value(); string(raw) != "null" {
				c.failed, c.failure = true, errorText(raw)
			}
		case "object":
			isError = string(s.value()) == `"error"`
		case "message":
			message = s.value()
		case lawtime.StampsField:
			at := int64(0)
			s.array(func() { delta, _ := s.number(); at += delta; c.stamps = append(c.stamps, at) })
		case lawtime.EndField:
			c.end, c.ended = s.number()
		default:
			s.value()
		}
	})
	if isError && !c.failed { // the older form of SGLang
		c.failed, c.failure = true, errorText(message)
	}
	if s.bad {
		return 0, errUnreadable
	}
	return s.at, nil
}

func (c *chunk) choice(s *scanner, key []byte) {
	switch string(key) {
	case "text":
		c.text = notEmpty(s.value()) || c.text
	case "delta":
		s.object(func(key []byte) {
			raw := s.value()
			switch string(key) {
			case "content", "reasoning_content", "reasoning", "tool_calls":
				c.text = notEmpty(raw) || c.text
			}
		})
	case "finish_reason":
		if raw := s.value(); notEmpty(raw) {
			c.finish = known(finishText(raw))
		}
	default:
		s.value()
	}
}

func (c *chunk) usage(s *scanner, key []byte) {
	switch string(key) {
	case "prompt_tokens":
		n, _ := s.number()
		c.prompt = int(n)
	case "completion_tokens":
		n, ok := s.number() // some servers send null where they have not counted yet
		c.counted, c.completion = ok, int(n)
	default:
		s.value()
	}
}

// finishText is a finish reason as a text; some servers wrap it into an object.
func finishText(raw []byte) string {
	var object struct{ Type string }
	if raw[0] == '{' && json.Unmarshal(raw, &object) == nil && slices.Contains(finishes, object.Type) {
		return object.Type
	}
	return strings.Trim(string(raw), `"`)
}

// known gives the usual finish reasons without keeping the event's memory alive.
func known(reason string) string {
	for _, r := range finishes {
		if reason == r {
			return r
		}
	}
	return strings.Clone(reason)
}

// finishes are the reasons with which an answer ends well.
var finishes = []string{"length", "stop", "tool_calls", "content_filter"}

func notEmpty(raw []byte) bool {
	switch string(raw) {
	case "", "null", `""`, "[]", "{}":
		return false
	}
	return true
}

// errorText finds the sentence in an error, which engines write as a text or as an object, plain or within another.
func errorText(raw []byte) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var object struct {
		Message, Detail, Error json.RawMessage
	}
	if json.Unmarshal(raw, &object) != nil {
		return string(raw)
	}
	for _, inner := range []json.RawMessage{object.Error, object.Message, object.Detail} {
		if notEmpty(inner) {
			return errorText(inner)
		}
	}
	return string(raw)
}
