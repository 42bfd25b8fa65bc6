package metric

import "time"

// What a rate of arrivals is that a server sustains. A run with few requests, or with a cap on those in flight, may keep a bound on a latency at a rate that
// no server holds for long.
const (
	// growthMost is how much longer each second of arrivals may make the wait for a first token: a server that serves 1/(1+growth) of what arrives is that
	// much behind after each second.
	growthMost = 0.1
	// servedLeast is the share of the rate that has to be served. Below it the run's end was longer than its arrivals, and it never came to a steady state.
	servedLeast = 0.5
)

// Sustained tells whether the server kept up with the rate of arrivals at which its metrics were measured, RequestRate.
func Sustained(metrics map[string]float64) bool {
	return metrics["ttft_growth"] <= growthMost && metrics["request_throughput"] >= servedLeast*metrics[RequestRate]
}

// ttftGrowth is the slope of the least-squares line through the times to first token over the instants at which the requests were due, and at least 0; ok is
// false when they were all due at one instant.
func ttftGrowth(records []Record) (slope float64, ok bool) {
	due := func(r Record) float64 { return r.Scheduled.Seconds() }
	wait := func(r Record) float64 { return (r.Tokens[0].At - r.Scheduled).Seconds() }
	mean, meanWait, n := 0.0, 0.0, 0.0
	for _, r := range records {
		if answered(r) {
			mean, meanWait, n = mean+due(r), meanWait+wait(r), n+1
		}
	}
	mean, meanWait = mean/max(1, n), meanWait/max(1, n)
	variance, covariance := 0.0, 0.0
	for _, r := range records {
		if answered(r) {
			x := due(r) - mean
			variance, covariance = variance+x*x, covariance+x*(wait(r)-meanWait)
		}
	}
	if least := time.Microsecond.Seconds(); variance < least*least {
		return 0, false
	}
	return max(0, covariance/variance), true
}

func answered(r Record) bool { return r.OK() && len(r.Tokens) > 0 }
