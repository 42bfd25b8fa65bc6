package fake

import (
	"strconv"

	"autotune/runner/internal/lawtime"
)

// vocabulary is what the fake says, a word of four bytes a token.
const vocabulary = " ban cor dis fel gim hon jas kir lun mor nap pus rin sas tun vir"

const wordLength = 4

// appendText appends the text of n tokens, the first being token number from of its answer.
func appendText(b []byte, from, n int) []byte {
	const words = len(vocabulary) / wordLength
	for i := from; i < from+n; i++ {
		at := i % words * wordLength
		b = append(b, vocabulary[at:at+wordLength]...)
	}
	return b
}

// wire writes the JSON of one answer, as its engine does.
type wire struct {
	sglang  bool
	chat    bool
	id      string // with its prefix
	model   string // as JSON, with quotes
	created string // seconds since 1970
	prompt  int    // prompt tokens
	usage   bool   // the last chunk counts
	running bool   // every chunk counts
}

func (w *wire) object() string {
	switch {
	case w.chat:
		return "chat.completion.chunk"
	default:
		return "text_completion"
	}
}

// open starts a chunk: everything before its choices.
func (w *wire) open(b []byte) []byte {
	b = append(b, `data: {"id":"`...)
	b = append(b, w.id...)
	b = append(b, `","object":"`...)
	b = append(b, w.object()...)
	b = append(b, `","created":`...)
	b = append(b, w.created...)
	b = append(b, `,"model":`...)
	b = append(b, w.model...)
	return append(b, `,"choices":[`...)
}

// role is the first chunk of a chat: it carries no token.
func (w *wire) role(b []byte) []byte {
	b = w.open(b)
	b = append(b, `{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}]`...)
	return append(b, "}\n\n"...)
}

// tokens is a chunk with n tokens, the first being number from; finish is empty while more come. stamps is nil on the wall clock.
func (w *wire) tokens(b []byte, from, n int, finish string, stamps []int64, end int64) []byte {
	b = w.open(b)
	if w.chat {
		b = append(b, `{"index":0,"delta":{"content":"`...)
		b = appendText(b, from, n)
		b = append(b, `"},"logprobs":null,"finish_reason":`...)
	} else {
		b = append(b, `{"index":0,"text":"`...)
		b = appendText(b, from, n)
		b = append(b, `","logprobs":null,"finish_reason":`...)
	}
	if finish == "" {
		b = append(b, "null"...)
	} else {
		b = strconv.AppendQuote(b, finish)
	}
	switch {
	case w.sglang:
		b = append(b, `,"matched_stop":null}]`...)
	case w.chat:
		b = append(b, `,"token_ids":null}]`...)
	default:
		b = append(b, `,"stop_reason":null,"prompt_token_ids":null,"token_ids":null}]`...)
	}
	if w.running {
		b = w.count(b, from+n)
	}
	b = appendStamps(b, stamps)
	if stamps != nil && finish != "" {
		b = appendEnd(b, end)
	}
	return append(b, "}\n\n"...)
}

func (w *wire) count(b []byte, output int) []byte {
	b = append(b, `,"usage":{"prompt_tokens":`...)
	b = strconv.AppendInt(b, int64(w.prompt), 10)
	b = append(b, `,"total_tokens":`...)
	b = strconv.AppendInt(b, int64(w.prompt+output), 10)
	b = append(b, `,"completion_tokens":`...)
	b = strconv.AppendInt(b, int64(output), 10)
	return append(b, '}')
}

// appendStamps writes the instants of a chunk's tokens: the first, then differences.
func appendStamps(b []byte, stamps []int64) []byte {
	if len(stamps) == 0 {
		return b
	}
	b = append(b, `,"`+lawtime.StampsField+`":[`...)
	last := int64(0)
	for i, at := range stamps {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, at-last, 10)
		last = at
	}
	return append(b, ']')
}

func appendEnd(b []byte, end int64) []byte {
	b = append(b, `,"`+lawtime.EndField+`":`...)
	return strconv.AppendInt(b, end, 10)
}

// close ends a stream: the chunk that counts, without choices, when it was asked for, and the end mark. end is negative on the wall clock.
func (w *wire) close(b []byte, output int, end int64) []byte {
	if w.usage {
		b = append(w.open(b), ']')
		b = w.count(b, output)
		if end >= 0 {
			b = appendEnd(b, end)
		}
		b = append(b, "}\n\n"...)
	}
	return append(b, "data: [DONE]\n\n"...)
}

// failure is an error object inside a stream.
func (w *wire) failure(b []byte, message string, end int64) []byte {
	b = append(b, `data: {"error":{"message":`...)
	b = strconv.AppendQuote(b, message)
	b = append(b, `,"type":"InternalServerError","param":null,"code":500}`...)
	if end >= 0 {
		b = appendEnd(b, end)
	}
	return append(b, "}\n\ndata: [DONE]\n\n"...)
}

// whole is the answer to a request that wants no stream.
func (w *wire) whole(b []byte, output int, finish string) []byte {
	b = append(b, `{"id":"`...)
	b = append(b, w.id...)
	if w.chat {
		b = append(b, `","object":"chat.completion","created":`...)
	} else {
		b = append(b, `","object":"text_completion","created":`...)
	}
	b = append(b, w.created...)
	b = append(b, `,"model":`...)
	b = append(b, w.model...)
	if w.chat {
		b = append(b, `,"choices":[{"index":0,"message":{"role":"assistant","content":"`...)
		b = appendText(b, 0, output)
		b = append(b, `"},"logprobs":null,"finish_reason":`...)
	} else {
		b = append(b, `,"choices":[{"index":0,"text":"`...)
		b = appendText(b, 0, output)
		b = append(b, `","logprobs":null,"finish_reason":`...)
	}
	b = strconv.AppendQuote(b, finish)
	b = append(b, "}]"...)
	return append(w.count(b, output), '}')
}
