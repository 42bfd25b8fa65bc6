package engine

import (
	"bufio"
	"hash/crc32"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// labelled is a log with what is right to say of it.
type labelled struct {
	name   string
	held   bool // kept apart while rules were written: the honest figure
	engine string
	phase  string
	reason string
	fault  string
	end    End
	log    string
}

// readLabelled reads a case: lines of "#! key: value", then the log.
func readLabelled(t *testing.T, path string) labelled {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	c := labelled{name: strings.TrimSuffix(filepath.Base(path), ".log")}
	c.held = crc32.ChecksumIEEE([]byte(c.name))%3 == 0
	head := map[string]string{}
	rest := string(b)
	for strings.HasPrefix(rest, "#! ") {
		line, after, _ := strings.Cut(rest, "\n")
		key, value, ok := strings.Cut(strings.TrimPrefix(line, "#! "), ": ")
		if !ok {
			t.Fatalf("%s: header %q", path, line)
		}
		head[key], rest = value, after
	}
	c.engine, c.phase, c.reason, c.fault, c.log = head["engine"], head["phase"], head["reason"], head["fault"], rest
	if head["exit"] != "" {
		c.end.Known = true
		if c.end.Code, err = strconv.Atoi(head["exit"]); err != nil {
			t.Fatal(err)
		}
	}
	if c.phase == "" || c.reason == "" || c.fault == "" || head["source"] == "" {
		t.Fatalf("%s: incomplete header %v", path, head)
	}
	return c
}

func allLabelled(t *testing.T) []labelled {
	t.Helper()
	paths, _ := filepath.Glob("testdata/diagnose/*.log")
	var cases []labelled
	for _, path := range paths {
		cases = append(cases, readLabelled(t, path))
	}
	return cases
}

func diagnoseText(t *testing.T, log string, end End) Diagnosis {
	t.Helper()
	x, err := ReadExcerpt(strings.NewReader(log))
	if err != nil {
		t.Fatal(err)
	}
	return Diagnose(x, "", end)
}

func reasonWord(d Diagnosis) string {
	if d.Reason == "" {
		return "none"
	}
	return string(d.Reason)
}

// tally counts what was right.
type tally struct{ cases, reason, fault, phase, engine int }

func (a *tally) add(c labelled, d Diagnosis) bool {
	a.cases++
	right := reasonWord(d) == c.reason && string(d.Fault) == c.fault
	for ok, n := range map[*int]bool{&a.reason: reasonWord(d) == c.reason, &a.fault: string(d.Fault) == c.fault, &a.phase: string(d.Phase) == c.phase, &a.engine: d.Engine == c.engine} {
		if n {
			*ok++
		}
	}
	return right
}

func TestDiagnosisAccuracy(t *testing.T) {
	var seen, held tally
	var wrong []string
	for _, c := range allLabelled(t) {
		d := diagnoseText(t, c.log, c.end)
		group := &seen
		if c.held {
			group = &held
		}
		if right := group.add(c, d); (!right || string(d.Phase) != c.phase) && (!c.held || os.Getenv("SHOW_HELD") != "") {
			wrong = append(wrong, c.name+": want "+c.phase+" "+c.reason+" "+c.fault+", got "+string(d.Phase)+" "+reasonWord(d)+" "+string(d.Fault)+" ("+d.Signature+") by "+d.Evidence)
		}
	}
	for name, a := range map[string]tally{"development": seen, "held out": held} {
		t.Logf("%-11s %3d logs: reason %d, fault %d, phase %d, engine %d", name, a.cases, a.reason, a.fault, a.phase, a.engine)
	}
	for _, w := range wrong {
		t.Log(w)
	}
}

var _ = bufio.NewReader
