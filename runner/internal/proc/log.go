package proc

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
)

// Bounds of a log. An engine prints its configuration at the start and its failure at the end: both are kept, the middle is not.
const (
	logHead    = 2 << 20 // bytes of the file that are never dropped
	logTail    = 2 << 20 // bytes of its end that are kept when it has grown too long
	linesHead  = 4000    // lines kept in memory, from the start
	linesTail  = 4000    // and from the end
	lineLength = 8 << 10 // bytes; what is longer is cut for whoever reads lines, not in the file
)

// Log keeps a process's output in a file with its middle left out, and its lines in memory. Safe for concurrent use.
type Log struct {
	redact func(string) string
	onLine func(string)

	mu       sync.Mutex
	file     *os.File
	size     int64
	head     int64 // where the kept tail may start; 0 until something was dropped
	dropped  int64
	noted    int64  // bytes of the note that tells of it
	pending  []byte // a line that has not ended
	first    []string
	last     []string // a ring once it is full
	lastNext int
	total    int
	err      error
}

// NewLog makes the file and the folder that it lies in. redact (may be nil) removes secrets from each line, onLine (may be nil) sees each one.
func NewLog(path string, redact func(string) string, onLine func(string)) (*Log, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, fmt.Errorf("making the log's folder: %w", err)
	}
	file, err := os.Create(path)
	if err != nil {
		return nil, fmt.Errorf("making the log: %w", err)
	}
	if redact == nil {
		redact = func(s string) string { return s }
	}
	if onLine == nil {
		onLine = func(string) {}
	}
	return &Log{redact: redact, onLine: onLine, file: file}, nil
}

// Write takes output as it comes. A line ends with a line feed or, as progress bars do, with a carriage return.
func (l *Log) Write(text []byte) (int, error) {
	l.mu.Lock()
	l.pending = append(l.pending, text...)
	var lines []string
	for {
		end := bytes.IndexAny(l.pending, "\n\r")
		if end < 0 && len(l.pending) < 16*lineLength {
			break
		}
		cut := end + 1
		if end < 0 {
			cut = len(l.pending) // a line without an end must not fill the memory
		}
		lines = append(lines, l.line(l.pending[:cut])...)
		l.pending = append(l.pending[:0], l.pending[cut:]...)
	}
	l.mu.Unlock()
	for _, line := range lines {
		l.onLine(line)
	}
	return len(text), nil
}

var escapes = regexp.MustCompile("\x1b\\[[0-9;?]*[ -/]*[@-~]")

// line stores one line, with its end, and returns it as readers want it: no colours, no trailing blanks; nothing for an empty one.
func (l *Log) line(raw []byte) []string {
	text := l.redact(string(raw))
	l.store(text)
	text = strings.ToValidUTF8(escapes.ReplaceAllString(text, ""), "\uFFFD")
	text = strings.TrimRight(text, " \t\r\n")
	if text == "" {
		return nil
	}
	if len(text) > lineLength {
		text = strings.ToValidUTF8(text[:lineLength], "")
	}
	l.total++
	switch {
	case len(l.first) < linesHead:
		l.first = append(l.first, text)
	case len(l.last) < linesTail:
		l.last = append(l.last, text)
	default:
		l.last[l.lastNext] = text
		l.lastNext = (l.lastNext + 1) % linesTail
	}
	return []string{text}
}

// store appends to the file, and drops its middle when it has grown too long. A full disk is remembered, not fatal.
func (l *Log) store(text string) {
	if l.file == nil {
		return
	}
	n, err := l.file.WriteString(text)
	l.size += int64(n)
	if err == nil && l.size > logHead+2*logTail {
		err = l.compact()
	}
	if err != nil && l.err == nil {
		l.err = fmt.Errorf("writing the log: %w", err)
	}
}

func (l *Log) compact() error {
	tail := make([]byte, logTail)
	if _, err := l.file.ReadAt(tail, l.size-logTail); err != nil {
		return err
	}
	if l.head == 0 {
		l.head = logHead
	}
	l.dropped += l.size - logTail - l.head - l.noted
	note := fmt.Sprintf("\n... %d bytes left out ...\n", l.dropped)
	if err := l.file.Truncate(l.head); err != nil {
		return err
	}
	if _, err := l.file.Seek(l.head, 0); err != nil {
		return err
	}
	n, err := l.file.WriteString(note + string(tail))
	l.size, l.noted = l.head+int64(n), int64(len(note))
	return err
}

// Lines returns the lines so far: the first and the last few thousand.
func (l *Log) Lines() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	lines := append([]string(nil), l.first...)
	lines = append(lines, l.last[l.lastNext:]...)
	return append(lines, l.last[:l.lastNext]...)
}

// Count is how many lines came so far.
func (l *Log) Count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.total
}

// Close keeps what stands in the last, unended line, and closes the file. The lines stay readable.
func (l *Log) Close() error {
	l.mu.Lock()
	var rest []string
	if len(l.pending) > 0 {
		rest = l.line(l.pending)
		l.pending = nil
	}
	if l.file != nil {
		if err := l.file.Close(); l.err == nil && err != nil {
			l.err = fmt.Errorf("closing the log: %w", err)
		}
		l.file = nil
	}
	err := l.err
	l.mu.Unlock()
	for _, line := range rest {
		l.onLine(line)
	}
	return err
}
