package load

import (
	"compress/gzip"
	"compress/zlib"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"syscall"
	"unicode/utf8"

	"autotune/tuner/metric"
)

// longestDetail bounds the text of a failure, in letters.
const longestDetail = 300

// verdict says whether an answer of status 200 is a success. broken is what ended its body too early.
func (a *answer) verdict(broken error) (class, detail string) {
	r := a.rec
	switch {
	case a.failed:
		return metric.ErrStream, a.failure
	case errors.Is(broken, errUnreadable), errors.Is(broken, errLong), errors.Is(broken, errEncoding), errors.Is(broken, gzip.ErrHeader), errors.Is(broken, zlib.ErrHeader):
		return metric.ErrStream, broken.Error()
	case broken != nil && !a.whole():
		return metric.ErrTruncated, "the connection broke within the stream: " + plain(broken)
	case !a.done && a.finish == "":
		detail = "the stream ended without a finish reason and without [DONE]"
		if a.odd != "" {
			detail += ": " + a.odd
		}
		return metric.ErrTruncated, detail
	case a.finish != "" && !slices.Contains(finishes, a.finish):
		return metric.ErrAborted, "finish reason " + a.finish
	case !a.counted && len(r.Tokens) > 0:
		return metric.ErrNoUsage, "the stream ended well, but reported no usage"
	case r.Output == 0:
		return metric.ErrEmpty, "the stream ended well, without any token"
	case len(r.Tokens) == 0:
		return metric.ErrEmpty, fmt.Sprintf("the stream ended with a usage of %d tokens, but no event carried any", r.Output)
	case r.AskedOut > 0 && r.Output != r.AskedOut:
		return metric.ErrLength, fmt.Sprintf("%d tokens came, %d were forced", r.Output, r.AskedOut)
	default:
		return "", ""
	}
}

// whole tells whether everything of the answer came, but for the end mark: what breaks after that breaks no answer.
func (a *answer) whole() bool {
	return a.counted && slices.Contains(finishes, a.finish) && a.rec.Output == a.rec.AskedOut
}

// cutOff is why a request, or the whole run, was ended by us. It is the cause of a context's end.
type cutOff struct {
	class  string // of the requests in flight
	detail string
	ending Ending
}

func (c *cutOff) Error() string { return c.detail }

// cutBy tells whether it was us who ended a request, and why.
func cutBy(ctx context.Context) *cutOff {
	if ctx.Err() == nil {
		return nil
	}
	var c *cutOff
	if errors.As(context.Cause(ctx), &c) {
		return c
	}
	return &cutOff{class: metric.ErrCancelled, detail: "autotune was asked to stop", ending: Interrupted}
}

// plain is an error's text without addresses: ports differ from run to run, and texts are counted.
func plain(err error) string {
	var number syscall.Errno
	var timeout net.Error
	switch {
	case errors.As(err, &number):
		return number.Error()
	case errors.Is(err, os.ErrDeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return "timeout"
	}
	var op *net.OpError
	if errors.As(err, &op) && op.Err != nil {
		return op.Err.Error()
	}
	return err.Error()
}

// shorten is a text's first line, cut.
func shorten(text string) string {
	text, _, _ = strings.Cut(strings.TrimSpace(text), "\n")
	text = strings.ToValidUTF8(strings.TrimSpace(text), "\uFFFD")
	if utf8.RuneCountInString(text) <= longestDetail {
		return text
	}
	return string([]rune(text)[:longestDetail]) + "..."
}
