package engine

import (
	"hash/crc32"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// The sets of labelled logs. All were written before their figures were looked at.
const (
	setDevelopment = "development" // the rules were mended on them
	setHeld        = "held out"    // a third, whose mistakes nobody looked at while rules were written
	setLater       = "later"       // written after the rules, from other reports
)

// labelled is a log with what is right to say of it.
type labelled struct {
	name   string
	set    string
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
	c.set = setDevelopment
	if crc32.ChecksumIEEE([]byte(c.name))%3 == 0 {
		c.set = setHeld
	}
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
	if head["set"] != "" {
		c.set = head["set"]
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
	tallies := map[string]*tally{setDevelopment: {}, setHeld: {}, setLater: {}}
	for _, c := range allLabelled(t) {
		d := diagnoseText(t, c.log, c.end)
		if right := tallies[c.set].add(c, d); !right || string(d.Phase) != c.phase {
			t.Logf("%s: want %s %s %s, got %s %s %s (%s) by %s", c.name, c.phase, c.reason, c.fault, d.Phase, reasonWord(d), d.Fault, d.Signature, d.Evidence)
		}
	}
	for name, a := range tallies {
		t.Logf("%-11s %3d logs: reason %d, fault %d, phase %d, engine %d", name, a.cases, a.reason, a.fault, a.phase, a.engine)
	}
}
