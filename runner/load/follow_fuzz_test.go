package load

import (
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"autotune/tuner/metric"
)

// Whatever a body holds, and however it is cut into reads: it gets a verdict, nothing panics, and what counts does not depend on the cuts.
func FuzzFollow(f *testing.F) {
	for _, text := range []string{tok + last + usage2 + endOfAll, strings.ReplaceAll(tok+last+usage2+endOfAll, "\n", "\r\n"), "\xef\xbb\xbf: x\nid: 1\nevent: error\ndata: {\"error\":{}}\n\n",
		"data: null\n\ndata: {}{}[DONE]\n\n", "data: {\"choices\":[null],\"usage\":{\"completion_tokens\":\"2\"}}", "<html>", "data: {\"choices\":[{\"text\":\"\\ud83d\"}]}\rdata", "event: ping\ndata\n\ndata:[DONE]"} {
		f.Add([]byte(text))
	}
	read := func(body []byte, small bool) (*answer, string) {
		a := &answer{rec: &metric.Record{Status: 200, AskedOut: 2}, heard: func(int, time.Duration) {}, now: zero}
		in := strings.NewReader(string(body))
		var err error
		if small {
			err = a.follow(iotest.OneByteReader(in))
		} else {
			err = a.follow(in)
		}
		a.settle()
		class, _ := a.verdict(err)
		return a, class
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		a, class := read(body, false)
		b, other := read(body, true)
		if class != other || a.rec.Output != b.rec.Output || len(a.rec.Tokens) != len(b.rec.Tokens) {
			t.Errorf("whole: %q, %d tokens in %d events; byte by byte: %q, %d in %d", class, a.rec.Output, len(a.rec.Tokens), other, b.rec.Output, len(b.rec.Tokens))
		}
		if total := sum(a.rec.Tokens); class == "" && total != a.rec.Output {
			t.Errorf("%d tokens, the events carry %d", a.rec.Output, total)
		}
	})
}
