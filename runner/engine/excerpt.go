package engine

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"regexp"
	"strings"
	"unicode"

	"autotune/tuner"
)

// Excerpt is a log as far as it is needed to judge it: all of it when it is small, else its beginning, its end, and what looks like trouble between.
type Excerpt struct {
	Lines   []string // as the server wrote them: without what a container, an orchestrator or a terminal put around them, each of valid UTF-8
	Numbers []int    // of each line: its number in the file, from 1; several may share one
	Total   int      // lines in the file
	Dropped int      // lines that were read and not kept
}

// How much of a log is kept, in bytes. A line beyond longestLine loses its middle.
const (
	keepHead    = 8 << 20
	keepTail    = 16 << 20
	keepMiddle  = 16 << 20
	longestLine = 8 << 10
	// lines around trouble in the middle of a long log; compiled models have deep tracebacks.
	keepBefore = deepTraceback
	keepAfter  = nearby
)

// ReadExcerpt reads a log of any size, also one that is no text, in bounded memory. An error is the reader's own.
func ReadExcerpt(r io.Reader) (Excerpt, error) {
	k := &keeper{head: block{budget: keepHead}, middle: block{budget: keepMiddle}}
	err := eachLine(decoded(r), func(number int, raw string) {
		k.total = number
		for _, text := range unwrap(raw) {
			k.line(numbered{number, text})
		}
	})
	return k.excerpt(), err
}

type numbered struct {
	number int
	text   string
}

// block is a run of lines with a limit on their bytes.
type block struct {
	lines  []numbered
	bytes  int
	budget int
}

func (b *block) add(l numbered) bool {
	if b.bytes+len(l.text) > b.budget {
		b.budget = 0 // a later, shorter line must not be taken for the next one
		return false
	}
	b.lines, b.bytes = append(b.lines, l), b.bytes+len(l.text)+1
	return true
}

// keeper decides what of a log is kept, as its lines come.
type keeper struct {
	head, middle block
	tail         []numbered // a queue: from first on
	first        int
	tailBytes    int
	recent       []numbered // lines that have left the tail, kept only if trouble follows
	after        int        // lines still to keep after trouble
	total, lost  int
}

func (k *keeper) line(l numbered) {
	if k.head.add(l) {
		return
	}
	k.tail, k.tailBytes = append(k.tail, l), k.tailBytes+len(l.text)+1
	for k.tailBytes > keepTail {
		k.leave(k.tail[k.first])
		k.tailBytes -= len(k.tail[k.first].text) + 1
		k.tail[k.first] = numbered{}
		if k.first++; k.first > len(k.tail)/2 {
			k.tail, k.first = append([]numbered(nil), k.tail[k.first:]...), 0
		}
	}
}

// leave takes a line that is neither of the beginning nor of the end.
func (k *keeper) leave(l numbered) {
	switch {
	case mayMatter(l.text):
		k.after = keepAfter
		for _, r := range k.recent {
			k.keep(r)
		}
		k.recent = k.recent[:0]
		k.keep(l)
	case k.after > 0:
		k.after--
		k.keep(l)
	default:
		if k.recent = append(k.recent, l); len(k.recent) > 2*keepBefore {
			k.lost += len(k.recent) - keepBefore
			k.recent = append(k.recent[:0], k.recent[len(k.recent)-keepBefore:]...)
		}
	}
}

func (k *keeper) keep(l numbered) {
	if !k.middle.add(l) {
		k.lost++
	}
}

func (k *keeper) excerpt() Excerpt {
	x := Excerpt{Total: k.total, Dropped: k.lost + len(k.recent)}
	for _, lines := range [][]numbered{k.head.lines, k.middle.lines, k.tail[k.first:]} {
		for _, l := range lines {
			x.Lines, x.Numbers = append(x.Lines, l.text), append(x.Numbers, l.number)
		}
	}
	return x
}

// mayMatter tells whether a line of a long log may matter: a milestone of a start, or words that a signature knows in a line that is not harmless.
func mayMatter(text string) bool {
	for _, d := range catalog() {
		if p, ok := d.Marker(text); ok && (p == tuner.PhaseFlags || p == tuner.PhaseServe) {
			return true
		}
	}
	if strings.Contains(text, tracebackHead) {
		return true
	}
	found, line := false, readLine(text)
	if line.harmless() {
		return false
	}
	signatures().words.find(text, func(id int) { found = found || signatures().signatures[id].matches(line.text) })
	return found
}

// eachLine yields the lines of a file with their numbers. What a carriage return has overwritten is a line of its own under the same number.
func eachLine(r io.Reader, yield func(number int, text string)) error {
	in := bufio.NewReaderSize(r, 64<<10)
	number, open := 1, false // open: the line has begun
	var line []byte
	flush := func() {
		if len(line) > 0 || !open {
			yield(number, sane(string(line)))
		}
		line, open = line[:0], true
	}
	for {
		part, err := in.ReadSlice('\n')
		ended := len(part) > 0 && part[len(part)-1] == '\n'
		for i, piece := range bytes.Split(bytes.TrimRight(part, "\r\n"), []byte{'\r'}) {
			if i > 0 {
				flush()
			}
			line = appendShort(line, piece)
		}
		if ended || err != nil && !errors.Is(err, bufio.ErrBufferFull) && len(line) > 0 {
			flush()
			number, open = number+1, false
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
	}
}

// appendShort adds to a line; of one that grows too long the beginning and the latest quarter stay.
func appendShort(line, piece []byte) []byte {
	if len(line)+len(piece) <= longestLine {
		return append(line, piece...)
	}
	const end = longestLine / 4
	if room := longestLine - end - len(line); room > 0 {
		line, piece = append(line, piece[:min(room, len(piece))]...), piece[min(room, len(piece)):]
	}
	return append(line[:longestLine-end], piece[max(0, len(piece)-end):]...)
}

// overwritten parts a line where a carriage return set the cursor back.
func overwritten(line string) []string {
	line = strings.TrimRight(line, "\r\n")
	if strings.IndexByte(line, '\r') < 0 {
		return []string{line}
	}
	var parts []string
	for part := range strings.SplitSeq(line, "\r") {
		if part != "" {
			parts = append(parts, part)
		}
	}
	return parts
}

// bareColours are colours whose escape character was lost, or written out, on the way.
var bareColours = regexp.MustCompile(`(?:\^\[)?\[\d{1,2}(?:;\d{1,3}){0,4}m`)

// sane makes any bytes a printable line: valid UTF-8, no control characters but tabs.
func sane(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if strings.IndexByte(text, 0x1b) >= 0 {
		text = escapes.ReplaceAllString(text, "")
	}
	if strings.Contains(text, "[0m") || strings.Contains(text, "[0;0m") || strings.Contains(text, "^[[") {
		text = bareColours.ReplaceAllString(text, "")
	}
	return strings.Map(func(r rune) rune {
		if r != '\t' && unicode.IsControl(r) {
			return -1
		}
		return r
	}, text)
}
