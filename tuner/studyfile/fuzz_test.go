package studyfile_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"autotune/tuner/studyfile"
)

// FuzzParse: whatever is read, there is a valid spec or a list of errors with places in the text, in order.
func FuzzParse(f *testing.F) {
	f.Add([]byte(good))
	for _, c := range errorCases {
		text := good
		for _, line := range c.lines {
			text = strings.Replace(text, "budget: {trials: 5}", line, 1)
		}
		f.Add([]byte(text))
	}
	for _, c := range oddities {
		f.Add([]byte(c.text))
	}
	for _, name := range []string{"../../examples/glm-5.2-8xh200.yaml", "../../examples/qwen3.5-35b-a3b-h200.yaml", "../../examples/quickstart/study.yaml"} {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) { checkParse(t, text) })
}

func checkParse(t *testing.T, text []byte) {
	spec, err := known.Parse("s.yaml", text)
	if err == nil {
		checkSpec(t, spec)
		return
	}
	var all studyfile.Errors
	if !errors.As(err, &all) || len(all) == 0 {
		t.Fatalf("%T %v is no list of errors", err, err)
	}
	lines := 1 + bytes.Count(text, []byte("\n")) + bytes.Count(text, []byte("\r"))
	for i, e := range all {
		if e.Problem == "" || e.File != "s.yaml" {
			t.Errorf("error without a problem or a file: %+v", e)
		}
		if e.Line < 0 || e.Line > lines || e.Line > 0 && e.Column < 1 || i > 0 && e.Line < all[i-1].Line {
			t.Errorf("error %d is out of place: %v", i, e)
		}
	}
}

// checkSpec holds for every valid spec: it can be read again, makes a problem, and its points keep the space.
func checkSpec(t *testing.T, spec *studyfile.Spec) {
	again, err := studyfile.Parse(spec.Source, spec.Text)
	if err != nil {
		t.Fatalf("a valid spec is not valid again: %v", err)
	}
	if diff := studyfile.DiffText(spec, again); len(diff) > 0 {
		t.Errorf("a spec differs from itself: %q", diff)
	}
	p, err := spec.Problem(nil, nil)
	if err != nil {
		t.Fatalf("a valid spec makes no problem: %v", err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 3 {
		point := p.Space.Random(r)
		text, err := point.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		if back, err := p.Space.ParsePoint(text); err != nil || back.Key() != point.Key() {
			t.Errorf("%s came back as %s, %v", text, back.Key(), err)
		}
	}
}

func TestOddYAML(t *testing.T) {
	for _, c := range oddities {
		t.Run(c.name, func(t *testing.T) {
			checkParse(t, []byte(c.text))
			got := strings.Join(parseErrors(t, c.text), "\n")
			if c.want == "" && got != "" || c.want != "" && !strings.HasPrefix(got, c.want) {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// oddities are texts that are strange in themselves; want is how the first error begins, empty where the text is valid.
var oddities = []struct{ name, text, want string }{
	{"empty", "", "1:1: the spec is empty"},
	{"blanks", " \n\n  \n", "1:1: the spec is empty"},
	{"comments", "# nothing\n", "1:1: the spec is empty"},
	{"null", "null\n", "1:1: wrong type: found nothing"},
	{"scalar", "hello\n", "1:1: wrong type"},
	{"list", "- a\n- b\n", "1:1: wrong type"},
	{"byte order mark", "\ufeff" + good, ""},
	{"CRLF", strings.ReplaceAll(good, "\n", "\r\n"), ""},
	{"old Mac", strings.ReplaceAll(good, "\n", "\r"), ""},
	{"CRLF and a mistake", strings.ReplaceAll(strings.Replace(good, "gpus: 8", "gpus: x # why", 1), "\n", "\r\n"), "3:7: gpus: wrong type"},
	{"a document's start", "---\n" + good, ""},
	{"a document's end", good + "...\n", ""},
	{"two documents", good + "---\n" + good, "17:5: a second YAML document begins here"},
	{"tabs", strings.Replace(good, "    fixed", "\tfixed", 1), "10:1: a tab in the indentation"},
	{"NUL", "name: a\x00b\n", "1:8: is not a YAML text: byte 0x00"},
	{"Latin 1", "name: caf\xe9\n", "1:10: is not a YAML text: byte 0xe9"},
	{"UTF-16", "\xff\xfen\x00a\x00", "1:1: is not a YAML text"},
	{"unclosed bracket", "name: [a\n", "1:"},
	{"unclosed quote", "name: \"a\n", "1:"},
	{"stray percent", "gate: %50\n", "1:"},
	{"merge", "<<: {a: 1}\n" + good, "1:1: YAML merges"},
	{"directive", "%YAML 1.2\n---\n" + good, "1:"},
	{"complex key", "? a\n: b\n", "1:"},
	{"deep brackets", "a: " + strings.Repeat("[", 5000) + strings.Repeat("]", 5000), "1:"},
	{"deep blocks", deepBlocks(200), "42:43: nested too deeply"},
	{"deep dashes", strings.Repeat("- ", 5000) + "a", "1:"},
	{"billion laughs", "a: &a [x,x,x,x]\nb: &b [*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b]\nname: *c\n", "1:"},
	{"huge", "# " + strings.Repeat("x", 100<<10), " is 100 KiB long"},
	{"two keys of one name", "name: a\n" + good, "2:1: key \"name\" is given twice"},
	{"YAML 1.1 booleans are texts", strings.Replace(good, "fixed: {tp-size: 8}", "fixed: {tp-size: 8, a: yes, b: off, c: y}", 1), ""},
	{"octal", strings.Replace(good, "tp-size: 8", "tp-size: 010", 1), "10:22: engines.sglang.fixed.tp-size: a number in a doubtful spelling"},
	{"infinite", strings.Replace(good, "tp-size: 8", "tp-size: -.inf", 1), "10:22: engines.sglang.fixed.tp-size: not a finite number"},
	{"beyond a float", strings.Replace(good, "tp-size: 8", "tp-size: 1e999", 1), "10:22: engines.sglang.fixed.tp-size: the number is beyond what a float holds"},
	{"beyond int64", strings.Replace(good, "tp-size: 8", "tp-size: 9223372036854775808", 1), "10:22: engines.sglang.fixed.tp-size: the integer is beyond 64 bits"},
	{"a date is a text", strings.Replace(good, "tp-size: 8", "tp-size: 2024-01-01", 1), ""},
	{"block text", "gate: |\n  a\n" + strings.Replace(good, "gate: {success_rate: 0.99}\n", "", 1), "1:7: gate: wrong type: found the text \"a\\n\""},
}

// deepBlocks nests mappings by indentation.
func deepBlocks(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	return b.String()
}
