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
	setUnseen2     = "unseen 2"    // the same once more, after that mending
	setUnseen3     = "unseen 3"    // and once more
	setUnseen4     = "unseen 4"    // the last few
	setUnseen      = "unseen"      // written after those, from reports of which none was known; the rules were then mended on them
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

// TestDiagnosisAccuracy holds what was reached, by set. When the rules were first run on them they were right on reason and fault of 73 of the 86
// development logs, 33 of the 37 held out (before any rule was added), and 43 of the 49 later ones (18 of 23, then, with what those
// had shown, 25 of 26). All were assembled by one hand from many reports: other people's logs will be harder.
// The 55 unseen ones, from 55 reports of which none had been looked at before, show by how much: 33 were right on reason and fault at
// first (all 12 healthy ones, 21 of the 43 failures), 40 on the phase. After the rules had been mended on those, 25 more from reports
// unseen until then: 16 at first right on the reason and 18 on the fault (all 6 healthy ones), 20 on the phase. One label was changed since
// (u2-scheduler-died-255: unknown at first, now as every other death without words). Then 20 more, seven of them kinds without a report, picked
// because no rule was known for them: 9 at first right on reason and fault, and 2 of the 3 healthy ones; the phase of two was labelled anew, as warm-up. Of the last 7, 3.
func TestDiagnosisAccuracy(t *testing.T) {
	tallies := map[string]*tally{setDevelopment: {}, setHeld: {}, setLater: {}, setUnseen: {}, setUnseen2: {}, setUnseen3: {}, setUnseen4: {}}
	for _, c := range allLabelled(t) {
		d := diagnoseText(t, c.log, c.end)
		if right := tallies[c.set].add(c, d); !right || string(d.Phase) != c.phase {
			t.Logf("%s: want %s %s %s, got %s %s %s (%s) by %s", c.name, c.phase, c.reason, c.fault, d.Phase, reasonWord(d), d.Fault, d.Signature, d.Evidence)
		}
	}
	floors := map[string]tally{
		setDevelopment: {cases: 86, reason: 86, fault: 86, phase: 83, engine: 81},
		setHeld:        {cases: 37, reason: 37, fault: 37, phase: 36, engine: 35},
		setLater:       {cases: 49, reason: 49, fault: 49, phase: 49, engine: 47},
		setUnseen:      {cases: 55, reason: 55, fault: 55, phase: 49, engine: 55},
		setUnseen4:     {cases: 7, reason: 7, fault: 7, phase: 6, engine: 7},
		setUnseen3:     {cases: 20, reason: 20, fault: 20, phase: 19, engine: 20},
		setUnseen2:     {cases: 25, reason: 25, fault: 25, phase: 23, engine: 24},
	}
	for name, a := range tallies {
		t.Logf("%-11s %3d logs: reason %d, fault %d, phase %d, engine %d", name, a.cases, a.reason, a.fault, a.phase, a.engine)
		f := floors[name]
		if a.cases < f.cases || a.reason < f.reason || a.fault < f.fault || a.phase < f.phase || a.engine < f.engine {
			t.Errorf("%s: %+v is below %+v", name, *a, f)
		}
	}
}

// TestDiagnosisHasProof: a failure names its line, a hint, and lines that are in the log.
func TestDiagnosisHasProof(t *testing.T) {
	for _, c := range allLabelled(t) {
		d := diagnoseText(t, c.log, c.end)
		lines := strings.Split(c.log, "\n")
		if d.Hint == "" || len(d.Proof) == 0 {
			t.Errorf("%s: no hint or no proof: %+v", c.name, d)
		}
		causes := 0
		for i, q := range d.Proof {
			if q.Line < 1 || q.Line > len(lines) || i > 0 && q.Line < d.Proof[i-1].Line {
				t.Errorf("%s: line %d of %d after %+v", c.name, q.Line, len(lines), d.Proof)
			}
			if q.Role == RoleCause {
				causes++
			}
		}
		if byWords := d.Verdict == VerdictFailed && d.Signature != "killed" && d.Signature != "segfault" && d.Signature != "bus_error"; byWords && causes == 0 {
			t.Errorf("%s: %s has no line of its cause: %+v", c.name, d.Signature, d.Proof)
		}
	}
}

// TestDiagnosisAgreesWithTheJudge: recorded failures get the reason that a trial would get, healthy logs none.
func TestDiagnosisAgreesWithTheJudge(t *testing.T) {
	for _, r := range recordings() {
		for _, end := range []End{{}, {Known: true, Code: r.evidence.ExitCode}} {
			d := diagnoseText(t, strings.Join(readLog4(t, r.file), "\n"), end)
			if d.Verdict != VerdictFailed || d.Reason != r.want.Reason || d.Signature != r.want.Signature || d.Phase != r.want.Phase {
				t.Errorf("%s, %+v: %s %s %s %s", r.file, end, d.Verdict, d.Phase, d.Reason, d.Signature)
			}
		}
	}
	healthy, _ := filepath.Glob("testdata/logs/healthy/*.log")
	for _, file := range healthy {
		if d := diagnoseText(t, strings.Join(readLog4(t, "healthy/"+filepath.Base(file)), "\n"), End{}); d.Verdict != VerdictHealthy {
			t.Errorf("%s: %s %s %+v", file, d.Verdict, d.Signature, d.Proof)
		}
	}
}

// TestDiagnosisOfWhatIsNoLog: anything gets an answer.
func TestDiagnosisOfWhatIsNoLog(t *testing.T) {
	for name, text := range map[string]string{"empty": "", "blank": "\n\n\n", "prose": "Dear all,\nthe server is down.\n", "bytes": "\x00\xff\xfe\x1b[31m\x80\n\x00", "json": "{\"log\": 3}\n{}\n{\"log\":", "markers": "Traceback (most recent call last)"} {
		for _, end := range []End{{}, {Known: true}, {Known: true, Code: 1}, {Known: true, Code: 137}, {Known: true, Code: -11}, {Known: true, Signal: "BUS"}, {Known: true, Code: 127}} {
			d := diagnoseText(t, text, end)
			if d.Hint == "" || d.Verdict == "" || d.Fault == "" || d.Verdict == VerdictHealthy && end.Code != 0 {
				t.Errorf("%s, %+v: %+v", name, end, d)
			}
		}
	}
}
