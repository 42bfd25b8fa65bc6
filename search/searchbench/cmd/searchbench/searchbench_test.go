package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"autotune/search/searchbench"
)

func run(t *testing.T, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	if err := dispatch(args, strings.NewReader(""), &out, io.Discard); err != nil {
		t.Fatalf("%v: %v", args, err)
	}
	return out.String()
}

// withoutSeconds reads a file of rows and forgets what differs between two runs.
func withoutSeconds(t *testing.T, path string) string {
	t.Helper()
	rows, err := readAll([]string{path})
	if err != nil {
		t.Fatal(err)
	}
	text := ""
	for _, r := range rows {
		r.Seconds = 0
		text += fmt.Sprintln(r)
	}
	return text
}

// A run that was cut off in the middle of a row goes on where it was, and gives what one in a piece gives; what is there is not run again.
func TestRunGoesOnWhereItWasCutOff(t *testing.T) {
	whole, cut := filepath.Join(t.TempDir(), "whole.csv"), filepath.Join(t.TempDir(), "cut.csv")
	args := func(path, methods string) []string {
		return []string{"run", "-methods", methods, "-surfaces", "additive", "-seeds", "0", "-trials", "8", "-out", path}
	}
	run(t, args(whole, "random,one-at-a-time")...)
	run(t, args(cut, "random,one-at-a-time")...)
	text, err := os.ReadFile(cut)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(cut, text[:len(text)-20], 0o644); err != nil {
		t.Fatal(err)
	}
	run(t, args(cut, "random,one-at-a-time")...)
	if a, b := withoutSeconds(t, whole), withoutSeconds(t, cut); a != b || strings.Count(a, "\n") != 2 {
		t.Errorf("in a piece:\n%s\ncut off:\n%s", a, b)
	}
	before, _ := os.ReadFile(cut)
	run(t, args(cut, "one-at-a-time")...)
	if after, _ := os.ReadFile(cut); !bytes.Equal(before, after) {
		t.Error("a run that has a row was run again")
	}
	asJSON := filepath.Join(t.TempDir(), "table.json")
	if table := run(t, "table", "-json", asJSON, whole); !strings.Contains(table, "| random | 1 |") {
		t.Errorf("the table lacks random:\n%s", table)
	}
	if table := run(t, "table", "-at", "5", whole); !strings.Contains(table, "| @5 | confirmed |") {
		t.Errorf("not a table of five trials:\n%s", table)
	}
	var standings []standing
	if text, err = os.ReadFile(asJSON); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &standings); err != nil {
		t.Fatal(err)
	}
	if len(standings) != 2 || standings[0].Method != "random" || standings[0].Trials != 8 || standings[0].N != 1 || standings[0].Hours <= 0 {
		t.Errorf("as JSON: %+v", standings)
	}
}

// client drives serve as another program would.
type client struct {
	t   *testing.T
	in  *json.Encoder
	out *json.Decoder
}

func (c client) ask(q map[string]any) answer {
	c.t.Helper()
	if err := c.in.Encode(q); err != nil {
		c.t.Fatal(err)
	}
	var a answer
	if err := c.out.Decode(&a); err != nil {
		c.t.Fatal(err)
	}
	return a
}

// A program that knows nothing of the space walks down it by next, value by value, and gets a row for what it evaluated.
func TestServe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rows.csv")
	fromClient, toServer := io.Pipe()
	fromServer, toClient := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- dispatch([]string{"serve", "-out", path}, fromClient, toClient, io.Discard) }()
	c := client{t, json.NewEncoder(toServer), json.NewDecoder(fromServer)}
	open := map[string]any{"op": "open", "surface": "glm8k", "seed": 3, "noise": 0.05, "method": "first"}
	if a := c.ask(map[string]any{"op": "eval"}); a.Error == "" {
		t.Error("eval before open is no error")
	}
	opened := c.ask(open)
	if len(opened.Openings) != 2 || len(opened.Parameters) < 18 {
		t.Fatalf("open: %+v", opened)
	}
	for _, o := range opened.Openings {
		if a := c.ask(map[string]any{"op": "next", "point": o}); !a.OK || a.Broken != "" {
			t.Errorf("a baseline is not whole: %+v", a)
		}
		if a := c.ask(map[string]any{"op": "eval", "point": o}); !a.Runs || a.Value <= 0 {
			t.Errorf("a baseline does not run: %+v", a)
		}
	}
	parameters := map[string]searchbench.Parameter{}
	for _, p := range opened.Parameters {
		parameters[p.Name] = p
	}
	point := map[string]any{"engine": "sglang"}
	for asked := 0; ; asked++ {
		a := c.ask(map[string]any{"op": "next", "point": point})
		if a.OK {
			break
		}
		p, known := parameters[a.Next]
		if !known || asked > len(parameters) {
			t.Fatalf("next names %q", a.Next)
		}
		point[p.Name] = any(p.Low)
		if p.Kind == "choice" {
			point[p.Name] = p.Values[0]
		} else if p.Kind == "int" {
			point[p.Name] = int(p.Low)
		} else {
			point[p.Name] = p.Values[len(p.Values)/2]
		}
	}
	if _, there := point["vllm.max-num-seqs"]; there {
		t.Errorf("next asked for a parameter of the other engine: %v", point)
	}
	if a := c.ask(map[string]any{"op": "eval", "point": point}); a.Error != "" {
		t.Error(a.Error)
	}
	if a := c.ask(map[string]any{"op": "done", "trials": 5, "seconds": 1.5}); a.Error != "" || a.Regret <= 0 {
		t.Errorf("done: %+v", a)
	}
	if a := c.ask(open); !a.Skip {
		t.Errorf("a run that has a row is opened again: %+v", a)
	}
	toServer.Close()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	rows, err := readAll([]string{path})
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != 1 || rows[0].Method != "first" || len(rows[0].Trials) != 5 || rows[0].Seconds != 1.5 || rows[0].Trials[4].Minutes != rows[0].Trials[2].Minutes {
		t.Errorf("rows: %+v", rows)
	}
}

func TestOptionsThatAreWrong(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"run", "-methods", "nobody", "-out", "x"}, `no sampler is called "nobody"`},
		{[]string{"run", "-surfaces", "moon", "-out", "x"}, `no surface is called "moon"; there are six, all, glm8k`},
		{[]string{"run", "-seeds", "9-1", "-out", "x"}, `seeds "9-1"`},
		{[]string{"run", "-noise", "2", "-out", "x"}, `noise "2"`},
		{[]string{"run"}, "-out FILE is missing"},
		{[]string{"table"}, "table wants files of rows"},
		{[]string{"dance"}, `no command is called "dance": there are run, table, surfaces, serve`},
	} {
		err := dispatch(c.args, strings.NewReader(""), io.Discard, io.Discard)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %q", c.args, err, c.want)
		}
	}
}
