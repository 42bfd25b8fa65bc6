package workload

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// common is how many tokens two prompts begin with alike.
func common(a, b []int32) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

func prompts(requests []Request, repeat int) [][]int32 {
	var out [][]int32
	for _, r := range requests {
		out = append(out, Prompt(7, 3, repeat, r, 50_000, nil))
	}
	return out
}

// sharing holds for every workload: prompts have the lengths that are said, share what want says and (but for chance) no token more, and share nothing
// with a repeat, a warm-up or another trial, which have the same lengths and share the same among themselves.
func sharing(t *testing.T, requests []Request, want func(i, j int) int) {
	t.Helper()
	first, again := prompts(requests, 0), prompts(requests, 1)
	for i := range first {
		if len(first[i]) != requests[i].Input || len(again[i]) != requests[i].Input {
			t.Fatalf("prompt %d has %d tokens and %d in a repeat, want %d", i, len(first[i]), len(again[i]), requests[i].Input)
		}
		for j := range first {
			if j < i {
				for _, p := range [][][]int32{first, again} {
					if got := common(p[i], p[j]); got < want(i, j) || got > want(i, j)+2 {
						t.Errorf("prompts %d and %d share %d tokens, want %d", i, j, got, want(i, j))
					}
				}
			}
			if n := common(first[i], again[j]); n > 2 {
				t.Errorf("prompt %d shares %d tokens with prompt %d of a repeat", i, n, j)
			}
		}
	}
}

func TestPrefixes(t *testing.T) {
	s := Spec{Dataset: Prefix, Prefixes: 3, PrefixTokens: 65, InputTokens: 31, OutputTokens: 4, Requests: 12, Endpoint: Completions, Seed: 5}
	requests, err := s.Expand(nil)
	if err != nil {
		t.Fatal(err)
	}
	count := map[uint64]int{}
	for _, r := range requests {
		if r.Input != 96 || r.Output != 4 {
			t.Fatalf("%+v", r)
		}
		count[r.Pieces[0].Key]++
	}
	if len(count) != 3 || count[requests[0].Pieces[0].Key] != 4 {
		t.Errorf("prefixes are used so often: %v", count)
	}
	sharing(t, requests, func(i, j int) int {
		if requests[i].Pieces[0] == requests[j].Pieces[0] {
			return 65
		}
		return 0
	})
	if got := sharedTokens(requests); got != 9*65 {
		t.Errorf("%d tokens are shared, want %d", got, 9*65)
	}
}

func TestConversations(t *testing.T) {
	s := Spec{Dataset: Conversation, Turns: 3, Requests: 6, InputTokens: 10, OutputTokens: 5, PrefixTokens: 7, ThinkTime: time.Second, Rate: 2, Endpoint: Completions}
	requests, err := s.Expand(nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range requests {
		turn := i % 3
		want := Request{Index: i, Arrival: time.Duration(i/3) * 500 * time.Millisecond, Input: 7 + 10 + 15*turn, Output: 5, Pieces: r.Pieces, Turn: turn}
		if turn > 0 {
			want.Think = time.Second
		}
		if !reflect.DeepEqual(r, want) {
			t.Errorf("%+v, want %+v", r, want)
		}
	}
	sharing(t, requests, func(i, j int) int {
		if i/3 != j/3 {
			return 7
		}
		return requests[j].Input // of the earlier turn: all of it
	})
}

// The prompts of a trace share what its blocks say, a last block that is not full included.
func TestTraceSharing(t *testing.T) {
	rows := []Row{
		{Input: 1200, Output: 3, Blocks: []int64{0, 1, 2}, Timed: true, Line: 1},
		{Input: 1100, Output: 1, Blocks: []int64{0, 1, 2}, Timed: true, Arrival: 3 * time.Second, Line: 2},
		{Input: 1030, Output: 9, Blocks: []int64{0, 1, 3}, Timed: true, Arrival: 3 * time.Second, Line: 3},
		{Input: 600, Output: 9, Blocks: []int64{0, 4}, Timed: true, Arrival: 5 * time.Second, Line: 4},
		{Input: 50, Output: 9, Blocks: []int64{5}, Timed: true, Arrival: 6 * time.Second, Line: 5},
		{Input: 50, Output: 9, Timed: true, Arrival: 6 * time.Second, Line: 6}, // of its own
	}
	s := Spec{Dataset: Mooncake, Path: "p", Endpoint: Completions}
	requests, err := s.Expand(rows)
	if err != nil {
		t.Fatal(err)
	}
	sharing(t, requests, func(i, j int) int {
		shared := 0
		for k, id := range rows[i].Blocks {
			if k == len(rows[j].Blocks) || rows[j].Blocks[k] != id {
				break
			}
			shared = min((k+1)*BlockTokens, rows[i].Input, rows[j].Input)
		}
		return shared
	})
	if got := sharedTokens(requests); got != 1100+1024+512 {
		t.Errorf("%d tokens are shared", got)
	}
}

func TestWindow(t *testing.T) {
	var rows []Row
	for i := range 10 {
		rows = append(rows, Row{Input: 100 + i, Output: 1, Timed: true, Arrival: time.Duration(100+i) * time.Second, Line: i + 2})
	}
	slices.Reverse(rows)
	s := Spec{Dataset: Azure, Endpoint: Completions, From: 2 * time.Second, To: 6 * time.Second, Speed: 2}
	requests, err := s.Expand(rows)
	if err != nil || len(requests) != 4 || requests[0].Input != 102 || requests[0].Arrival != 0 || requests[3].Input != 105 || requests[3].Arrival != 1500*time.Millisecond {
		t.Fatalf("%v, %+v", err, requests)
	}
	s.Requests, s.OutputTokens = 2, 7
	if requests, err = s.Expand(rows); err != nil || len(requests) != 2 || requests[1].Output != 7 {
		t.Errorf("%v, %+v", err, requests)
	}
	s.Speed, s.Rate = 0, 10
	if requests, err = s.Expand(rows); err != nil || requests[1].Arrival != 100*time.Millisecond {
		t.Errorf("a rate does not replace the file's arrivals: %v, %+v", err, requests)
	}
	s.Rate, s.AtOnce = 0, true
	if requests, err = s.Expand(rows); err != nil || requests[1].Arrival != 0 {
		t.Errorf("all at once: %v, %+v", err, requests)
	}
	s.Requests = 5
	for want, change := range map[string]func(*Spec, []Row) []Row{
		"has 4 rows in the window": func(_ *Spec, r []Row) []Row { return r },
		"no row in the window from 1h0m0s to the file's end: its rows arrive over ": func(s *Spec, r []Row) []Row { s.From, s.To = time.Hour, 0; return r },
		"9 of the dataset's 10 rows have an":                                        func(_ *Spec, r []Row) []Row { r[3].Timed = false; return r },
		"no row of the dataset has one":                                             func(_ *Spec, r []Row) []Row { return []Row{{Input: 1}} },
		"line 3 of the dataset: the length": func(s *Spec, r []Row) []Row {
			s.OutputTokens, s.Requests, r[8].Output = 0, 2, 0
			s.From = time.Second
			return r
		},
	} {
		bad := s
		if _, err := bad.Expand(change(&bad, slices.Clone(rows))); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}

func TestEndpointsTakeRows(t *testing.T) {
	chat := `[{"role":"user","content":"hi"}]`
	for _, c := range []struct {
		endpoint string
		row      Row
		want     string
	}{
		{Chat, Row{Messages: chat, Output: 1}, ""}, {Chat, Row{Prompt: "a", Output: 1}, ""}, {Completions, Row{Prompt: "a", Output: 1}, ""},
		{Completions, Row{Tokens: []int32{1}, Output: 1}, ""}, {Chat, Row{Tokens: []int32{1}, Output: 1}, "only endpoint: completions"},
		{Completions, Row{Messages: chat, Output: 1}, "only endpoint: chat"},
	} {
		_, err := Spec{Dataset: JSONL, Endpoint: c.endpoint}.Expand([]Row{c.row})
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s, %+v: %v", c.endpoint, c.row, err)
		}
	}
}

// Given prompts begin otherwise under every mark, are as long as under another, and keep what they share.
func TestMarks(t *testing.T) {
	chat := `[{"role":"system","content":"Be kind."},{"role":"user","content":"hi"}]`
	parts := `[{"role":"user","content":[{"type":"text","text":"hi"}]}]`
	if MarkText("a b", 0) != "a b" || MarkMessages(chat, 0) != chat || !slices.Equal(MarkTokens([]int32{5, 6}, 0), []int32{5, 6}) {
		t.Error("without a mark it is not what the dataset has")
	}
	texts, tokens, chats, lengths := map[string]bool{}, map[[2]int32]bool{{5, 6}: true}, map[string]bool{}, map[string]int{}
	for _, mark := range []int{WarmupRepeat, 0, 1, 2, 50, 898, 899, 900, 1798, 123456, 999999} {
		text := MarkText("a b", mark)
		texts[text] = true
		if mark > 0 {
			for name, n := range map[string]int{"a text": len(text), chat: len(MarkMessages(chat, mark)), parts: len(MarkMessages(parts, mark))} {
				if lengths[name] == 0 {
					lengths[name] = n
				}
				if n != lengths[name] {
					t.Errorf("mark %d: %s has %d characters, and %d under another", mark, name, n, lengths[name])
				}
			}
		}
		if mark != 0 {
			ids := MarkTokens([]int32{5, 6, 7}, mark)
			if begin := [2]int32(ids); tokens[begin] || ids[0] == 5 || len(ids) != 3 || ids[2] != 7 || ids[0] < specialTokens || ids[0] >= DefaultVocab {
				t.Errorf("mark %d: %v", mark, ids)
			} else {
				tokens[begin] = true
			}
			if one := MarkTokens([]int32{5}, mark); len(one) != 1 || one[0] == 5 {
				t.Errorf("mark %d: %v", mark, one)
			}
		}
		for _, m := range []string{chat, parts} {
			got := MarkMessages(m, mark)
			if err := CheckMessages([]byte(got)); err != nil || chats[got] {
				t.Errorf("mark %d: %s: %v", mark, got, err)
			}
			chats[got] = true
		}
	}
	if len(texts) != 11 {
		t.Errorf("%d texts of 11 marks", len(texts))
	}
	if !strings.HasPrefix(MarkMessages(chat, 2), `[{"content":"[000002] Be kind."`) {
		t.Errorf("%s", MarkMessages(chat, 2))
	}
	marks := map[int]bool{}
	for repeat := range 1000 {
		marks[Mark(7, 3, repeat)] = true
	}
	if len(marks) != 1000 || Mark(7, 3, 0) == Mark(8, 3, 0) || Mark(7, 3, 0) == Mark(7, 4, 0) || Mark(7, 3, WarmupRepeat) != WarmupRepeat {
		t.Errorf("%d marks of 1000 repeats", len(marks))
	}
	for _, bad := range []string{`{}`, `[]`, `[{"content":"x"}]`, `[{"role":"user"}]`, `[{"role":"user","content":7}]`, `[{"role":"user","content":null}]`} {
		if CheckMessages([]byte(bad)) == nil {
			t.Errorf("%s passes for a chat", bad)
		}
	}
}

func TestLengths(t *testing.T) {
	for _, c := range []struct {
		by       Lengths
		mean, sd float64
	}{
		{Lengths{Kind: Uniform, Min: 512, Max: 1024}, 768, 513 / math.Sqrt(12)},
		{Lengths{Kind: Normal, Mean: 1000, SD: 100, Min: 1}, 1000, 100},
		{Lengths{Kind: LogNormal, Mean: 400, SD: 300, Min: 1}, 400, 300},
		{Lengths{Kind: Normal, Mean: 100, SD: 0, Min: 1}, 100, 0},
	} {
		s := balanced
		s.InputTokens, s.InputLengths, s.Requests = 0, c.by, 5000
		requests, err := s.Expand(nil)
		if err != nil {
			t.Fatal(err)
		}
		sum, squares, n := 0.0, 0.0, float64(len(requests))
		for _, r := range requests {
			sum += float64(r.Input)
			squares += float64(r.Input * r.Input)
		}
		mean := sum / n
		sd := math.Sqrt(max(0, squares/n-mean*mean))
		if math.Abs(mean-c.mean) > 0.005*c.mean || math.Abs(sd-c.sd) > 0.03*c.sd {
			t.Errorf("%v: mean %.1f, standard deviation %.1f; want %.1f, %.1f", c.by, mean, sd, c.mean, c.sd)
		}
	}
	cut := Lengths{Kind: Normal, Mean: 100, SD: 80, Min: 50, Max: 150}
	if low, high := cut.quantile(0.001), cut.quantile(0.999); low != 50 || high != 150 {
		t.Errorf("cut to %d..%d", low, high)
	}
	for _, bad := range []Lengths{{Kind: "zipf"}, {Kind: Uniform, Min: 5, Max: 4}, {Kind: Uniform, Min: 0, Max: 4}, {Kind: Normal, Mean: math.NaN(), Min: 1}, {Kind: LogNormal, Mean: 5, SD: -1, Min: 1}} {
		if bad.Validate() == nil {
			t.Errorf("%+v passes", bad)
		}
	}
}

func TestLongest(t *testing.T) {
	for _, c := range []struct {
		s    Spec
		want int
	}{
		{balanced, 9216},
		{Spec{Dataset: Random, InputLengths: Lengths{Kind: Uniform, Min: 1, Max: 100}, OutputTokens: 5, Requests: 1000}, 105},
		{Spec{Dataset: Prefix, PrefixTokens: 50, InputTokens: 10, OutputTokens: 5, Requests: 2}, 65},
		{Spec{Dataset: Conversation, Turns: 3, InputTokens: 10, OutputTokens: 5, Requests: 6}, 45},
		{Spec{Dataset: ShareGPT, OutputTokens: 7, Requests: 2}, 7},
	} {
		if got := c.s.Longest(); got != c.want {
			t.Errorf("%+v: %d, want %d", c.s, got, c.want)
		}
	}
}

func TestDescribe(t *testing.T) {
	ramp := balanced
	ramp.Rate, ramp.Ramp, ramp.MaxConcurrency = 0, Ramp{1, 20, 2 * time.Minute}, 0
	talk := Spec{Dataset: Conversation, Turns: 2, Requests: 4, InputTokens: 10, OutputTokens: 5, ThinkTime: time.Second, Rate: 2, Burstiness: 1, Endpoint: Completions}
	prefix := Spec{Dataset: Prefix, Prefixes: 1, PrefixTokens: 30, InputTokens: 10, OutputTokens: 5, Requests: 2, MaxConcurrency: 1, Endpoint: Completions}
	for want, s := range map[string]Spec{
		"1000 requests of random; 8192 tokens in, 1024 out; 1000 requests/s, at a constant rate; at most 512 at once":                                                                                                      balanced,
		"1000 requests of random; 8192 tokens in, 1024 out; 1 to 20 requests/s over 2m0s, at a constant rate":                                                                                                              ramp,
		"2 conversations of 2 turns, a turn every 1s after the answer; 18 on average (10 to 25) tokens in, 5 out, 29 % of what goes in shared with an earlier prompt's beginning; 2 conversations/s, as a Poisson process": talk,
		"2 requests of prefix; 40 tokens in, 5 out, 38 % of what goes in shared with an earlier prompt's beginning; as soon as one ends the next is sent; at most 1 at once":                                               prefix,
	} {
		requests, err := s.Expand(nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Describe(requests); got != want {
			t.Errorf("%s\nwant\n%s", got, want)
		}
	}
	if got := (Spec{Dataset: Mooncake, Speed: 2}).Describe(nil); got != "every request in the window of mooncake; as many tokens as the file says; arrivals of the file" {
		t.Error(got)
	}
}

func TestMeans(t *testing.T) {
	for _, s := range []Spec{
		{Dataset: Random, InputLengths: Lengths{Kind: Uniform, Min: 10, Max: 20}, OutputLengths: Lengths{Kind: Normal, Mean: 30, SD: 2, Min: 1}, Requests: 1000, Endpoint: Completions},
		{Dataset: Prefix, Prefixes: 2, PrefixTokens: 50, InputTokens: 10, OutputTokens: 5, Requests: 8, Endpoint: Completions},
		{Dataset: Conversation, Turns: 4, PrefixTokens: 3, InputTokens: 10, OutputTokens: 5, Requests: 8, Endpoint: Completions},
	} {
		requests, err := s.Expand(nil)
		if err != nil {
			t.Fatal(err)
		}
		in, out, n := 0.0, 0.0, float64(len(requests))
		for _, r := range requests {
			in, out = in+float64(r.Input)/n, out+float64(r.Output)/n
		}
		if gotIn, gotOut := s.Means(); math.Abs(gotIn-in) > 0.01*in || math.Abs(gotOut-out) > 0.01*out {
			t.Errorf("%+v: means %v, %v; want %v, %v", s, gotIn, gotOut, in, out)
		}
	}
}
