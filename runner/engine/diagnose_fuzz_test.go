package engine

import (
	"strings"
	"testing"
)

// Whatever a log holds, and however its server ended: it gets an answer whose lines are in the file, and the judge of trials one, too.
func FuzzDiagnose(f *testing.F) {
	for _, text := range []string{
		"", "\x00\xff\xfe\n\r\n", "\xff\xfeK\x00i\x00", "{\"log\":\"Traceback (most recent call last):\\nValueError: x\\n\"}\n", tracebackHead + ":\n  File \"/x/site-packages/a.py\", line 1, in f\n    g()\nAttributeError: no",
		"[2025-10-14 09:12:31 TP1] Scheduler hit an exception: " + tracebackHead + "\n  File \"/x/core.py\", line 1, in load_weights\nKeyError: 'a.b'\n[2025-10-14 09:12:31] Received sigquit from a child process.\nKilled",
		"(EngineCore pid=1) ERROR 01-01 00:00:00 [core.py:1] torch.OutOfMemoryError: CUDA out of memory.\n^CShutting down\n", "INFO:     Application startup complete.\n\"POST / HTTP/1.1\" 200\nRuntimeError: Connection closed by peer",
		"│ E   TimeoutError │\n> vllm-1  | \x1b[31mIllegal instruction\x1b[0m (core dumped)",
	} {
		for _, code := range []int{0, 1, 137, -9} {
			f.Add(text, code)
		}
	}
	f.Fuzz(func(t *testing.T, text string, code int) {
		if len(text) > 1<<16 {
			return
		}
		x, err := ReadExcerpt(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		for _, end := range []End{{}, {Known: true, Code: code % 256}} {
			d := Diagnose(x, "", end)
			if d.Hint == "" || d.Verdict == "" || d.Fault == "" || d.Phase == "" || (d.Verdict == VerdictFailed) != (d.Signature != "" && d.Reason != "unknown") && d.Verdict != VerdictUnknown {
				t.Errorf("%+v: %+v", end, d)
			}
			for _, q := range d.Proof {
				if q.Line < 1 || q.Line > x.Total {
					t.Errorf("line %d of %d", q.Line, x.Total)
				}
			}
		}
		for _, e := range []Evidence{{Lines: x.Lines, ExitCode: code % 256}, {Lines: x.Lines, Running: true, Ready: true}, {Engine: "vllm", Lines: x.Lines, Running: true}} {
			if g := Classify(e); g.Phase == "" || g.Reason == "" {
				t.Errorf("%+v", g)
			}
		}
	})
}

// TestManyEchoes: a log that repeats what other ranks say of a failure is gone through once, not once for each of them.
func TestManyEchoes(t *testing.T) {
	text := strings.Repeat(tracebackHead+":\n  File \"/x/site-packages/torch/a.py\", line 1, in wait\nRuntimeError: Connection closed by peer [10.0.0.2]:31648\n\n", 1_000)
	if d := diagnoseText(t, text, End{Known: true, Code: 1}); d.Signature != "nccl_timeout" {
		t.Errorf("%+v", d)
	}
}
