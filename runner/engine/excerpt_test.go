package engine

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func excerptOf(t *testing.T, r io.Reader) Excerpt {
	t.Helper()
	x, err := ReadExcerpt(r)
	if err != nil {
		t.Fatal(err)
	}
	if len(x.Lines) != len(x.Numbers) || !slices.IsSorted(x.Numbers) {
		t.Fatalf("%d lines, %d numbers", len(x.Lines), len(x.Numbers))
	}
	return x
}

// TestUnwrapping: what stands around a server's lines is taken off, and nothing of theirs.
func TestUnwrapping(t *testing.T) {
	const said = "ERROR 10-14 09:12:31 [core.py:708] ValueError: no"
	for _, raw := range []string{
		said, said + "\r", "\x1b[31m" + said + "\x1b[0m", "[1;36m" + said + "[0;0m", "^[[36m" + said + "^[[39m",
		`{"log":"` + said + `\n","stream":"stderr","time":"2025-10-14T09:12:31Z"}`,
		`{"MESSAGE":"` + said + `","_PID":"7"}`, `{"jsonPayload":{"message":"` + said + `"}}`, `{"level":"error","msg":"` + said + `"},`,
		"[pod/vllm-7d9f/server] " + said, "server-1  | " + said, "vllm  | " + said, "[1,0]<stderr>:" + said, "[default3]:" + said, "3: " + said,
		"[2024-09-05T00:38:34Z] " + said, "> " + said, "│ " + said + "     │", "E       " + said, "[26002.108918] " + said,
		"2025-03-07 23:50:27,727 - __main__ - INFO - " + said, "2024-01-22 14:32:27 | ERROR | stderr | " + said, "May 16, 2026 @ 20:44:54.728    " + said,
	} {
		x := excerptOf(t, strings.NewReader("first\n"+raw+"\n"))
		if diff := cmp.Diff([]string{"first", said}, x.Lines); diff != "" || x.Numbers[1] != 2 {
			t.Errorf("%q: %s", raw, diff)
		}
	}
	for _, raw := range []string{`  File "/x/y.py", line 3, in z`, "    raise ValueError(", `{"error": {"code": 400}}`, "| N/A   41C    P0 |", "[rank3]: x", "(EngineCore_DP0 pid=9) x", "INFO:     Shutting down", "[2025-10-14 09:12:31 TP0] x"} {
		if x := excerptOf(t, strings.NewReader(raw)); len(x.Lines) != 1 || x.Lines[0] != raw {
			t.Errorf("%q became %q", raw, x.Lines)
		}
	}
}

func TestExcerptOfProgressAndUTF16(t *testing.T) {
	x := excerptOf(t, strings.NewReader("a\rb\r\nc"))
	if diff := cmp.Diff(Excerpt{Lines: []string{"a", "b", "c"}, Numbers: []int{1, 1, 2}, Total: 2}, x); diff != "" {
		t.Error(diff)
	}
	for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		text := "héllo \U0001F600\r\n" + strings.Repeat("x", 9000) + "\nend"
		var b bytes.Buffer
		for _, u := range utf16.Encode([]rune("\uFEFF" + text)) {
			if err := binary.Write(&b, order, u); err != nil {
				t.Fatal(err)
			}
		}
		if x := excerptOf(t, &b); len(x.Lines) != 3 || x.Lines[0] != "héllo \U0001F600" || x.Lines[2] != "end" {
			t.Errorf("%v: %d lines, %q", order, len(x.Lines), x.Lines[0])
		}
	}
}

// TestExcerptOfNoise: bytes of any kind become lines of valid UTF-8, in bounds.
func TestExcerptOfNoise(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	noise := make([]byte, 1<<20)
	for i := range noise {
		noise[i] = byte(random.Uint32())
	}
	for _, b := range [][]byte{noise, bytes.Repeat([]byte("y"), 1<<20), bytes.Repeat([]byte{0}, 1<<20), bytes.Repeat([]byte("Error \r"), 1<<14)} {
		for _, line := range excerptOf(t, bytes.NewReader(b)).Lines {
			if !utf8.ValidString(line) || len(line) > 4*longestLine {
				t.Fatalf("%d bytes, valid %v", len(line), utf8.ValidString(line))
			}
		}
	}
}

// endless is a long log with trouble in its middle, made as it is read.
type endless struct {
	lines, next, trouble int
	rest                 []byte
}

func (e *endless) Read(p []byte) (int, error) {
	for len(e.rest) < len(p) && e.next < e.lines {
		e.next++
		line := fmt.Sprintf("INFO:     10.0.0.9:%d - \"GET /health HTTP/1.1\" 200 OK %s\n", e.next, strings.Repeat(".", 900))
		if e.next == e.trouble {
			line = "(EngineCore_DP0 pid=9) ERROR 12-02 06:37:16 [core.py:708] EngineCore encountered a fatal error.\n" +
				"(EngineCore_DP0 pid=9) ERROR 12-02 06:37:16 [core.py:708] torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n"
		}
		e.rest = append(e.rest, line...)
	}
	if len(e.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(p, e.rest)
	e.rest = e.rest[n:]
	return n, nil
}

// TestExcerptOfALongLog: the beginning, the end and the trouble between are kept, the rest is counted.
func TestExcerptOfALongLog(t *testing.T) {
	x := excerptOf(t, &endless{lines: 50_000, trouble: 20_000})
	kept := 0
	for _, line := range x.Lines {
		kept += len(line)
	}
	if kept > keepHead+keepMiddle+keepTail || x.Total != 50_001 || x.Dropped != x.Total-len(x.Lines) || x.Dropped == 0 {
		t.Errorf("%d bytes kept, %d lines of %d, %d dropped", kept, len(x.Lines), x.Total, x.Dropped)
	}
	d := Diagnose(x, "", End{Known: true, Code: 1})
	if d.Signature != "cuda_oom_torch" || !slices.ContainsFunc(d.Proof, func(q Quote) bool { return q.Role == RoleCause && q.Line == 20_001 }) {
		t.Errorf("%s by %+v", d.Signature, d.Proof)
	}
}
