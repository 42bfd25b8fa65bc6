package load

import (
	"context"
	"fmt"
	"syscall"
	"time"

	"autotune/tuner/metric"
	"autotune/tuner/workload"
)

// run is one call of Run.
type run struct {
	Options
	client   *client
	second   time.Duration // between two calls of Observe
	requests []workload.Request
	records  []metric.Record
	digests  []workload.Digest // of what was sent
	whole    []bool            // requests that ended by themselves
	spread   []bool            // requests whose tokens were spread over their events
	sights   *sights
	rest     []byte // with which every body ends
	mark     int    // of prompts that the dataset brings, see workload.Mark; 0: none
}

func newRun(t Target, o Options) (*run, error) {
	requests, err := o.Requests, o.Spec.Validate()
	if requests == nil && err == nil {
		requests, err = o.Spec.Expand(o.Rows)
	}
	if err != nil {
		return nil, fmt.Errorf("the workload %s cannot be sent: %w", o.Spec.Name, err)
	}
	n := len(requests)
	if n == 0 {
		return nil, fmt.Errorf("the workload %s cannot be sent: it has no requests", o.Spec.Name)
	}
	r := &run{Options: o, client: newClient(t), second: time.Second, requests: requests, records: make([]metric.Record, n),
		digests: make([]workload.Digest, n), whole: make([]bool, n), spread: make([]bool, n), sights: newSights(requests), rest: restOf(o.Spec)}
	if o.Marked || o.Repeat != 0 {
		r.mark = workload.Mark(o.StudySeed, o.Trial, o.Repeat)
	}
	for i, q := range requests {
		if q.Index != i || q.Arrival < 0 || i > 0 && q.Arrival < requests[i-1].Arrival {
			return nil, fmt.Errorf("the workload %s cannot be sent: request %d has index %d and arrives at %v; indexes count from 0, arrivals ascend", o.Spec.Name, i, q.Index, q.Arrival)
		}
		r.records[i] = unsent(q)
	}
	return r, nil
}

// unsent is the record of a request before it is sent.
func unsent(q workload.Request) metric.Record {
	return metric.Record{Index: q.Index, Scheduled: q.Arrival, Error: metric.ErrUnsent, AskedIn: q.Input, AskedOut: q.Output}
}

// begin makes a record one of a request that is being sent.
func (r *run) begin(i int, m message, sent, lag time.Duration) *metric.Record {
	rec := &r.records[i]
	rec.Error, rec.Sent, rec.Lag = "", sent, lag
	rec.Tokens = make([]metric.Event, 0, min(rec.AskedOut, 1<<12))
	r.digests[i] = m.digest
	r.sights.look(rec, false)
	return rec
}

func (r *run) do(ctx context.Context) (Result, error) {
	defer r.client.close()
	putBack, err := r.files()
	if err != nil {
		return Result{}, err
	}
	defer putBack()
	result := Result{Clock: metric.Wall, Identity: r.Spec.Identity(r.FileHash), Records: r.records}
	if now, err := fileLimit(); err == nil {
		result.Files = now.Cur
	}
	began, used := time.Now(), cpuTime()
	var cut *cutOff
	if r.LawTime {
		result.Clock = metric.Law
		cut, result.Elapsed, err = r.lawTime(ctx)
	} else {
		cut, result.Elapsed = r.wallTime(ctx)
	}
	if err != nil {
		return Result{}, err
	}
	if wall := time.Since(began); wall > 0 {
		result.CPU = (cpuTime() - used).Seconds() / wall.Seconds()
	}
	result.Dropped = int(r.client.dropped.Load())
	result.Sent = workload.SentHash(r.requests, r.digests)
	r.judge(&result, cut)
	if result.Ending == Interrupted {
		return result, ctx.Err()
	}
	return result, nil
}

// judge says how the run ended and explains the requests that never were sent.
func (r *run) judge(result *Result, cut *cutOff) {
	n, spread := 0, 0
	for i := range r.records {
		rec := &r.records[i]
		if len(rec.Tokens) == 0 {
			rec.Tokens = nil
		}
		if r.whole[i] {
			n++
		}
		if r.spread[i] {
			spread++
		}
		if rec.Error == metric.ErrUnsent && cut != nil {
			rec.Detail = cut.detail
		}
	}
	result.Ending, result.Share = Complete, float64(n)/float64(len(r.records))
	if cut != nil && (n < len(r.records) || cut.ending == AllFailed) {
		result.Ending = cut.ending
	}
	if result.Ending == Stopped {
		result.Stopped = cut.detail
	}
	if spread > 0 {
		result.Notes = append(result.Notes, fmt.Sprintf("in %d answers the server did not count tokens in each event: the first event is taken to carry one token, the others equal shares of the rest; time per output token and inter-token latency hold only so far", spread))
	}
}

// Why we end requests, or the whole run.
var (
	cutRequest = func(limit time.Duration) *cutOff {
		return &cutOff{class: metric.ErrTimeout, detail: fmt.Sprintf("no end within the request's limit of %v", limit)}
	}
	cutWall = func(limit time.Duration) *cutOff {
		return &cutOff{metric.ErrTimeout, fmt.Sprintf("the workload's limit of %v came first", limit), WallLimit}
	}
	cutHang = func(silence time.Duration) *cutOff {
		return &cutOff{metric.ErrTimeout, fmt.Sprintf("nothing came for %v", silence), Hang}
	}
	cutFailed = func(n int) *cutOff {
		return &cutOff{metric.ErrCancelled, fmt.Sprintf("the run was ended: the first %d requests all failed", n), AllFailed}
	}
	cutStop = func(word string) *cutOff { return &cutOff{metric.ErrCancelled, word, Stopped} }
)

// cpuTime is what this process has used of the processors so far.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
