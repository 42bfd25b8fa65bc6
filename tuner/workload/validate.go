package workload

import (
	"fmt"
	"math"
)

// Validate says what is wrong with a workload and what is allowed; nil when nothing is wrong.
func (s Spec) Validate() error {
	switch s.Dataset {
	case Random:
		if s.InputTokens < 1 {
			return fmt.Errorf("input_tokens is %d; a random dataset needs 1 or more", s.InputTokens)
		}
		if s.OutputTokens < 1 {
			return fmt.Errorf("output_tokens is %d; a random dataset needs 1 or more", s.OutputTokens)
		}
		if s.Endpoint == Chat {
			return fmt.Errorf("endpoint is %s; a random dataset is sent as token ids, which only %s takes", Chat, Completions)
		}
	case ShareGPT:
		if s.OutputTokens < 0 {
			return fmt.Errorf("output_tokens is %d; 0 takes each row's own length, else 1 or more", s.OutputTokens)
		}
	default:
		return fmt.Errorf("dataset is %q; allowed are %s, %s", s.Dataset, Random, ShareGPT)
	}
	if s.Endpoint != Completions && s.Endpoint != Chat {
		return fmt.Errorf("endpoint is %q; allowed are %s, %s", s.Endpoint, Completions, Chat)
	}
	if s.Requests < 1 {
		return fmt.Errorf("requests is %d; 1 or more are needed", s.Requests)
	}
	if s.Rate < 0 || math.IsNaN(s.Rate) || math.IsInf(s.Rate, 0) {
		return fmt.Errorf("rate is %v; it is 0 (all at once) or a number of requests a second", s.Rate)
	}
	if s.MaxConcurrency < 0 {
		return fmt.Errorf("max_concurrency is %d; it is 0 (no cap) or more", s.MaxConcurrency)
	}
	if s.Warmup < 0 {
		return fmt.Errorf("warmup is %d; it is 0 or a number of requests", s.Warmup)
	}
	if s.RequestLimit < 0 || s.WallLimit < 0 {
		return fmt.Errorf("a limit is negative (request %v, whole %v); 0 is none", s.RequestLimit, s.WallLimit)
	}
	return nil
}
