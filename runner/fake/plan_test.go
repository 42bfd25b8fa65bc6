package fake

import (
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"autotune/runner/internal/lawtime"
)

// planned are the headers of a request of plan p.
func planned(index int, sent int64) []string {
	return []string{lawtime.HeaderPlan, "p", lawtime.HeaderIndex, strconv.Itoa(index), lawtime.HeaderSent, strconv.FormatInt(sent, 10)}
}

func (p *process) announce(plan string) {
	p.t.Helper()
	if status, text := p.post(lawtime.Path, plan); status != http.StatusOK {
		p.t.Fatalf("the plan was refused: %d %s", status, text)
	}
}

func TestHelloOfLawTime(t *testing.T) {
	p := ready(t, "--clock law vllm serve demo/tiny")
	if status, text := p.get(lawtime.Path); status != 200 || text != `{"clock":"law"}` {
		t.Errorf("%d %s", status, text)
	}
	q := ready(t, "vllm serve demo/tiny")
	if status, _ := q.get(lawtime.Path); status != http.StatusNotFound {
		t.Errorf("a server on the wall clock keeps law time: %d", status)
	}
}

func TestPlansThatAreNone(t *testing.T) {
	p := ready(t, "--clock law vllm serve demo/tiny")
	for plan, want := range map[string]string{
		`{`:                                          "cannot be kept",
		`{"arrivals_us":[1]}`:                        "has no id",
		`{"id":"p","arrivals_us":[5,4]}`:             "ascending",
		`{"id":"p","arrivals_us":[-1]}`:              "not negative",
		`{"id":"p","arrivals_us":[1],"cap":-1}`:      "may not be negative",
		`{"id":"p","arrivals_us":["x"]}`:             "cannot be kept",
		`{"id":"p","arrivals_us":[1],"limit_us":-4}`: "may not be negative",
	} {
		if status, text := p.post(lawtime.Path, plan); status != http.StatusBadRequest || !strings.Contains(text, want) {
			t.Errorf("%s: %d %s; want %q", plan, status, text, want)
		}
	}
	if status, _ := p.do(http.MethodPut, lawtime.Path, ""); status != http.StatusMethodNotAllowed {
		t.Errorf("PUT: %d", status)
	}
}

func TestRequestsThatAreNotOfThePlan(t *testing.T) {
	p := ready(t, "--clock law vllm serve demo/tiny")
	body := completion("demo/tiny", 10, 5)
	if a := p.ask("/v1/completions", body, planned(0, 0)...); a.Status != http.StatusConflict {
		t.Errorf("before any plan: %+v", a)
	}
	p.announce(`{"id":"p","arrivals_us":[0,1000]}`)
	if a := p.ask("/v1/completions", body, planned(2, 0)...); a.Status != http.StatusConflict {
		t.Errorf("an index beyond the plan: %+v", a)
	}
	if a := p.ask("/v1/completions", body, lawtime.HeaderPlan, "p", lawtime.HeaderIndex, "one", lawtime.HeaderSent, "0"); a.Status != http.StatusBadRequest {
		t.Errorf("an index that is no number: %+v", a)
	}
	first := make(chan answer)
	go func() { first <- p.ask("/v1/completions", body, planned(0, 0)...) }()
	p.poll("the first request to be taken in", func() bool {
		return p.metric("vllm:num_requests_running", "")+p.metric("vllm:num_requests_waiting", "") > 0
	})
	if a := p.ask("/v1/completions", body, planned(0, 0)...); a.Status != http.StatusConflict {
		t.Errorf("a request that came already: %+v", a)
	}
	if a := p.ask("/v1/completions", body, planned(1, 999)...); a.Error == "" || !strings.Contains(a.Error, "1000 us by the plan") {
		t.Errorf("an instant that is not the plan's: %+v", a)
	}
	if a := <-first; a.Error == "" {
		t.Errorf("the plan failed, and its first request did not: %+v", a)
	}
	if a := p.ask("/v1/completions", body); a.Usage != 5 || a.End != -1 {
		t.Errorf("a request outside of any plan: %+v", a)
	}
}

func TestNothingIsSentFromTheLimitOn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger")
	p := ready(t, "--clock law --ledger "+path+" vllm serve demo/tiny")
	l := steady(100, 10, 4, 100, 200)
	l.plan.Limit = 3_000_000
	answers, sent := p.play(t, l)
	if len(sent) == 0 || len(sent) >= 31 || sent[len(sent)-1] >= l.plan.Limit {
		t.Fatalf("%d requests were sent, the last at %d us", len(sent), sent[len(sent)-1])
	}
	for i, a := range answers {
		if a.Usage != 200 || a.Finish != "length" {
			t.Errorf("request %d: %+v", i, a)
		}
	}
	p.terminate()
	if ledger, err := ReadLedger(path); err != nil || len(ledger.Entries) != len(sent) {
		t.Errorf("%d entries for %d requests, %v", len(ledger.Entries), len(sent), err)
	}
}

func TestPlanEndsWithItsClient(t *testing.T) {
	p := ready(t, "--clock law vllm serve demo/tiny")
	for _, end := range []func(){
		func() { p.announce(`{"id":"q","arrivals_us":[0]}`) },
		func() { p.do(http.MethodDelete, lawtime.Path, "") },
	} {
		p.announce(`{"id":"p","arrivals_us":[0,1000]}`)
		first := make(chan answer)
		go func() { first <- p.ask("/v1/completions", completion("demo/tiny", 10, 500), planned(0, 0)...) }()
		p.poll("the request to be taken in", func() bool {
			return p.metric("vllm:num_requests_running", "")+p.metric("vllm:num_requests_waiting", "") > 0
		})
		end()
		if a := <-first; a.Error == "" {
			t.Errorf("its plan is gone, and it got %+v", a)
		}
	}
	l := steady(3, 10, 0, 10, 10)
	if answers, _ := p.play(t, l); answers[2].Usage != 10 {
		t.Errorf("the next plan: %+v", answers)
	}
}

func TestCountersOfAPlan(t *testing.T) {
	p := ready(t, "--clock law vllm serve demo/tiny")
	p.play(t, steady(30, 100, 8, 100, 20))
	p.play(t, steady(10, 100, 8, 100, 20))
	if in, out := p.metric("vllm:prompt_tokens_total", ""), p.metric("vllm:generation_tokens_total", ""); in != 4000 || out != 800 {
		t.Errorf("%v prompt tokens, %v generated; want 4000 and 800", in, out)
	}
	p.poll("the ends to be counted", func() bool { return p.metric("vllm:request_success_total", `finished_reason="length"`) == 40 })
}
