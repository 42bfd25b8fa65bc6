package load

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"autotune/tuner/metric"
)

// BenchmarkFollow is what following one event costs, without the connection.
func BenchmarkFollow(b *testing.B) {
	var body strings.Builder
	const tokens = 1000
	for i := 1; i <= tokens; i++ {
		finish := "null"
		if i == tokens {
			finish = `"length"`
		}
		fmt.Fprintf(&body, `data: {"id":"cmpl-9f2c1f0f7f0e4f5e8a55c0c3ad0c3c75","object":"text_completion","created":1796193334,"model":"bench","choices":[{"index":0,"text":" token","logprobs":null,"finish_reason":%s,"stop_reason":null}],"usage":{"prompt_tokens":16,"total_tokens":%d,"completion_tokens":%d}}`+"\n\n", finish, 16+i, i)
	}
	text := body.String() + endOfAll
	b.ReportAllocs()
	for range b.N {
		x := &answer{rec: &metric.Record{AskedOut: tokens, Tokens: make([]metric.Event, 0, tokens)}, heard: func(int, time.Duration) {}, now: zero}
		if err := x.follow(strings.NewReader(text)); err != nil || len(x.rec.Tokens) != tokens {
			b.Fatal(err, len(x.rec.Tokens))
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/tokens, "ns/event")
}
