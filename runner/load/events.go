package load

import (
	"bytes"
	"errors"
	"io"
	"time"
)

// longestLine bounds one line of a stream. Real ones are below a kilobyte, and a prompt that is echoed or bundled tokens below a few megabytes.
const longestLine = 64 << 20

var errLongLine = errors.New("a line of the event stream is longer than 64 MiB")

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
	name   string // of the event: only "error" matters
	odd    []byte // the first line that belongs into no event stream, such as a bare JSON object
}

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

// last gives what stands at the end without the blank line that it should have.
func (e *events) last(err error) ([]byte, string, error) {
	if rest := e.buf[e.from:]; bytes.HasPrefix(rest, []byte("data:")) && bytes.Equal(bytes.TrimSpace(rest[len("data:"):]), doneMark) {
		e.field(rest) // the end mark is whole even without an end of line; half an object is not
	}
	e.from = len(e.buf)
	if err == io.EOF && e.full && len(e.data) > 0 {
		e.full = false
		return e.data, e.name, nil
	}
	return nil, "", err
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
		if string(value) == errorEvent {
			e.name = errorEvent
		}
	case "", "id", "retry":
	default:
		if e.odd == nil {
			e.odd = bytes.Clone(line[:min(len(line), longestDetail*4)])
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
	rest := e.buf[e.from:]
	end := bytes.IndexByte(rest, '\n')
	within := rest
	if end >= 0 {
		within = rest[:end]
	}
	if cr := bytes.IndexByte(within, '\r'); cr >= 0 {
		e.from += cr + 1
		e.skipLF = true
		return rest[:cr], true
	}
	if end < 0 {
		return nil, false
	}
	e.from += end + 1
	return rest[:end], true
}

// fill reads more bytes and notes when they came.
func (e *events) fill() error {
	if e.from > 0 {
		e.buf = e.buf[:copy(e.buf, e.buf[e.from:])]
		e.from = 0
	}
	if len(e.buf) == cap(e.buf) {
		if len(e.buf) >= longestLine {
			return errLongLine
		}
		e.buf = append(make([]byte, 0, 2*cap(e.buf)), e.buf...)
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
