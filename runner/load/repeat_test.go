package load

import (
	"encoding/json"
	"testing"
	"time"

	"autotune/tuner/workload"
)

// sentAs are the prompts of a run as they stand in its requests, and how long each is: in tokens of ids, in bytes of text.
func sentAs(t *testing.T, o Options) (prompts []string, lengths []int, r *run) {
	t.Helper()
	r, err := newRun(Target{URL: "http://127.0.0.1:1", Model: "m"}, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range r.requests {
		var body struct{ Prompt, Messages json.RawMessage }
		if err := json.Unmarshal(r.message(q).body, &body); err != nil {
			t.Fatal(err)
		}
		prompt := string(body.Prompt) + string(body.Messages)
		var ids []int32
		length := len(prompt)
		if json.Unmarshal(body.Prompt, &ids) == nil {
			length = len(ids)
		}
		prompts, lengths = append(prompts, prompt), append(lengths, length)
	}
	return prompts, lengths, r
}

// sharedWith is the number of bytes with which two prompts begin alike.
func sharedWith(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// TestRepeatOfEveryDataset: of every dataset a repeat, and a run with another seed, has new content from the first tokens on, and the same rows, lengths and
// arrivals; prompts that share a beginning do so in each.
func TestRepeatOfEveryDataset(t *testing.T) {
	const begin = 40 // bytes: less than the 16 tokens that caches of prefixes hold at least
	text := "Tell me, please, what the sea is made of, and why it is blue."
	rows := func(change func(r *workload.Row, i int)) (all []workload.Row) {
		for i := range 4 {
			r := workload.Row{Output: 2 + i, Arrival: time.Duration(i) * time.Second, Timed: true}
			change(&r, i)
			all = append(all, r)
		}
		return all
	}
	lengths := workload.Lengths{Kind: workload.Uniform, Min: 40, Max: 90}
	for name, c := range map[string]struct {
		spec  workload.Spec
		rows  []workload.Row
		share bool // the first two prompts share a beginning
	}{
		"random":         {spec: workload.Spec{Dataset: workload.Random, InputLengths: lengths, OutputTokens: 2, Requests: 8, Rate: 4, Burstiness: 1}},
		"prefix":         {spec: workload.Spec{Dataset: workload.Prefix, Prefixes: 1, PrefixTokens: 64, InputLengths: lengths, OutputTokens: 2, Requests: 8, Rate: 4}, share: true},
		"conversation":   {spec: workload.Spec{Dataset: workload.Conversation, Turns: 2, InputLengths: lengths, OutputTokens: 9, Requests: 8, Rate: 4}, share: true},
		"sharegpt":       {workload.Spec{Dataset: workload.ShareGPT, Requests: 3, Rate: 4}, rows(func(r *workload.Row, i int) { r.Prompt = text[i:] }), false},
		"texts":          {workload.Spec{Dataset: workload.JSONL}, rows(func(r *workload.Row, i int) { r.Prompt = text + text[:i] }), true},
		"texts as chats": {workload.Spec{Dataset: workload.JSONL, Endpoint: workload.Chat}, rows(func(r *workload.Row, i int) { r.Prompt = text + text[:i] }), true},
		"chats": {workload.Spec{Dataset: workload.JSONL, Endpoint: workload.Chat}, rows(func(r *workload.Row, i int) {
			r.Messages = `[{"content":"` + text + `","role":"system"},{"content":"` + text[:i+1] + `","role":"user"}]`
		}), true},
		"token ids": {workload.Spec{Dataset: workload.JSONL}, rows(func(r *workload.Row, i int) { r.Tokens = append(make([]int32, 40), int32(i)) }), true},
		"mooncake":  {workload.Spec{Dataset: workload.Mooncake, Speed: 2}, rows(func(r *workload.Row, i int) { r.Input, r.Blocks = 600+i, []int64{1, int64(i + 2)} }), true},
		"azure":     {workload.Spec{Dataset: workload.Azure}, rows(func(r *workload.Row, i int) { r.Input = 40 + i }), false},
	} {
		if c.spec.Endpoint == "" {
			c.spec.Endpoint = workload.Completions
		}
		options := Options{Spec: c.spec, Rows: c.rows, StudySeed: 1, Trial: 3, Marked: true}
		first, long, run := sentAs(t, options)
		again, _, _ := sentAs(t, options)
		for i := range first {
			if again[i] != first[i] {
				t.Errorf("%s: the same run sends another prompt %d", name, i)
			}
		}
		if n := sharedWith(first[0], first[1]); (n > begin) != c.share {
			t.Errorf("%s: the first two prompts share %d bytes", name, n)
		}
		for _, change := range []func(*Options){func(o *Options) { o.Repeat = 1 }, func(o *Options) { o.Repeat = 999 }, func(o *Options) { o.StudySeed = 2 }, func(o *Options) { o.Trial = 4 }, func(o *Options) { o.Repeat = workload.WarmupRepeat }} {
			o := options
			change(&o)
			prompts, lengths, r := sentAs(t, o)
			if len(prompts) != len(first) {
				t.Fatalf("%s: %d requests, %d before", name, len(prompts), len(first))
			}
			for i := range prompts {
				if o.Repeat != workload.WarmupRepeat && lengths[i] != long[i] {
					t.Errorf("%s, repeat %d: prompt %d is %d long, and was %d", name, o.Repeat, i, lengths[i], long[i])
				}
				if a, b := r.requests[i], run.requests[i]; a.Arrival != b.Arrival || a.Output != b.Output || a.Input != b.Input {
					t.Errorf("%s, repeat %d: request %d is %+v, and was %+v", name, o.Repeat, i, a, b)
				}
				for k := range first {
					if n := sharedWith(prompts[i], first[k]); n > begin {
						t.Errorf("%s, seed %d, trial %d, repeat %d: prompt %d begins with %d bytes of an earlier one", name, o.StudySeed, o.Trial, o.Repeat, i, n)
					}
				}
			}
			if n := sharedWith(prompts[0], prompts[1]); (n > begin) != c.share && o.Repeat != workload.WarmupRepeat {
				t.Errorf("%s, repeat %d: the first two prompts share %d bytes", name, o.Repeat, n)
			}
		}
	}
}
