package metric

import (
	"testing"
	"time"
)

// waves are six requests in a closed loop of two, each of a second: 10 tokens in, the first token out after half of it, the second at its end.
func waves() []Record {
	var records []Record
	for i := range 6 {
		at := time.Duration(i/2) * time.Second
		r := answer(0, at, 10, at+500*ms, at+1000*ms)
		r.Index = i
		records = append(records, r)
	}
	return records
}

// Worked out by hand: the cap is reached at once and the last send is at 2 s, so the first two waves count, and nothing of the third.
func TestSteadyClosedLoop(t *testing.T) {
	from, to, ok := Steady(waves())
	if from != 0 || to != 2*time.Second || !ok {
		t.Fatalf("the steady part is %v to %v, %v", from, to, ok)
	}
	m := Compute(waves(), 2)
	near(t, m, "steady_duration", 2)
	near(t, m, "steady_request_throughput", 2)
	near(t, m, "steady_input_token_throughput", 20)
	near(t, m, "steady_output_token_throughput", 4)
	near(t, m, "steady_total_token_throughput", 24)
	near(t, m, "steady_total_token_throughput_per_gpu", 12)
	near(t, m, "total_token_throughput", 24)
}

// A slow ramp-up and a long last answer are what the whole run's figure holds and the steady one does not.
func TestSteadyCutsRampAndDrain(t *testing.T) {
	var records []Record
	records = append(records, answer(0, 0, 1, 10*time.Second))
	for i := range 40 { // two at a time from 9 s on
		at := 9*time.Second + time.Duration(i)*500*ms
		records = append(records, answer(0, at, 1, at+1000*ms))
	}
	last := 9*time.Second + 39*500*ms
	records = append(records, answer(0, last, 1, last+20*time.Second))
	from, to, ok := Steady(records)
	if from != 9*time.Second || to != last || !ok {
		t.Fatalf("the steady part is %v to %v, %v; want 9s to %v", from, to, ok, last)
	}
	m := Compute(records, 0)
	// Within (9 s, 28.5 s]: the first request's token, and those of 38 of the 40.
	near(t, m, "steady_output_token_throughput", 39/19.5)
	near(t, m, "output_token_throughput", 42/48.5)
	absent(t, m, "steady_output_token_throughput_per_gpu")
}

// At a constant rate that the server keeps up with, the load is level about when the first answer ends.
func TestSteadyConstantRate(t *testing.T) {
	var records []Record
	for i := range 100 {
		at := time.Duration(i) * 100 * ms
		records = append(records, answer(at, at, 5, at+1050*ms, at+1950*ms)) // 19 and 20 in flight by turns
	}
	from, to, ok := Steady(records)
	if from != 1800*ms || to != 9900*ms || !ok {
		t.Fatalf("the steady part is %v to %v, %v", from, to, ok)
	}
	m := Compute(records, 0)
	near(t, m, "steady_request_throughput", 80/8.1) // 10 are offered: the first answer ends 0.15 s later than the part begins
	near(t, m, "request_throughput", 100/11.85)
	// A server that is idle most of the time has its steady part from the start.
	for i := range records {
		records[i].Tokens = []Event{{records[i].Sent + ms, 2}}
		records[i].End = records[i].Sent + ms
	}
	if from, to, ok := Steady(records); from != 0 || to != 9900*ms || !ok {
		t.Errorf("an idle server: %v to %v, %v", from, to, ok)
	}
}

func TestNoSteadyPart(t *testing.T) {
	for name, records := range map[string][]Record{
		"nothing":        nil,
		"never sent":     {{Error: ErrUnsent}},
		"all at once":    {answer(0, 0, 1, time.Second), answer(0, 0, 1, time.Second)},
		"nothing good":   {{End: time.Second, Error: ErrConnect}, {Sent: time.Second, End: 2 * time.Second, Error: ErrConnect}},
		"no time at all": {{Error: ErrConnect}, {Error: ErrConnect}},
		"a ramp of 1 s":  {answer(0, 0, 1, 30*time.Second), answer(0, time.Second, 1, 30*time.Second)},
	} {
		if from, to, ok := Steady(records); ok {
			t.Errorf("%s: a steady part from %v to %v", name, from, to)
		}
		absent(t, Compute(records, 1), "steady_duration", "steady_total_token_throughput")
	}
}
