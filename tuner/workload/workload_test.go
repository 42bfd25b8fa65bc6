package workload

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

var balanced = Spec{Name: "balanced", Dataset: Random, InputTokens: 8192, OutputTokens: 1024, Requests: 1000, Rate: 1000,
	MaxConcurrency: 512, Seed: 42, Endpoint: Completions}

func TestExpandRandom(t *testing.T) {
	requests, err := balanced.Expand(nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(requests) != 1000 {
		t.Fatalf("%d requests", len(requests))
	}
	if want := (Request{Index: 999, Arrival: 999 * time.Millisecond, Input: 8192, Output: 1024}); !reflect.DeepEqual(requests[999], want) {
		t.Errorf("the last one is %+v, want %+v", requests[999], want)
	}
	all := balanced
	all.Rate = 0
	if requests, _ = all.Expand(nil); requests[999].Arrival != 0 {
		t.Errorf("all at once, but the last one comes at %v", requests[999].Arrival)
	}
	third := balanced
	third.Rate = 3
	if requests, _ = third.Expand(nil); requests[1].Arrival != 333333*time.Microsecond || requests[3].Arrival != time.Second {
		t.Errorf("at 3 a second: %v, %v", requests[1].Arrival, requests[3].Arrival)
	}
}

func shareGPT(requests int, seed uint64) Spec {
	return Spec{Dataset: ShareGPT, Requests: requests, Rate: 10, Seed: seed, Endpoint: Chat}
}

func TestExpandShareGPT(t *testing.T) {
	var rows []Row
	for i := range 50 {
		rows = append(rows, Row{Prompt: strings.Repeat("word ", i+1), Output: 10 + i})
	}
	first, err := shareGPT(20, 1).Expand(rows)
	if err != nil {
		t.Fatal(err)
	}
	again, _ := shareGPT(20, 1).Expand(rows)
	if !reflect.DeepEqual(first, again) {
		t.Error("the same seed chose other rows")
	}
	other, _ := shareGPT(20, 2).Expand(rows)
	if reflect.DeepEqual(first, other) {
		t.Error("another seed chose the same rows")
	}
	seen := map[string]bool{}
	for _, r := range first {
		if seen[r.Text] {
			t.Errorf("a row was sent twice")
		}
		seen[r.Text] = true
		if want := 9 + len(r.Text)/len("word "); r.Output != want {
			t.Errorf("a row of output %d asks for %d", want, r.Output)
		}
	}
	forced := shareGPT(20, 1)
	forced.OutputTokens = 7
	if got, _ := forced.Expand(rows); got[3].Output != 7 || got[3].Text != first[3].Text {
		t.Errorf("a forced length gave %+v", got[3])
	}
	if _, err := shareGPT(51, 1).Expand(rows); err == nil || !strings.Contains(err.Error(), "50 usable") {
		t.Errorf("too few rows: %v", err)
	}
}

func TestShareGPTLengths(t *testing.T) {
	for _, c := range []struct {
		n       int
		in, out float64
	}{{1000, 328, 270}, {1000, 342, 281}, {7, 328, 270}, {100, 5, 4000}} {
		requests := ShareGPTLengths(c.n, 42, c.in, c.out)
		sumIn, sumOut := 0, 0
		var in []int
		for i, r := range requests {
			if r.Index != i || r.Input < 4 || r.Input > 4096 || r.Output < 4 || r.Output > 4096 {
				t.Fatalf("request %d is %+v", i, r)
			}
			sumIn, sumOut, in = sumIn+r.Input, sumOut+r.Output, append(in, r.Input)
		}
		if want := int(math.Round(c.in * float64(c.n))); sumIn != want {
			t.Errorf("%v: %d prompt tokens in all, want %d", c, sumIn, want)
		}
		if want := int(math.Round(c.out * float64(c.n))); sumOut != want {
			t.Errorf("%v: %d answer tokens in all, want %d", c, sumOut, want)
		}
		slices.Sort(in)
		if median := in[len(in)/2]; float64(median) > 0.8*c.in {
			t.Errorf("%v: the median is %d: no long tail", c, median)
		}
	}
	if reflect.DeepEqual(ShareGPTLengths(100, 1, 300, 200), ShareGPTLengths(100, 2, 300, 200)) {
		t.Error("the seed does nothing")
	}
}

func TestValidate(t *testing.T) {
	if err := balanced.Validate(); err != nil {
		t.Errorf("a good one: %v", err)
	}
	for want, change := range map[string]func(*Spec){
		"dataset is":         func(s *Spec) { s.Dataset = "sonnets" },
		"input_tokens is":    func(s *Spec) { s.InputTokens = 0 },
		"output_tokens is":   func(s *Spec) { s.OutputTokens = -1 },
		"endpoint is chat":   func(s *Spec) { s.Endpoint = Chat },
		`endpoint is ""`:     func(s *Spec) { s.Endpoint = "" },
		"requests is 0":      func(s *Spec) { s.Requests = 0 },
		"rate is NaN":        func(s *Spec) { s.Rate = math.NaN() },
		"rate is -1":         func(s *Spec) { s.Rate = -1 },
		"max_concurrency is": func(s *Spec) { s.MaxConcurrency = -1 },
		"warmup is":          func(s *Spec) { s.Warmup = -1 },
		"a limit is":         func(s *Spec) { s.WallLimit = -1 },
	} {
		bad := balanced
		change(&bad)
		if err := bad.Validate(); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("want %q..., got %v", want, err)
		}
	}
}

func TestIdentity(t *testing.T) {
	id := balanced.Identity("")
	same := balanced
	same.Seed, same.Name, same.WallLimit = 7, "other", time.Hour
	if same.Identity("ignored for random") != id {
		t.Error("seed, name or limit changed the identity")
	}
	for name, change := range map[string]func(*Spec){
		"input":       func(s *Spec) { s.InputTokens++ },
		"output":      func(s *Spec) { s.OutputTokens++ },
		"requests":    func(s *Spec) { s.Requests++ },
		"rate":        func(s *Spec) { s.Rate++ },
		"concurrency": func(s *Spec) { s.MaxConcurrency++ },
		"warmup":      func(s *Spec) { s.Warmup++ },
		"endpoint":    func(s *Spec) { s.Endpoint = Chat },
	} {
		other := balanced
		change(&other)
		if other.Identity("") == id {
			t.Errorf("%s is no part of the identity", name)
		}
	}
	if s := shareGPT(20, 1); s.Identity("a") == s.Identity("b") {
		t.Error("the file's content is no part of the identity")
	}
}

func TestPrompt(t *testing.T) {
	r := Request{Index: 3, Input: 8191}
	ids := Prompt(1, 2, 0, r, 2048, nil)
	if len(ids) != 8191 {
		t.Fatalf("%d ids", len(ids))
	}
	if !slices.Equal(ids, Prompt(1, 2, 0, r, 2048, nil)) {
		t.Error("the same arguments gave other ids")
	}
	for name, other := range map[string][]int32{
		"seed": Prompt(2, 2, 0, r, 2048, nil), "trial": Prompt(1, 3, 0, r, 2048, nil), "repeat": Prompt(1, 2, 1, r, 2048, nil),
		"warm-up": Prompt(1, 2, WarmupRepeat, r, 2048, nil), "index": Prompt(1, 2, 0, Request{Index: 4, Input: 8191}, 2048, nil),
	} {
		// Not even one block of a prefix cache may be the same.
		if slices.Equal(ids[:16], other[:16]) {
			t.Errorf("another %s gave the same beginning", name)
		}
	}
	if low, high := slices.Min(ids), slices.Max(ids); low < 100 || high >= 2048 || low > 110 || high < 2038 {
		t.Errorf("ids from %d to %d, want nearly 100 to 2047", low, high)
	}
	if got := Prompt(1, 2, 0, r, 0, nil); slices.Max(got) >= DefaultVocab {
		t.Errorf("an unknown vocabulary gave id %d", slices.Max(got))
	}
	if got := Prompt(1, 2, 0, r, 8, nil); slices.Min(got) != 2 || slices.Max(got) != 7 {
		t.Errorf("a tiny vocabulary gave ids %d to %d", slices.Min(got), slices.Max(got))
	}
}

func TestSentHash(t *testing.T) {
	requests, _ := shareGPT(3, 1).ExpandLengths(300, 200)
	digests := []Digest{DigestOf([]byte("[1,2]")), DigestOf([]byte("[3]")), {}}
	hash := SentHash(requests, digests)
	changed := slices.Clone(requests)
	changed[1].Output++
	if SentHash(changed, digests) == hash {
		t.Error("another forced length gave the same hash")
	}
	digests[1] = DigestOf([]byte("[4]"))
	if SentHash(requests, digests) == hash {
		t.Error("another prompt gave the same hash")
	}
}
