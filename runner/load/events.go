package load

import (
	"bytes"
	"errors"
	"io"
	"time"
)

const (
	// longestLine bounds a line of a stream, and an event, in bytes. Real ones are below a kilobyte, and a prompt that is echoed or bundled
	// tokens below a few megabytes.
	longestLine = 64 << 20
	// longestOdd bounds what is kept of a body that is no event stream, in bytes: enough for the sentence in a JSON object over several lines.
	longestOdd = 4 << 10
)

var errLong = errors.New("a line or an event of the stream is longer than 64 MiB")

// events takes a body of server-sent events apart, as the HTML standard's event streams are defined: lines end in LF, CR or CRLF, the
// space after the colon may be missing, comments and unknown fields are nothing, an event without data is none.
type events struct {
	body   io.Reader
	now    func() time.Duration
	at     time.Duration // when the last bytes came
	first  time.Duration // when the first bytes came
	any    bool          // bytes came
	skipLF bool          // the last line ended in CR: an LF that follows belongs to it
	buf    []byte
	from   int // buf[from:] is unread
	data   []byte
	full   bool   // a data line came: the event is worth dispatching
	name   string // of the event: errorEvent, pingEvent, or empty for any other
	begun  bool   // the first line was taken
	cut    bool   // the body ended within the last line
	seen   int    // buf[from:seen] holds no end of line
	odd    []byte // the lines that belong into no event stream, such as a bare JSON object; their beginning
}

// mark may stand in front of a stream, and is no part of it.
var mark = []byte("\xef\xbb\xbf")

// bufferSize holds many events; it grows for a long line.
const bufferSize = 16 << 10

func newEvents(body io.Reader, now func() time.Duration) *events {
	return &events{body: body, now: now, buf: make([]byte, 0, bufferSize)}
}

// next gives the data of the next event, valid until the next call, and the event's name. At the end it is io.EOF, or what broke the body.
func (e *events) next() (data []byte, name string, err error) {
	e.data, e.full, e.name = e.data[:0], false, ""
	for {
		line, ok := e.line()
		if ok && !e.begun {
			e.begun, line = true, bytes.TrimPrefix(line, mark)
		}
		switch {
		case ok && len(line) == 0:
			if e.full && len(e.data) > 0 {
				return e.data, e.name, nil
			}
			e.data, e.full, e.name = e.data[:0], false, ""
		case ok:
			e.field(line)
		default:
			if err := e.fill(); err != nil {
				return e.last(err)
			}
		}
	}
}

// last gives what stands at the end without the blank line, or even the end of line, that it should have.
func (e *events) last(err error) ([]byte, string, error) {
	rest := e.buf[e.from:]
	e.from = len(e.buf)
	if !e.begun {
		rest = bytes.TrimPrefix(rest, mark)
	}
	data, isData := bytes.CutPrefix(rest, []byte("data:"))
	switch {
	case isData && bytes.Equal(bytes.TrimSpace(data), doneMark):
		return doneMark, "", nil // whole, even if the connection broke right after it
	case isData:
		e.cut = true // it may be whole all the same: whoever reads it knows
		e.field(rest)
	case !startsField(rest):
		e.field(rest)
	}
	if err == io.EOF && e.full && len(e.data) > 0 {
		e.full = false
		return e.data, e.name, nil
	}
	return nil, "", err
}

// startsField tells whether bytes may be the beginning of a line of an event stream.
func startsField(rest []byte) bool {
	for _, name := range [...]string{"data", "event", "id", "retry"} {
		if bytes.HasPrefix([]byte(name), rest) {
			return true
		}
	}
	return false
}

func (e *events) field(line []byte) {
	name, value, _ := bytes.Cut(line, []byte{':'})
	value = bytes.TrimPrefix(value, []byte{' '})
	switch string(name) {
	case "data":
		if e.full {
			e.data = append(e.data, '\n')
		}
		e.data, e.full = append(e.data, value...), true
	case "event":
		switch string(value) {
		case errorEvent:
			e.name = errorEvent
		case pingEvent, "heartbeat", "keepalive", "keep-alive":
			e.name = pingEvent
		}
	case "", "id", "retry":
	default:
		if room := longestOdd - len(e.odd); room > 0 {
			e.odd = append(append(e.odd, line[:min(len(line), room)]...), '\n')
		}
	}
}

// line takes the next whole line, without its end; false when more bytes are needed.
func (e *events) line() ([]byte, bool) {
	if e.skipLF && e.from < len(e.buf) {
		if e.buf[e.from] == '\n' {
			e.from++
		}
		e.skipLF = false
	}
	rest, known := e.buf[e.from:], max(e.seen-e.from, 0) // what was looked at is not looked at again: lines may be long, and reads short
	fresh := rest[known:]
	end := bytes.IndexByte(fresh, '\n')
	if end >= 0 {
		fresh = fresh[:end]
	}
	if cr := bytes.IndexByte(fresh, '\r'); cr >= 0 {
		e.from += known + cr + 1
		e.skipLF = true
		return rest[:known+cr], true
	}
	if end < 0 {
		e.seen = len(e.buf)
		return nil, false
	}
	e.from += known + end + 1
	return rest[:known+end], true
}

// fill reads more bytes and notes when they came.
func (e *events) fill() error {
	if e.from > 0 {
		e.buf = e.buf[:copy(e.buf, e.buf[e.from:])]
		e.from, e.seen = 0, max(e.seen-e.from, 0)
	}
	if len(e.buf) == cap(e.buf) {
		if len(e.buf) >= longestLine {
			return errLong
		}
		e.buf = append(make([]byte, 0, 2*cap(e.buf)), e.buf...)
	}
	if len(e.data) > longestLine {
		return errLong
	}
	n, err := e.body.Read(e.buf[len(e.buf):cap(e.buf)])
	if n > 0 {
		e.at = e.now()
		if !e.any {
			e.any, e.first = true, e.at
		}
		e.buf = e.buf[:len(e.buf)+n]
		return nil // an error comes again with the next read
	}
	return err
}
