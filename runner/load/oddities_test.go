package load

import (
	"net"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"autotune/tuner/metric"
)

// Streams that are good however odd they look: what counts is how many events carried tokens, and how many tokens each.
func TestOddStreams(t *testing.T) {
	ids := func(events ...string) string { // as some gateways number them
		var b strings.Builder
		for i, e := range events {
			b.WriteString("id: " + string(rune('0'+i)) + "\n" + e + "id: x\ndata:\n\n: ping\n\n")
		}
		return b.String()
	}
	long := strings.Repeat("x", 1<<20)
	for _, c := range []struct {
		name   string
		asked  int
		body   string
		tokens []int // by event
	}{
		{"several tokens in an event, counted", 5, chat(`{"content":"a b"}`, usageOf(3, 2)) + chat(`{"content":"c d e"}`, usageOf(3, 5)) + lengthOut + usageEvent(3, 5) + endOfAll, []int{2, 3}},
		{"several tokens in an event, not counted", 5, chat(`{"content":"a"}`, "") + chat(`{"content":"b c"}`, "") + chat(`{"content":"d e"}`, "") + lengthOut + usageEvent(3, 5) + endOfAll, []int{1, 2, 2}},
		{"role first, empty deltas between", 2, chat(`{"role":"assistant"}`, "") + chat(`{"role":"assistant","content":""}`, "") + chat(`{"content":"a"}`, "") + chat(`{}`, "") + chat(`{"content":""}`, "") + chat(`{"content":"b"}`, "") + lengthOut + usageEvent(3, 2) + endOfAll, []int{1, 1}},
		{"role first, counted as none", 2, chat(`{"role":"assistant","content":""}`, usageOf(3, 0)) + chat(`{"content":"a"}`, usageOf(3, 1)) + chat(`{"content":"b"}`, usageOf(3, 2)) + lengthOut + usageEvent(3, 2) + endOfAll, []int{1, 1}},
		{"reasoning_content, then content", 3, chat(`{"reasoning_content":"hm"}`, "") + chat(`{"reasoning_content":"so","content":null}`, "") + chat(`{"content":"b","reasoning_content":null}`, "") + lengthOut + usageEvent(3, 3) + endOfAll, []int{1, 1, 1}},
		{"reasoning, then content", 3, chat(`{"reasoning":"hm"}`, "") + chat(`{"reasoning":"so"}`, "") + chat(`{"content":"b"}`, "") + lengthOut + usageEvent(3, 3) + endOfAll, []int{1, 1, 1}},
		{"a tool call", 2, chat(`{"tool_calls":[{"index":0,"function":{"name":"f","arguments":""}}]}`, "") + chat(`{"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]}`, "") + lengthOut + usageEvent(3, 2) + endOfAll, []int{1, 1}},
		{"usage in every event and none at the end", 2, chat(`{"content":"a"}`, usageOf(3, 1)) + chat(`{"content":"b"}`, usageOf(3, 2)) + lengthOut + endOfAll, []int{1, 1}},
		{"usage with the finish reason", 2, chat(`{"content":"a"}`, "") + chat(`{"content":"b"}`, "") + strings.Replace(lengthOut, "]}", "]"+usageOf(3, 2)+"}", 1) + endOfAll, []int{1, 1}},
		{"usage whose counts are null until the end", 2, chat(`{"content":"a"}`, `,"usage":{"prompt_tokens":null,"completion_tokens":null}`) + chat(`{"content":"b"}`, `,"usage":{}`) + lengthOut + usageEvent(3, 2) + `data: {"choices":[],"usage":{"completion_tokens":null}}` + "\n\n" + endOfAll, []int{1, 1}},
		{"counts that are decimal numbers", 2, chat(`{"content":"a"}`, "") + chat(`{"content":"b"}`, "") + lengthOut + `data: {"choices":[],"usage":{"prompt_tokens":3.0,"completion_tokens":2e0}}` + "\n\n" + endOfAll, []int{1, 1}},
		{"usage after the end of the choices, no end mark", 2, tok + last + usage2, []int{1, 1}},
		{"the last event without its blank line", 2, tok + last + strings.TrimRight(usage2, "\n"), []int{1, 1}},
		{"CRLF", 2, strings.ReplaceAll(tok+last+usage2+endOfAll, "\n", "\r\n"), []int{1, 1}},
		{"comments within an event", 2, ": a\n" + tok + ":b\r\n: c\n\n" + ":\n" + last + usage2 + endOfAll, []int{1, 1}},
		{"no space after data", 2, strings.ReplaceAll(tok+last+usage2+endOfAll, "data: ", "data:"), []int{1, 1}},
		{"two spaces after data", 2, strings.ReplaceAll(tok+last+usage2+endOfAll, "data: ", "data:  "), []int{1, 1}},
		{"ids and empty data", 2, ids(tok, last, usage2) + endOfAll, []int{1, 1}},
		{"named events", 2, "event: message\n" + tok + "event: delta\n" + last + usage2 + "event: done\n" + endOfAll, []int{1, 1}},
		{"a byte order mark", 2, "\xef\xbb\xbf" + tok + last + usage2 + endOfAll, []int{1, 1}},
		{"a line of 1 MiB", 2, strings.Replace(tok, `"a"`, `"`+long+`"`, 1) + last + usage2 + endOfAll, []int{1, 1}},
		{"letters of several bytes", 2, strings.Replace(tok, `"a"`, `"中é🙂"`, 1) + last + usage2 + endOfAll, []int{1, 1}},
		{"half a letter", 2, strings.Replace(tok, `"a"`, "\"\xe4\xb8\"", 1) + last + usage2 + endOfAll, []int{1, 1}},
		{"what comes after the end mark", 2, tok + last + usage2 + endOfAll + "data: {\"error\":\"too late to matter\"}\n\n", []int{1, 1}},
	} {
		for how, say := range map[string]func(net.Conn){
			"to the connection's end": func(conn net.Conn) { put(conn, plainHead+c.body) },
			"a chunk an event": func(conn net.Conn) {
				put(conn, chunkedHead)
				for _, event := range strings.SplitAfter(c.body, "\n\n") {
					if event != "" {
						put(conn, chunkOf(event))
					}
				}
				put(conn, "0\r\nX-Checksum: 7\r\nServer-Timing: total;dur=3\r\n\r\n") // with trailers
			},
			"chunks of 7 bytes": func(conn net.Conn) {
				var b strings.Builder
				b.WriteString(chunkedHead)
				for rest := c.body; rest != ""; {
					n := min(7, len(rest))
					b.WriteString(chunkOf(rest[:n]))
					rest = rest[n:]
				}
				put(conn, b.String()+lastChunk)
			},
			"gzip": func(conn net.Conn) {
				put(conn, strings.Replace(plainHead, "\r\n\r\n", "\r\nContent-Encoding: gzip\r\n\r\n", 1)+gzipped(c.body))
			},
			"deflate": func(conn net.Conn) {
				put(conn, strings.Replace(plainHead, "\r\n\r\n", "\r\nContent-Encoding: deflate\r\n\r\n", 1)+deflated(c.body))
			},
		} {
			s := serveRaw(t, func(conn *net.TCPConn, _ int) bool { say(conn); return false })
			r, _ := rawOne(t, s.url(), c.asked, Options{})
			if !r.OK() || r.Input != 3 || r.Output != c.asked {
				t.Errorf("%s, %s: %s %q, %d in, %d out", c.name, how, r.Error, r.Detail, r.Input, r.Output)
				continue
			}
			if d := cmp.Diff(c.tokens, counts(r.Tokens)); d != "" {
				t.Errorf("%s, %s: tokens by event (-want +got):\n%s", c.name, how, d)
			}
		}
	}
}

// A letter that comes in two reads is one letter, and a line end in two reads is one line end: the reads are made by hand here.
func TestSplitReads(t *testing.T) {
	body := strings.ReplaceAll(strings.Replace(tok, `"a"`, `"中é🙂"`, 1)+last+usage2+endOfAll, "\n", "\r\n")
	for cut := range len(body) {
		x := &answer{rec: &metric.Record{AskedOut: 2}, heard: func(int, time.Duration) {}, now: zero}
		pieces := []string{body[:cut], body[cut:]}
		if cut == 0 {
			pieces = pieces[1:]
		}
		err := x.follow(&reader{pieces: pieces})
		x.settle()
		if class, detail := x.verdict(err); class != "" || len(x.rec.Tokens) != 2 {
			t.Fatalf("cut after %d bytes: %s %s, %d events", cut, class, detail, len(x.rec.Tokens))
		}
	}
}
