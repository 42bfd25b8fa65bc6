package load

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"autotune/tuner/workload"
)

// mostTokens bounds a prompt or an answer: no model has so long a context.
const mostTokens = 16 << 20

// promptRow is one line of a file of prompts. Other keys are let pass: such files often carry an id or a label.
type promptRow struct {
	Prompt   *string         `json:"prompt"`
	Tokens   []int64         `json:"token_ids"`
	Messages json.RawMessage `json:"messages"`
	Output   *float64        `json:"output_tokens"`
	Arrival  *float64        `json:"arrival"` // seconds
}

// readPrompts reads a JSON object a line: a prompt (a text), token_ids or messages (a chat), output_tokens, arrival in seconds.
func readPrompts(in io.Reader) ([]workload.Row, error) {
	return readObjects[promptRow](in)
}

// readObjects reads rows of a format that has a JSON object of type T on each line.
func readObjects[T any, P interface {
	*T
	row() (workload.Row, error)
}](in io.Reader) ([]workload.Row, error) {
	var rows []workload.Row
	err := eachLine(in, func(number int, line []byte) error {
		object := P(new(T))
		if err := decodeRow(line, object); err != nil {
			return err
		}
		row, err := object.row()
		row.Line = number
		rows = append(rows, row)
		if err != nil {
			return fmt.Errorf("%w%s", err, keysOf(line))
		}
		return nil
	})
	return rows, err
}

// decodeRow reads a line's JSON object.
func decodeRow(line []byte, to any) error {
	if line[0] == '[' {
		return errors.New("the line is a list; a JSON object stands on each line (a file that is one list is another format)")
	}
	decoder := json.NewDecoder(bytes.NewReader(line))
	if err := decoder.Decode(to); err != nil {
		return fmt.Errorf("the line is no JSON object: %w", sentence(err))
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows the JSON object on the line")
	}
	return nil
}

// keysOf names the keys that a line has, for who wonders which is misspelt.
func keysOf(line []byte) string {
	var fields map[string]json.RawMessage
	if json.Unmarshal(line, &fields) != nil || len(fields) == 0 {
		return ""
	}
	var names []string
	for name := range fields {
		names = append(names, name)
	}
	slices.Sort(names)
	return "; the line has " + strings.Join(names[:min(len(names), 12)], ", ")
}

func (p *promptRow) row() (workload.Row, error) {
	row := workload.Row{Timed: p.Arrival != nil}
	given := 0
	if p.Prompt != nil {
		given++
		if row.Prompt = *p.Prompt; strings.TrimSpace(row.Prompt) == "" {
			return row, errors.New("prompt is empty")
		}
	}
	if p.Tokens != nil {
		given++
		if len(p.Tokens) == 0 || len(p.Tokens) > mostTokens {
			return row, fmt.Errorf("token_ids has %d of them; 1 to %d are allowed", len(p.Tokens), mostTokens)
		}
		for _, id := range p.Tokens {
			if id < 0 || id > math.MaxInt32 {
				return row, fmt.Errorf("token_ids has %d, which is no token", id)
			}
			row.Tokens = append(row.Tokens, int32(id))
		}
	}
	if m := bytes.TrimSpace(p.Messages); len(m) > 0 && string(m) != "null" {
		given++
		if err := workload.CheckMessages(m); err != nil {
			return row, err
		}
		row.Messages = string(m)
	}
	if given != 1 {
		return row, fmt.Errorf("%d of prompt, token_ids and messages are there; one is wanted", given)
	}
	var err error
	if p.Output != nil {
		if row.Output, err = wholeTokens("output_tokens", *p.Output); err != nil {
			return row, err
		}
	}
	if p.Arrival != nil {
		row.Arrival, err = instant("arrival", *p.Arrival, time.Second)
	}
	return row, err
}

// wholeTokens takes a number of tokens.
func wholeTokens(name string, n float64) (int, error) {
	if n < 1 || n > mostTokens || n != math.Trunc(n) {
		return 0, fmt.Errorf("%s is %v; a whole number from 1 to %d is allowed", name, n, mostTokens)
	}
	return int(n), nil
}

// instant takes a time since a file's beginning.
func instant(name string, n float64, unit time.Duration) (time.Duration, error) {
	const most = 10 * 365 * 24 * time.Hour
	if !(n >= 0 && n <= float64(most/unit)) {
		return 0, fmt.Errorf("%s is %v; a number of %s from 0 on is allowed", name, n, map[time.Duration]string{time.Second: "seconds", time.Millisecond: "milliseconds"}[unit])
	}
	return time.Duration(math.Round(n * float64(unit))).Round(time.Microsecond), nil
}
