package load

import (
	"net"
	"strings"
	"testing"

	"autotune/tuner/metric"
)

// What public reports on clients, gateways and servers say of bodies that were misread, with what each is by its cause. Two tokens are asked for
// unless the row says otherwise. 20 of the 27 rows were right when they were first run.
func TestReportedStreams(t *testing.T) {
	text := func(s string) string { return strings.Replace(tok, `"a"`, `"`+s+`"`, 1) }
	end := last + usage2 + endOfAll
	deep := strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000)
	for _, c := range []struct {
		name   string // the report's kind
		source string
		body   string
		class  string // empty: a success
		detail string
	}{
		{"separators of lines that are none here: U+2028, U+2029, U+0085, vertical tab", "openai/openai-python#1230, BerriAI/litellm#30602", text("a\u2028\u2029\u0085\v\f") + end, "", ""},
		{"the words of the protocol within a text", "run-llama/llama_index#22223", text(`log: data: 42 [DONE] event: error`) + end, "", ""},
		{"a choice that is null", "NousResearch/hermes-agent#106404", `data: {"choices":[null]}` + "\n\n" + tok + end, "", ""},
		{"choices that are null", "kind", `data: {"choices":null,"usage":null}` + "\n\n" + tok + end, "", ""},
		{"a delta that is no object", "NousResearch/hermes-agent#106404", `data: {"choices":[{"index":0,"delta":"role","finish_reason":null}]}` + "\n\n" + tok + end, "", ""},
		{"a first event about content filters, without choices", "kind: Azure", `data: {"choices":[],"prompt_filter_results":[{"prompt_index":0,"content_filter_results":{}}]}` + "\n\n" + tok + end, "", ""},
		{"heartbeats with data", "kind: gateways", "data: {}\n\n" + tok + "event: ping\ndata: {\"type\":\"ping\"}\n\n" + end, "", ""},
		{"heartbeats that are no object", "kind: gateways", "data: null\n\n" + tok + "event: ping\ndata: ping\n\n" + end, "", ""},
		{"no blank line between events", "gatling/gatling#4602", strings.ReplaceAll(tok+last+usage2+endOfAll, "\n\n", "\n") + "\n", "", ""},
		{"two events in one line", "bentoml/OpenLLM#864", strings.Replace(tok, "\n\n", "", 1) + strings.TrimPrefix(last, "data: ") + usage2 + endOfAll, "", ""},
		{"numbers that JSON does not know", "kind: NaN logprobs", strings.Replace(tok, `"finish_reason":null`, `"logprobs":{"token_logprobs":[NaN,-Infinity]},"finish_reason":null`, 1) + end, "", ""},
		{"half a surrogate pair", "kind: emoji by token", text(`\ud83d`) + end, "", ""},
		{"a control character in a text", "kind", text("\x00\x1b") + end, "", ""},
		{"usage within the last choice's event, and choices with it", "vllm-project/vllm#12394", tok + strings.Replace(last, "]}", "]"+usageOf(3, 2)+"}", 1) + endOfAll, "", ""},
		{"usage without choices", "vllm-project/production-stack#873", tok + last + `data: {"usage":{"prompt_tokens":3,"completion_tokens":2}}` + "\n\n" + endOfAll, "", ""},
		{"a usage of nothing after the true one", "kind: gateways that add one", tok + last + usage2 + usageEvent(0, 0) + endOfAll, "", ""},
		{"counts as texts", "kind: gateways", tok + last + `data: {"choices":[],"usage":{"prompt_tokens":"3","completion_tokens":"2"}}` + "\n\n" + endOfAll, "", ""},
		{"an end mark in quotes", "kind: gateways", tok + last + usage2 + "data: \"[DONE]\"\n\n", "", ""},
		{"the end mark twice", "Dstack-TEE/private-ai-gateway#98", tok + end + endOfAll, "", ""},
		{"nesting without end", "kind: hostile", `data: {"choices":[{"index":0,"text":"a","x":` + deep + `}]}` + "\n\n" + end, "", ""},
		{"a finish reason as an object", "kind: SGLang's own form", tok + strings.Replace(last, `"length"`, `{"type":"length","length":2}`, 1) + usage2 + endOfAll, "", ""},
		{"an error and then the end mark", "Augustas11/macprovider#186", tok + `data: {"error":{"message":"Provider disconnected during streaming","type":"server_error","code":"provider_disconnected"}}` + "\n\n" + endOfAll, metric.ErrStream, "Provider disconnected"},
		{"an error whose type says so", "kind: Anthropic's form", tok + `data: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}` + "\n\n" + endOfAll, metric.ErrStream, "Overloaded"},
		{"an error beside a choice", "kind: OpenRouter", tok + `data: {"error":{"code":502,"message":"upstream"},"choices":[{"index":0,"delta":{"content":""},"finish_reason":"error"}]}` + "\n\n" + endOfAll, metric.ErrStream, "upstream"},
		{"an error's text with its type", "huggingface/text-generation-inference, kind", tok + `data:{"error":"Request failed during generation: Server error: CANCELLED","error_type":"generation"}` + "\n\n", metric.ErrStream, "CANCELLED"},
		{"a stop without a word", "BerriAI/litellm#33222", `data: {"choices":[{"index":0,"delta":{"role":"assistant"},"finish_reason":null}]}` + "\n\n" + stopped + endOfAll, metric.ErrEmpty, ""},
		{"no usage although it was asked for", "TheTom/vllm-swift#19", tok + last + endOfAll, metric.ErrNoUsage, "no usage"},
	} {
		for how, say := range map[string]func(net.Conn){
			"to the connection's end": func(conn net.Conn) { put(conn, plainHead+c.body) },
			"chunked":                 func(conn net.Conn) { put(conn, chunkedHead+chunkOf(c.body)+lastChunk) },
		} {
			s := serveRaw(t, func(conn *net.TCPConn, _ int) bool { say(conn); return false })
			r, _ := rawOne(t, s.url(), 2, Options{})
			if r.Error != c.class || !strings.Contains(r.Detail, c.detail) || c.class == "" && (r.Output != 2 || r.Input != 3 || sum(r.Tokens) != 2) {
				t.Errorf("%s (%s), %s: class %q, %q, %d in, %d out, tokens %v; want %q %q", c.name, c.source, how, r.Error, shorten(r.Detail), r.Input, r.Output, counts(r.Tokens), c.class, c.detail)
			}
		}
	}
}

// A connection that breaks after the whole answer, its finish reason and its usage, breaks no answer; one that breaks before the usage does.
func TestBrokenAfterTheAnswer(t *testing.T) {
	for body, class := range map[string]string{tok + last + usage2: "", tok + last: metric.ErrTruncated, tok + last + usageEvent(3, 1): metric.ErrTruncated} {
		s := serveRaw(t, func(conn *net.TCPConn, _ int) bool { put(conn, chunkedHead+chunkOf(body)); return false })
		if r, _ := rawOne(t, s.url(), 2, Options{}); r.Error != class || class == "" && r.Output != 2 {
			t.Errorf("%q: class %q, %q, %d tokens; want %q", body, r.Error, r.Detail, r.Output, class)
		}
	}
}
