package load

import (
	"bytes"
	"strconv"
)

// scanner walks over JSON. After the first fault it is bad, stands still, and gives nothing more.
type scanner struct {
	text []byte
	at   int
	bad  bool
}

func (s *scanner) space() {
	for s.at < len(s.text) {
		switch s.text[s.at] {
		case ' ', '\t', '\n', '\r':
			s.at++
		default:
			return
		}
	}
}

// peek is the next byte that is no space, 0 at the end.
func (s *scanner) peek() byte {
	s.space()
	if s.bad || s.at >= len(s.text) {
		return 0
	}
	return s.text[s.at]
}

func (s *scanner) take(want byte) {
	if s.peek() != want {
		s.bad = true
		return
	}
	s.at++
}

// object calls member at each value of an object, with its key; member takes the value. Anything but an object is skipped.
func (s *scanner) object(member func(key []byte)) {
	if s.peek() != '{' {
		s.value()
		return
	}
	s.at++
	for first := true; s.peek() != '}'; first = false {
		if !first {
			s.take(',')
		}
		if s.peek() != '"' {
			s.bad = true
		}
		key := s.value()
		s.take(':')
		if s.bad {
			return
		}
		member(key[1 : len(key)-1])
		if s.bad {
			return
		}
	}
	s.at++
}

// array calls element at each value of an array; element takes it. Anything but an array is skipped.
func (s *scanner) array(element func()) {
	if s.peek() != '[' {
		s.value()
		return
	}
	s.at++
	for first := true; s.peek() != ']'; first = false {
		if !first {
			s.take(',')
		}
		if s.bad {
			return
		}
		element()
		if s.bad {
			return
		}
	}
	s.at++
}

// number takes a count: a number that is not negative, of which the whole part is given, also as a text of digits; false for null and anything
// else that is none.
func (s *scanner) number() (int64, bool) {
	if c := s.peek(); c < '0' || c > '9' {
		n, err := strconv.ParseUint(string(bytes.Trim(s.value(), `"`)), 10, 63)
		return min(int64(n), largestCount), err == nil
	}
	from, n := s.at, int64(0)
	for s.at < len(s.text) && s.text[s.at] >= '0' && s.text[s.at] <= '9' {
		n = min(n*10+int64(s.text[s.at]-'0'), largestCount)
		s.at++
	}
	if s.at < len(s.text) && !isEnd(s.text[s.at]) { // 5.0 and 5e0 are numbers too
		s.at = from
		f, err := strconv.ParseFloat(string(s.value()), 64)
		return int64(min(f, largestCount)), err == nil
	}
	return n, true
}

// largestCount is beyond every count, and far from an overflow.
const largestCount = 1 << 50

// value takes any value and gives its bytes.
func (s *scanner) value() []byte {
	first := s.peek()
	from := s.at
	switch first {
	case 0, '}', ']', ',', ':':
		s.bad = true
		return nil
	case '"':
		s.quoted()
	case '{', '[':
		s.nested()
	default:
		for s.at < len(s.text) && !isEnd(s.text[s.at]) {
			s.at++
		}
	}
	if s.bad {
		return nil
	}
	return s.text[from:s.at]
}

// ends are the bytes that end a number or a word, by byte.
var ends = func() (e [256]bool) {
	for _, c := range []byte(",}]: \t\n\r\"{[") {
		e[c] = true
	}
	return e
}()

func isEnd(c byte) bool { return ends[c] }

// shortText is how many bytes of a text are looked at one by one.
const shortText = 16

// quoted takes a text, from quote to quote.
func (s *scanner) quoted() {
	i := s.at + 1
	for near := min(i+shortText, len(s.text)); i < near; i++ { // most keys and texts are short: a call for each would cost more
		switch s.text[i] {
		case '"':
			s.at = i + 1
			return
		case '\\':
			near = i
		}
	}
	for {
		quote := bytes.IndexByte(s.text[i:], '"')
		if quote < 0 {
			s.bad = true
			return
		}
		quote += i
		escapes := 0
		for quote-1-escapes > s.at && s.text[quote-1-escapes] == '\\' {
			escapes++
		}
		if i = quote + 1; escapes%2 == 0 {
			s.at = i
			return
		}
	}
}

// nested takes an object or an array without looking into it. Depth is counted, not recursed into: no input overflows the stack.
func (s *scanner) nested() {
	depth := 0
	for s.at < len(s.text) {
		switch s.text[s.at] {
		case '"':
			if s.quoted(); s.bad {
				return
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		s.at++
		if depth == 0 {
			return
		}
	}
	s.bad = true
}
