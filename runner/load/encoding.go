package load

import (
	"compress/gzip"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

var errEncoding = errors.New("the answer is compressed in a way that was not asked for")

// opened is an answer's body as the server meant it. Compression is asked not to be, but a proxy may compress all the same; what is flushed
// behind each event is told at once, what is not comes late, as for every client.
func opened(response *http.Response) (io.Reader, error) {
	switch name := strings.ToLower(strings.TrimSpace(response.Header.Get("Content-Encoding"))); name {
	case "", "identity":
		return response.Body, nil
	case "gzip", "x-gzip":
		return &unpacked{body: response.Body, open: func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) }}, nil
	case "deflate":
		return &unpacked{body: response.Body, open: func(r io.Reader) (io.Reader, error) { return zlib.NewReader(r) }}, nil
	default:
		return nil, fmt.Errorf("%w: %s", errEncoding, name)
	}
}

// unpacked opens a compressed body at the first read, for the head of what is compressed may come as late as its first token.
type unpacked struct {
	body io.Reader
	open func(io.Reader) (io.Reader, error)
	from io.Reader
}

func (u *unpacked) Read(p []byte) (int, error) {
	if u.from == nil {
		from, err := u.open(u.body)
		if err != nil {
			return 0, err
		}
		u.from = from
	}
	return u.from.Read(p)
}

// readRefusal reads the text of an answer other than 200.
func readRefusal(response *http.Response) ([]byte, error) {
	body, err := opened(response)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(body, longestRefusal))
}

// eventStream is the content type that is asked for.
const eventStream = "text/event-stream"

// otherKind is an answer's content type, when it is not the one that was asked for.
func otherKind(h http.Header) string {
	kind, _, _ := strings.Cut(h.Get("Content-Type"), ";")
	if kind = strings.TrimSpace(kind); strings.EqualFold(kind, eventStream) {
		return ""
	}
	return kind
}

// withoutSecrets is an address without a password and without what follows its path.
func withoutSecrets(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "an address that cannot be read"
	}
	u.RawQuery, u.Fragment = "", ""
	return u.Redacted()
}
