package metric

import (
	"encoding/binary"
	"time"
)

// writer builds the bytes of the format.
type writer struct {
	buf   []byte
	texts map[string]uint64 // texts already written, by number
}

func (w *writer) unsigned(v uint64) { w.buf = binary.AppendUvarint(w.buf, v) }
func (w *writer) signed(v int64)    { w.buf = binary.AppendVarint(w.buf, v) }

// optional writes an instant that may be 0 for none, counted from another: 0, or 1 and the difference.
func (w *writer) optional(at, from time.Duration) {
	if at == 0 {
		w.unsigned(0)
		return
	}
	w.unsigned(1)
	w.signed(micros(at) - micros(from))
}

// text writes a text in full the first time (number one past the known ones, length, bytes), later by its number.
func (w *writer) text(s string) {
	number, ok := w.texts[s]
	if ok {
		w.unsigned(number)
		return
	}
	number = uint64(len(w.texts))
	w.texts[s] = number
	w.unsigned(number)
	w.unsigned(uint64(len(s)))
	w.buf = append(w.buf, s...)
}

// reader takes the bytes apart; after the first failure it only gives zeros.
type reader struct {
	buf    []byte
	texts  []string
	failed bool
}

func (rd *reader) unsigned() uint64 {
	v, n := binary.Uvarint(rd.buf)
	if n <= 0 {
		rd.failed, rd.buf = true, nil
		return 0
	}
	rd.buf = rd.buf[n:]
	return v
}

func (rd *reader) signed() int64 {
	v, n := binary.Varint(rd.buf)
	if n <= 0 {
		rd.failed, rd.buf = true, nil
		return 0
	}
	rd.buf = rd.buf[n:]
	return v
}

func (rd *reader) bytes(n int) []byte {
	if n < 0 || n > len(rd.buf) {
		rd.failed, rd.buf = true, nil
		return make([]byte, max(0, n))
	}
	b := rd.buf[:n]
	rd.buf = rd.buf[n:]
	return b
}

func (rd *reader) optional(from time.Duration) time.Duration {
	if rd.unsigned() == 0 {
		return 0
	}
	return from + fromMicros(rd.signed())
}

func (rd *reader) text() string {
	number := rd.unsigned()
	if number < uint64(len(rd.texts)) {
		return rd.texts[number]
	}
	n := rd.unsigned()
	if rd.failed || number != uint64(len(rd.texts)) || n > uint64(len(rd.buf)) {
		rd.failed = true
		return ""
	}
	s := string(rd.bytes(int(n)))
	rd.texts = append(rd.texts, s)
	return s
}
