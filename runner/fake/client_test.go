package fake

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"autotune/runner/internal/lawtime"
)

// answer is what a client saw of one request.
type answer struct {
	Status  int
	Text    string
	Events  int // that carried text
	Usage   int // completion tokens by the server's count; -1: none was sent
	Prompt  int // prompt tokens by the server's count
	Finish  string
	Error   string  // an error object in the stream
	Done    bool    // [DONE] came
	Broken  bool    // the connection broke
	Stamps  []int64 // law time
	End     int64   // law time; -1: none was sent
	Elapsed time.Duration
}

// sseChunk is one event of a stream.
type sseChunk struct {
	Choices []struct {
		Text  string `json:"text"`
		Delta struct {
			Content string `json:"content"`
		} `json:"delta"`
		Finish *string `json:"finish_reason"`
	} `json:"choices"`
	Usage *struct {
		Prompt     int `json:"prompt_tokens"`
		Completion int `json:"completion_tokens"`
	} `json:"usage"`
	Error *struct {
		Message string `json:"message"`
	} `json:"error"`
	Stamps []int64 `json:"law_us"`
	End    *int64  `json:"law_end_us"`
}

var client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 1024, MaxConnsPerHost: 0}}

// ask sends a streaming request and reads its answer to the end.
func (p *process) ask(path, body string, headers ...string) answer {
	begin := time.Now()
	a := answer{Usage: -1, End: -1}
	q, err := http.NewRequest(http.MethodPost, p.base+path, strings.NewReader(body))
	if err != nil {
		panic(err) // a mistake of the test
	}
	for i := 0; i+1 < len(headers); i += 2 {
		q.Header.Set(headers[i], headers[i+1])
	}
	r, err := client.Do(q)
	if err != nil {
		a.Broken = true
		return a
	}
	defer r.Body.Close()
	a.Status = r.StatusCode
	if end := r.Header.Get(lawtime.HeaderEnd); end != "" {
		a.End, _ = strconv.ParseInt(end, 10, 64)
	}
	in := bufio.NewReaderSize(r.Body, 1<<16)
	for {
		line, err := in.ReadString('\n')
		a.take(strings.TrimSpace(line))
		if err != nil {
			a.Broken = !errors.Is(err, io.EOF)
			a.Elapsed = time.Since(begin)
			return a
		}
	}
}

// take reads one line of a stream.
func (a *answer) take(line string) {
	data, ok := strings.CutPrefix(line, "data: ")
	if !ok {
		return
	}
	if data == "[DONE]" {
		a.Done = true
		return
	}
	var c sseChunk
	if err := json.Unmarshal([]byte(data), &c); err != nil {
		a.Error = "not JSON: " + data
		return
	}
	for _, choice := range c.Choices {
		if text := choice.Text + choice.Delta.Content; text != "" {
			a.Text += text
			a.Events++
		}
		if choice.Finish != nil {
			a.Finish = *choice.Finish
		}
	}
	if c.Usage != nil {
		a.Usage, a.Prompt = c.Usage.Completion, c.Usage.Prompt
	}
	if c.Error != nil {
		a.Error = c.Error.Message
	}
	var at int64
	for _, d := range c.Stamps {
		at += d
		a.Stamps = append(a.Stamps, at)
	}
	if c.End != nil {
		a.End = *c.End
	}
}

// end is the instant at which the rule of law time says that a request ended.
func (a answer) end(sent int64) int64 {
	switch {
	case a.End >= 0:
		return a.End
	case len(a.Stamps) > 0:
		return a.Stamps[len(a.Stamps)-1]
	}
	return sent
}

// traffic is what a client in law time asks.
type traffic struct {
	plan          lawtime.Plan
	input, output func(i int) int
	model         string
	taken         chan struct{} // closed once the server has the plan; nil: nobody waits for that
}

// steady is a plan of n requests, so many a second.
func steady(n, rate, most int, input, output int) traffic {
	l := traffic{plan: lawtime.Plan{ID: "p", Cap: most}, model: "demo/tiny", input: func(int) int { return input }, output: func(int) int { return output }}
	for i := range n {
		l.plan.Arrivals = append(l.plan.Arrivals, int64(i)*1_000_000/int64(rate))
	}
	return l
}

// play carries a plan out as lawtime says, and returns the answers and the instants of sending, by index. What is never sent is missing.
func (p *process) play(t testing.TB, l traffic) (answers []answer, sent []int64) {
	t.Helper()
	text, err := json.Marshal(l.plan)
	if err != nil {
		t.Fatal(err)
	}
	if status, answer := p.post(lawtime.Path, string(text)); status != http.StatusOK {
		t.Fatalf("the plan was refused: %d %s", status, answer)
	}
	if l.taken != nil {
		close(l.taken)
	}
	type result struct {
		i int
		a answer
	}
	results := make(chan result, len(l.plan.Arrivals))
	var ends []int64
	receive := func() {
		r := <-results
		answers[r.i] = r.a
		ends = append(ends, r.a.end(sent[r.i]))
		slices.Sort(ends)
	}
	answers = make([]answer, len(l.plan.Arrivals))
	for i, at := range l.plan.Arrivals {
		if freed := i - l.plan.Cap; l.plan.Cap > 0 && freed >= 0 {
			for len(ends) <= freed {
				receive()
			}
			at = max(at, ends[freed])
		}
		if l.plan.Limit > 0 && at >= l.plan.Limit {
			break
		}
		sent = append(sent, at)
		go func() {
			results <- result{i, p.ask("/v1/completions", completion(l.model, l.input(i), l.output(i)), lawtime.HeaderPlan, l.plan.ID,
				lawtime.HeaderIndex, strconv.Itoa(i), lawtime.HeaderSent, strconv.FormatInt(at, 10))}
		}()
	}
	for len(ends) < len(sent) {
		receive()
	}
	return answers[:len(sent)], sent
}
