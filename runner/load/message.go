package load

import (
	"encoding/json"
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

// message writes a request of the workload. The answer's length is forced, and both engines count tokens in every event.
func (r *run) message(q workload.Request) message {
	var prompt []byte
	path, key := pathCompletions, "prompt"
	switch {
	case q.Text == "":
		buffer := ids.Get().(*[]int32)
		*buffer = workload.Prompt(r.StudySeed, r.Trial, r.Repeat, q, r.Vocab, (*buffer)[:0])
		prompt = appendIDs(make([]byte, 0, 6*len(*buffer)+2), *buffer)
		ids.Put(buffer)
	case r.Spec.Endpoint == workload.Chat:
		path, key = pathChat, "messages"
		prompt = quote(nil, q.Text)
		prompt = append(append([]byte(`[{"role":"user","content":`), prompt...), "}]"...)
	default:
		prompt = quote(nil, q.Text)
	}
	b := make([]byte, 0, len(prompt)+256)
	b = quote(append(b, `{"model":`...), r.client.target.Model)
	b = append(append(append(b, `,"`...), key...), `":`...)
	b = append(b, prompt...)
	return message{path: path, body: appendLength(b, q.Output), digest: workload.DigestOf(prompt)}
}

// appendLength ends a body: so many tokens, no fewer, no chance, streamed and counted.
func appendLength(b []byte, tokens int) []byte {
	b = strconv.AppendInt(append(b, `,"max_tokens":`...), int64(tokens), 10)
	b = strconv.AppendInt(append(b, `,"min_tokens":`...), int64(tokens), 10)
	return append(b, `,"ignore_eos":true,"temperature":0,"stream":true,"stream_options":{"include_usage":true,"continuous_usage_stats":true}}`...)
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
