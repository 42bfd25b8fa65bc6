package workload

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// What existing studies were measured with: none of it may ever change.
func TestFrozen(t *testing.T) {
	random := balanced
	random.Warmup = 16
	chat := Spec{Name: "s", Dataset: ShareGPT, Path: "p.json", Requests: 1000, Rate: 2.5, Seed: 42, Warmup: 16, Endpoint: Chat}
	if got := random.Identity("f"); got != "674e72889759dd98" {
		t.Errorf("the identity of a random workload is now %s", got)
	}
	if got := chat.Identity("0123456789abcdef"); got != "4ccbbda4b7abe339" {
		t.Errorf("the identity of a ShareGPT workload is now %s", got)
	}
	if got := Prompt(1, 2, 0, Request{Index: 3, Input: 5}, 0, nil); !slices.Equal(got, []int32{550, 573, 635, 255, 998}) {
		t.Errorf("a prompt is now %v", got)
	}
	if got := Prompt(42, 0, WarmupRepeat, Request{Input: 4}, 32000, nil); !slices.Equal(got, []int32{16886, 18081, 19516, 30854}) {
		t.Errorf("a prompt to warm up is now %v", got)
	}
	requests, _ := chat.ExpandLengths(335, 276)
	if last := requests[999]; requests[0].Input != 1070 || requests[0].Output != 164 || last.Input != 1750 || last.Output != 59 || last.Arrival != 399600*time.Millisecond {
		t.Errorf("lengths without a file are now %+v, %+v", requests[0], last)
	}
	var rows []Row
	for i := range 20 {
		rows = append(rows, Row{Prompt: fmt.Sprint(i), Output: i + 4})
	}
	chat.Requests = 5
	requests, _ = chat.Expand(rows)
	var chosen []string
	for _, r := range requests {
		chosen = append(chosen, r.Text)
	}
	if !slices.Equal(chosen, []string{"12", "10", "5", "2", "15"}) {
		t.Errorf("the rows chosen are now %q", chosen)
	}
	if got := SentHash(requests, []Digest{{1}, {2}, {3}, {4}, {5}}); got != "ffa63db53caba5e3b30d654d53971145" {
		t.Errorf("the hash of what was sent is now %s", got)
	}
}

// Each of the further keys changes what is asked; who asks does not.
func TestIdentityOfFurtherKeys(t *testing.T) {
	id := balanced.Identity("")
	seen := map[string]string{}
	for name, change := range map[string]func(*Spec){
		"burstiness": func(s *Spec) { s.Burstiness = 1 }, "ramp": func(s *Spec) { s.Ramp = Ramp{1, 2, time.Second} },
		"input": func(s *Spec) { s.InputLengths = Lengths{Kind: Uniform, Min: 1, Max: 2} }, "output": func(s *Spec) { s.OutputLengths = Lengths{Kind: Uniform, Min: 1, Max: 2} },
		"prefixes": func(s *Spec) { s.Prefixes = 1 }, "prefix tokens": func(s *Spec) { s.PrefixTokens = 1 }, "turns": func(s *Spec) { s.Turns = 2 },
		"think": func(s *Spec) { s.ThinkTime = 1 }, "speed": func(s *Spec) { s.Speed = 2 }, "from": func(s *Spec) { s.From = 1 }, "to": func(s *Spec) { s.To = 1 },
		"body": func(s *Spec) { s.ExtraBody = `{"top_p":0.9}` }, "headers": func(s *Spec) { s.Headers = []Header{{"a", "b"}} },
	} {
		other := balanced
		change(&other)
		got := other.Identity("")
		if got == id || seen[got] != "" {
			t.Errorf("%s is no part of the identity (like %q)", name, seen[got])
		}
		seen[got] = name
	}
	same := balanced
	same.APIKeyEnv, same.Speed = "OPENAI_API_KEY", 1
	if same.Identity("") != id {
		t.Error("the key's variable or the file's own pace changed the identity")
	}
}
