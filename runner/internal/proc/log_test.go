package proc

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func newLog(t *testing.T, redact func(string) string, onLine func(string)) (*Log, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "0001-1", "engine.log")
	log, err := NewLog(path, redact, onLine)
	if err != nil {
		t.Fatal(err)
	}
	return log, path
}

func TestLines(t *testing.T) {
	var seen []string
	log, path := newLog(t, func(s string) string { return strings.ReplaceAll(s, "hf_secret", "***") }, func(s string) { seen = append(seen, s) })
	for _, part := range []string{"one\ntw", "o\r\n", " 10%|#\r 20%|##\r", "\x1b[31mred\x1b[0m\n\n", "token hf_se", "cret here\n", "\xff\xfebytes\n", "last"} {
		fmt.Fprint(log, part)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	want := []string{"one", "two", " 10%|#", " 20%|##", "red", "token *** here", "\uFFFDbytes", "last"}
	if !slices.Equal(seen, want) || !slices.Equal(log.Lines(), want) {
		t.Errorf("seen %q\nkept %q\nwant %q", seen, log.Lines(), want)
	}
	text, err := os.ReadFile(path)
	if err != nil || strings.Contains(string(text), "hf_secret") || !strings.HasSuffix(string(text), "last") {
		t.Errorf("the file holds %q, %v", text, err)
	}
}

func TestALongLogKeepsHeadAndTail(t *testing.T) {
	log, path := newLog(t, nil, nil)
	const n = 400_000 // of 40 bytes: 16 MB
	for i := range n {
		fmt.Fprintf(log, "line %034d\n", i)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(text) > logHead+2*logTail+1000 {
		t.Errorf("the file has %d bytes", len(text))
	}
	if !strings.HasPrefix(string(text), fmt.Sprintf("line %034d\n", 0)) || !strings.HasSuffix(string(text), fmt.Sprintf("line %034d\n", n-1)) {
		t.Error("its start or its end is lost")
	}
	var dropped int64
	_, note, _ := strings.Cut(string(text), "\n... ")
	if _, err := fmt.Sscanf(note, "%d bytes left out ...", &dropped); err != nil {
		t.Fatal("nothing tells what was left out")
	}
	noteLen := int64(len(fmt.Sprintf("\n... %d bytes left out ...\n", dropped)))
	if got := int64(len(text)) - noteLen + dropped; got != n*40 {
		t.Errorf("kept and left out are %d bytes, written were %d", got, n*40)
	}
	lines := log.Lines()
	if len(lines) != linesHead+linesTail || log.Count() != n || lines[0] != fmt.Sprintf("line %034d", 0) || lines[len(lines)-1] != fmt.Sprintf("line %034d", n-1) {
		t.Errorf("%d lines in memory, of %d", len(lines), log.Count())
	}
	for i := linesHead + 1; i < len(lines); i++ {
		if lines[i] <= lines[i-1] {
			t.Fatalf("the last lines are out of order: %q after %q", lines[i], lines[i-1])
		}
	}
}

func TestALineWithoutAnEnd(t *testing.T) {
	log, _ := newLog(t, nil, nil)
	for range 64 {
		fmt.Fprint(log, strings.Repeat("x", lineLength))
	}
	if n := len(log.pending); n > 16*lineLength {
		t.Errorf("%d bytes wait for a line feed", n)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	for _, line := range log.Lines() {
		if len(line) > lineLength {
			t.Errorf("a line of %d bytes", len(line))
		}
	}
}
