package load

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"autotune/tuner/metric"
)

const (
	// idleLimit is how long an unused connection is kept: less than the 5 s after which the engines' HTTP server (uvicorn) drops one,
	// else a request could be written to a connection that is just being closed, and would fail by our fault.
	idleLimit = 3 * time.Second
	// dialLimit is more than a loaded server on the same machine takes to accept.
	dialLimit = 30 * time.Second
	// drainLimit is how long, after the end mark, the end of the body is awaited, so that the connection serves again: engines send it a
	// moment later. The next request of a capped load waits for it, so it is short; a connection that takes longer is closed.
	drainLimit = 2 * time.Millisecond
	// longestRefusal bounds what is read of an answer other than 200, in bytes.
	longestRefusal = 16 << 10
)

// client speaks to one server.
type client struct {
	target    Target
	transport *http.Transport
	secrets   *strings.Replacer
	dropped   atomic.Int64 // requests that could not be sent for want of files, ports or memory of this machine
}

func newClient(t Target) *client {
	dialer := &net.Dialer{Timeout: dialLimit}
	return &client{target: t, secrets: hideSecrets(t), transport: &http.Transport{
		DialContext: dialer.DialContext, DisableCompression: true, MaxIdleConnsPerHost: 1 << 16, IdleConnTimeout: idleLimit,
		ReadBufferSize: 16 << 10, WriteBufferSize: 16 << 10,
	}}
}

func (c *client) close() { c.transport.CloseIdleConnections() }

// hideSecrets replaces what is sent to identify us, should a server repeat it in an error.
func hideSecrets(t Target) *strings.Replacer {
	var pairs []string
	hide := func(s string) {
		if s = strings.TrimSpace(s); s != "" {
			pairs = append(pairs, s, "***")
		}
	}
	hide(t.APIKey)
	for _, s := range t.Secrets {
		hide(s)
	}
	for name, values := range t.Headers {
		for _, v := range values {
			if lower := strings.ToLower(name); strings.Contains(lower, "auth") || strings.Contains(lower, "key") || strings.Contains(lower, "token") || strings.Contains(lower, "cookie") {
				hide(strings.TrimPrefix(v, "Bearer "))
			}
		}
	}
	return strings.NewReplacer(pairs...)
}

// request makes an HTTP request; extra are pairs of a header's name and value.
func (c *client) request(ctx context.Context, method, path string, body []byte, extra ...string) (*http.Request, error) {
	r, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(c.target.URL, "/")+path, bytes.NewReader(body))
	if err != nil {
		var bad *url.Error
		if errors.As(err, &bad) {
			err = bad.Err // without the address, which may hold a password
		}
		return nil, fmt.Errorf("the server's address cannot be used: %w", err)
	}
	for name, values := range c.target.Headers {
		r.Header[http.CanonicalHeaderKey(name)] = values
	}
	r.Header.Set("User-Agent", "autotune")
	r.Header.Set("Accept-Encoding", "identity") // whoever compresses a stream holds tokens back
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if c.target.APIKey != "" {
		r.Header.Set("Authorization", "Bearer "+c.target.APIKey)
	}
	for i := 0; i+1 < len(extra); i += 2 {
		r.Header.Set(extra[i], extra[i+1])
	}
	return r, nil
}

// exchange is one completion: what is sent, and what is told while its answer comes.
type exchange struct {
	answer
	path  string
	body  []byte
	extra []string // headers
	// ended is told once, when the record is complete. cut is why we ended it.
	ended func(cut *cutOff)
}

// talk sends the request, follows its answer, and completes the record. Sent is the caller's, and so is End in law time where the server gave none.
func (c *client) talk(ctx context.Context, x *exchange) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	response, err := c.send(ctx, x)
	if err != nil {
		text := plain(err)
		if dropped(err) {
			c.dropped.Add(1)
			text = "this machine has no room for another connection: " + text
		}
		c.conclude(ctx, x, metric.ErrConnect, text)
		return
	}
	defer response.Body.Close()
	x.rec.Status, x.kind = response.StatusCode, otherKind(response.Header)
	if response.StatusCode != http.StatusOK {
		c.refused(ctx, x, response)
		return
	}
	body, err := opened(response)
	if err == nil {
		err = x.follow(body)
	}
	x.settle()
	class, detail := x.verdict(err)
	if x.done {
		timer := time.AfterFunc(drainLimit, cancel)
		_, _ = io.Copy(io.Discard, response.Body)
		timer.Stop()
	}
	if class != metric.ErrTruncated { // what has come whole counts, even if it was about to be cut off
		ctx = context.WithoutCancel(ctx)
	}
	c.conclude(ctx, x, class, detail)
}

// send is one round trip. A redirect is not followed: a completion's answer comes from the server under test or from nobody. Nothing is sent
// a second time, whatever the status: a request that was refused is a refused request.
func (c *client) send(ctx context.Context, x *exchange) (*http.Response, error) {
	r, err := c.request(ctx, http.MethodPost, x.path, x.body, x.extra...)
	if err != nil {
		return nil, err
	}
	return c.transport.RoundTrip(r)
}

// refused notes an answer other than 200, in the server's words.
func (c *client) refused(ctx context.Context, x *exchange, response *http.Response) {
	text, err := readRefusal(response)
	if !x.law && len(text) > 0 {
		x.rec.FirstByte = x.now()
	}
	if x.law {
		x.refusedAt(response.Header)
	}
	if err != nil && ctx.Err() != nil {
		c.conclude(ctx, x, metric.ErrRefused, "")
		return
	}
	detail := response.Status
	if wait := response.Header.Get("Retry-After"); wait != "" {
		detail += " (Retry-After: " + wait + ")"
	}
	if to := response.Header.Get("Location"); to != "" && response.StatusCode/100 == 3 {
		detail += " to " + withoutSecrets(to) + ", which is not followed: give the server's own address"
	}
	if said := shorten(errorText(bytes.TrimSpace(text))); said != "" {
		detail += ": " + said
	}
	c.conclude(context.WithoutCancel(ctx), x, metric.ErrRefused, detail)
}

// conclude completes the record. A context that has ended is the reason, whatever it made the connection say.
func (c *client) conclude(ctx context.Context, x *exchange, class, detail string) {
	cut := cutBy(ctx)
	if cut != nil && class != "" {
		class, detail = cut.class, cut.detail
	}
	x.rec.Error, x.rec.Detail = class, c.secrets.Replace(shorten(detail))
	switch {
	case x.law:
	case x.done:
		x.rec.End = x.over
	default:
		x.rec.End = x.now()
	}
	x.ended(cut)
}
