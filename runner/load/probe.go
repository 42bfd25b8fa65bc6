package load

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"

	"autotune/runner/internal/lawtime"
	"autotune/tuner/metric"
	"autotune/tuner/workload"
)

const (
	// detectLimit is how long a server may take to say whether it keeps law time.
	detectLimit = 5 * time.Second
	// probeTokens and probeText make the readiness request: short, but more than the first token.
	probeTokens = 4
	probeText   = "Hello, who are you?"
)

// ErrRefused is in Probe's error when the server answered with another status than 200.
var ErrRefused = errors.New(metric.ErrRefused)

// Probe asks for one real streamed completion; nil when at least one token came and the stream ended well.
func Probe(ctx context.Context, t Target) error {
	c := newClient(t)
	defer c.close()
	body := quote([]byte(`{"model":`), t.Model)
	body = quote(append(body, `,"prompt":`...), probeText)
	start := time.Now()
	x := &exchange{path: pathCompletions, body: append(appendLength(body, probeTokens), plainRest...)}
	x.rec = &metric.Record{}
	x.now = func() time.Duration { return time.Since(start) }
	x.heard = func(int, time.Duration) {}
	x.ended = func(*cutOff) {}
	c.talk(ctx, x)
	switch r := x.rec; {
	case ctx.Err() != nil && !r.OK():
		return fmt.Errorf("asking for a completion: %w", ctx.Err())
	case r.OK(), r.Error == metric.ErrNoUsage: // a server that does not count is ready all the same; the measurement says that it cannot be used
		return nil
	case r.Error == metric.ErrRefused:
		return fmt.Errorf("asking for a completion: %w: %s", ErrRefused, r.Detail)
	default:
		return fmt.Errorf("asking for a completion: %s: %s", r.Error, r.Detail)
	}
}

// Warm sends the workload's warm-up requests, whose answers are dropped; nothing is sent in law time, where nothing is ever cold. They
// have the shapes of the workload's first requests and contents of their own. An error says how many failed.
func Warm(ctx context.Context, t Target, o Options) error {
	if o.LawTime || o.Spec.Warmup <= 0 {
		return nil
	}
	o.Repeat, o.Observe, o.FailFast = workload.WarmupRepeat, nil, 0
	r, err := newRun(t, o)
	if err != nil {
		return err
	}
	defer r.client.close()
	measured := r.requests
	warm := make([]workload.Request, o.Spec.Warmup)
	for i := range warm {
		warm[i] = measured[i%len(measured)]
		warm[i].Index, warm[i].Arrival, warm[i].Turn, warm[i].Think = i, 0, 0, 0
	}
	o.Requests = slices.Clip(warm)
	if r, err = newRun(t, o); err != nil {
		return err
	}
	defer r.client.close()
	_, _ = r.wallTime(ctx)
	failed, first := 0, metric.Record{}
	for _, rec := range r.records {
		if !rec.OK() {
			if failed++; failed == 1 {
				first = rec
			}
		}
	}
	switch {
	case failed == 0:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	default:
		return fmt.Errorf("%d of %d warm-up requests failed, the first: %s: %s", failed, len(r.records), first.Error, first.Detail)
	}
}

// DetectLawTime tells whether a server keeps law time.
func DetectLawTime(ctx context.Context, url string) bool {
	c := newClient(Target{URL: url})
	defer c.close()
	ctx, cancel := context.WithTimeout(ctx, detectLimit)
	defer cancel()
	status, text, err := c.ask(ctx, http.MethodGet, lawtime.Path, nil)
	var hello lawtime.Hello
	return err == nil && status == http.StatusOK && json.Unmarshal(text, &hello) == nil && hello.Clock == string(metric.Law)
}

// ask makes a short call and reads its answer.
func (c *client) ask(ctx context.Context, method, path string, body []byte) (status int, text []byte, err error) {
	r, err := c.request(ctx, method, path, body)
	if err != nil {
		return 0, nil, err
	}
	response, err := c.transport.RoundTrip(r)
	if err != nil {
		return 0, nil, errors.New(plain(err))
	}
	defer response.Body.Close()
	text, err = io.ReadAll(io.LimitReader(response.Body, longestRefusal))
	return response.StatusCode, bytes.TrimSpace(text), err
}
