package load

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"syscall"

	"autotune/tuner/workload"
)

// The filter of the public benchmark of vLLM on this data: prompts and answers too short to tell anything, and long ones that a server of a
// small context would refuse, are left out. Other tools filter otherwise, so their "ShareGPT" is another workload.
const (
	shortestTurn  = 4    // tokens, of the prompt and of the answer
	longestPrompt = 1024 // tokens
	longestPair   = 2048 // tokens, prompt and answer together
)

// bytesPerToken estimates lengths without a tokenizer: English has about four letters a token, and a Chinese letter, which takes three
// bytes, is most of a token. The estimate chooses rows and forces answers' lengths; what is measured is counted by the server.
const bytesPerToken = 4

// conversation is one element of the public format.
type conversation struct {
	Turns []struct {
		From  string `json:"from"`
		Value string `json:"value"`
	} `json:"conversations"`
}

// readShareGPT reads the public ShareGPT format: a list of {"conversations": [{"from", "value"}, ...]}. A row is the first two turns of a
// conversation, whoever speaks; those outside the filter above, by estimated lengths, are dropped.
func readShareGPT(in io.Reader, forced int) (rows []workload.Row, dropped int, err error) {
	if rows, dropped, err = readConversations(in, forced); err != nil {
		return nil, 0, err
	}
	if len(rows) == 0 {
		return nil, 0, fmt.Errorf("no conversation of it can be used: two turns are needed, of %d tokens or more each, at most %d for the prompt and %d together (%d bytes are taken for a token)",
			shortestTurn, longestPrompt, longestPair, bytesPerToken)
	}
	return rows, dropped, nil
}

// reason is a file error without the path, which its reader names already.
func reason(err error) error {
	var number syscall.Errno
	if errors.As(err, &number) {
		return number
	}
	return err
}

func readConversations(in io.Reader, forced int) (rows []workload.Row, dropped int, err error) {
	decoder := json.NewDecoder(in)
	const want = `a list of {"conversations": [{"from": ..., "value": ...}, ...]} is wanted`
	opening, err := decoder.Token()
	switch {
	case errors.Is(err, io.EOF):
		return nil, 0, fmt.Errorf("it is empty; %s", want)
	case err != nil:
		return nil, 0, fmt.Errorf("it is no JSON (%w); %s", err, want)
	case opening != json.Delim('['):
		return nil, 0, fmt.Errorf("it begins with %v; %s", opening, want)
	}
	for n := 1; decoder.More(); n++ {
		var c conversation
		if err := decoder.Decode(&c); err != nil {
			return nil, 0, fmt.Errorf("element %d, before byte %d: %w; %s", n, decoder.InputOffset(), sentence(err), want)
		}
		if row, ok := c.row(forced); ok {
			rows = append(rows, row)
		} else {
			dropped++
		}
	}
	if _, err := decoder.Token(); err != nil {
		return nil, 0, fmt.Errorf("after element %d: %w", len(rows)+dropped, sentence(err))
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, 0, fmt.Errorf("something follows the end of the list; %s", want)
	}
	return rows, dropped, nil
}

// sentence says what a decoder's error means to whoever made the file.
func sentence(err error) error {
	var wrong *json.UnmarshalTypeError
	switch {
	case errors.As(err, &wrong):
		return fmt.Errorf("%s is a %s", firstOf(wrong.Field, "it"), wrong.Value)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("the file ends in the middle; it may not be downloaded completely")
	default:
		return err
	}
}

func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// row is the first two turns, when they are within the filter. Where another length is forced on all answers that one counts for both turns together, and the
// row's own answer may be short, as in vLLM's benchmark.
func (c *conversation) row(forced int) (workload.Row, bool) {
	if len(c.Turns) < 2 {
		return workload.Row{}, false
	}
	prompt, answer := tokens(c.Turns[0].Value), tokens(c.Turns[1].Value)
	length := answer
	if forced > 0 {
		length = forced
	}
	if prompt < shortestTurn || forced == 0 && answer < shortestTurn || prompt > longestPrompt || prompt+length > longestPair {
		return workload.Row{}, false
	}
	return workload.Row{Prompt: c.Turns[0].Value, Output: max(1, answer)}, true
}

// tokens estimates a text's length.
func tokens(text string) int { return (len(text) + bytesPerToken - 1) / bytesPerToken }
