package load

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"sync"

	"autotune/tuner/workload"
)

const (
	pathCompletions = "/v1/completions"
	pathChat        = "/v1/chat/completions"
)

// message is a completion request as it is sent.
type message struct {
	path   string
	body   []byte
	digest workload.Digest // of the prompt
}

// ids is memory for token ids, used again.
var ids = sync.Pool{New: func() any { return new([]int32) }}

// message writes a request of the workload, as it is sent in this repeat. The answer's length is forced, and both engines count tokens in every event.
func (r *run) message(q workload.Request) message {
	var prompt []byte
	path, key := pathCompletions, "prompt"
	switch {
	case q.Messages != "":
		path, key = pathChat, "messages"
		prompt = []byte(workload.MarkMessages(q.Messages, r.mark))
	case q.Text != "" && r.Spec.Endpoint == workload.Chat:
		path, key = pathChat, "messages"
		prompt = quote(nil, workload.MarkText(q.Text, r.mark))
		prompt = append(append([]byte(`[{"role":"user","content":`), prompt...), "}]"...)
	case q.Text != "":
		prompt = quote(nil, workload.MarkText(q.Text, r.mark))
	case len(q.Tokens) > 0:
		prompt = appendIDs(nil, workload.MarkTokens(q.Tokens, r.mark))
	default:
		buffer := ids.Get().(*[]int32)
		*buffer = workload.Prompt(r.StudySeed, r.Trial, r.Repeat, q, r.Vocab, (*buffer)[:0])
		prompt = appendIDs(make([]byte, 0, 6*len(*buffer)+2), *buffer)
		ids.Put(buffer)
	}
	b := make([]byte, 0, len(prompt)+256)
	b = quote(append(b, `{"model":`...), r.client.target.Model)
	b = append(append(append(b, `,"`...), key...), `":`...)
	b = append(b, prompt...)
	return message{path: path, body: append(appendLength(b, q.Output), r.rest...), digest: workload.DigestOf(prompt)}
}

// appendLength asks for so many tokens, no fewer.
func appendLength(b []byte, tokens int) []byte {
	b = strconv.AppendInt(append(b, `,"max_tokens":`...), int64(tokens), 10)
	b = strconv.AppendInt(append(b, `,"min_tokens":`...), int64(tokens), 10)
	return append(b, `,"ignore_eos":true`...)
}

// plainRest ends a body: no chance, streamed and counted.
const plainRest = `,"temperature":0,"stream":true,"stream_options":{"include_usage":true,"continuous_usage_stats":true}}`

// mostSeed keeps the seed of a body within what every engine takes for an integer.
const mostSeed = 1<<31 - 1

// restOf ends a workload's bodies: greedy and seeded unless its extra fields say otherwise, these fields, streamed and counted.
func restOf(s workload.Spec) []byte {
	fields := map[string]json.RawMessage{}
	if s.ExtraBody != "" && json.Unmarshal([]byte(s.ExtraBody), &fields) != nil {
		fields = nil // Validate refuses it
	}
	var b []byte
	if _, given := fields["temperature"]; !given {
		b = append(b, `,"temperature":0`...)
	}
	if _, given := fields["seed"]; !given {
		b = strconv.AppendUint(append(b, `,"seed":`...), s.Seed&mostSeed, 10)
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		b = append(append(quote(append(b, ','), name), ':'), fields[name]...)
	}
	return append(b, `,"stream":true,"stream_options":{"include_usage":true,"continuous_usage_stats":true}}`...)
}

func appendIDs(b []byte, ids []int32) []byte {
	b = append(b, '[')
	for i, id := range ids {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, int64(id), 10)
	}
	return append(b, ']')
}

func quote(b []byte, text string) []byte {
	quoted, err := json.Marshal(text)
	if err != nil { // never of a string
		return strconv.AppendQuote(b, text)
	}
	return append(b, quoted...)
}
