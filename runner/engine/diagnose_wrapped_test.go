package engine

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// wrapped are ways in which a server's lines reach a person.
var wrapped = map[string]func(line string) string{
	"docker json": func(l string) string {
		b, _ := json.Marshal(map[string]string{"log": l + "\n", "stream": "stderr", "time": "2025-10-14T09:12:31.1Z"})
		return string(b)
	},
	"compose":    func(l string) string { return "vllm-server-1  | " + l },
	"kubectl":    func(l string) string { return "[pod/llm-5c9/server] " + l },
	"cri":        func(l string) string { return "2025-10-14T09:12:31.123456789Z stderr F " + l },
	"journald":   func(l string) string { return "Oct 14 09:12:31 node-7 vllm[812]: " + l },
	"slurm":      func(l string) string { return "0: " + l },
	"mpi":        func(l string) string { return "[1,3]<stderr>:" + l },
	"crlf":       func(l string) string { return l + "\r" },
	"colours":    func(l string) string { return "\x1b[31m" + l + "\x1b[0m" },
	"quoted":     func(l string) string { return "> " + l },
	"kubectl ts": func(l string) string { return "[pod/llm-5c9/server] 2025-10-14T09:12:31.123456789Z " + l },
}

// TestDiagnosisThroughWrappings: what stands around the lines changes nothing of a diagnosis, its line numbers neither.
func TestDiagnosisThroughWrappings(t *testing.T) {
	say := func(d Diagnosis) string {
		s := fmt.Sprint(d.Verdict, d.Phase, d.Reason, d.Signature, d.Fault, d.Engine)
		for _, q := range d.Proof {
			s += fmt.Sprint(" ", q.Line, q.Role)
		}
		return s
	}
	names := slices.Sorted(maps.Keys(wrapped))
	for i, c := range allLabelled(t) {
		want := say(diagnoseText(t, c.log, c.end))
		for k := range 3 { // of each log, so that each wrapping meets a quarter of them
			name := names[(3*i+k)%len(names)]
			wrap := wrapped[name]
			lines := strings.Split(strings.TrimSuffix(c.log, "\n"), "\n")
			for i, l := range lines {
				lines[i] = wrap(l)
			}
			if got := say(diagnoseText(t, strings.Join(lines, "\n")+"\n", c.end)); got != want {
				t.Errorf("%s in %s:\n got %s\nwant %s", c.name, name, got, want)
			}
		}
	}
}
