package workload

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// Validate says what is wrong with a workload and what is allowed; nil when nothing is wrong.
func (s Spec) Validate() error {
	if !slices.Contains(Datasets(), s.Dataset) {
		return fmt.Errorf("dataset is %q; allowed are %s", s.Dataset, strings.Join(Datasets(), ", "))
	}
	for _, check := range []func() error{s.validLengths, s.validEndpoint, s.validArrivals, s.validWindow} {
		if err := check(); err != nil {
			return err
		}
	}
	if s.Warmup < 0 {
		return fmt.Errorf("warmup is %d; it is 0 or a number of requests", s.Warmup)
	}
	if s.RequestLimit < 0 || s.WallLimit < 0 {
		return fmt.Errorf("a limit is negative (request %v, whole %v); 0 is none", s.RequestLimit, s.WallLimit)
	}
	return nil
}

func (s Spec) validLengths() error {
	for _, l := range []struct {
		name string
		by   Lengths
	}{{"input_tokens", s.InputLengths}, {"output_tokens", s.OutputLengths}} {
		if l.by.Kind != "" {
			if err := l.by.Validate(); err != nil {
				return fmt.Errorf("%s: %w", l.name, err)
			}
		}
	}
	made := !HasFile(s.Dataset)
	switch {
	case made && s.InputTokens < 1 && s.InputLengths.Kind == "":
		return fmt.Errorf("input_tokens is %d; a %s dataset needs 1 or more", s.InputTokens, s.Dataset)
	case made && s.OutputTokens < 1 && s.OutputLengths.Kind == "":
		return fmt.Errorf("output_tokens is %d; a %s dataset needs 1 or more", s.OutputTokens, s.Dataset)
	case s.OutputTokens < 0:
		return fmt.Errorf("output_tokens is %d; 0 takes each row's own length, else 1 or more", s.OutputTokens)
	case s.Dataset == Prefix && (s.Prefixes < 1 || s.PrefixTokens < 1):
		return fmt.Errorf("prefixes is %d and prefix_tokens %d; a prefix dataset needs 1 or more of each", s.Prefixes, s.PrefixTokens)
	case s.PrefixTokens < 0:
		return fmt.Errorf("prefix_tokens is %d; it is 0 (no system prompt) or more", s.PrefixTokens)
	case s.Dataset == Conversation && (s.Turns < 1 || s.Requests%s.Turns != 0):
		return fmt.Errorf("turns is %d and requests %d; a conversation has 1 turn or more, and requests counts all turns of all conversations", s.Turns, s.Requests)
	case s.ThinkTime < 0:
		return fmt.Errorf("think_time is %v; it is 0 or more", s.ThinkTime)
	case s.Requests < 1 && (s.Requests < 0 || !Timed(s.Dataset)):
		return fmt.Errorf("requests is %d; 1 or more are needed", s.Requests)
	}
	return nil
}

func (s Spec) validEndpoint() error {
	switch {
	case s.Endpoint != Completions && s.Endpoint != Chat:
		return fmt.Errorf("endpoint is %q; allowed are %s, %s", s.Endpoint, Completions, Chat)
	case s.Endpoint == Chat && s.Dataset != ShareGPT && s.Dataset != JSONL:
		return fmt.Errorf("endpoint is %s; a %s dataset is sent as token ids, which only %s takes", Chat, s.Dataset, Completions)
	}
	if s.ExtraBody == "" {
		return nil
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal([]byte(s.ExtraBody), &fields); err != nil || fields == nil {
		return errors.New("extra_body is no JSON object")
	}
	for _, name := range OwnFields {
		if _, given := fields[name]; given {
			return fmt.Errorf("extra_body: the workload sets %s itself", name)
		}
	}
	return nil
}

// OwnFields are the fields of a request's body that extra_body may not set: what is asked, and how it is counted.
var OwnFields = []string{"model", "prompt", "messages", "max_tokens", "max_completion_tokens", "min_tokens", "ignore_eos", "stream", "stream_options", "n", "best_of"}

func (s Spec) validArrivals() error {
	number := func(x float64) bool { return x >= 0 && !math.IsInf(x, 0) }
	switch {
	case !number(s.Rate):
		return fmt.Errorf("rate is %v; it is 0 (all at once) or a number of requests a second", s.Rate)
	case !number(s.Burstiness):
		return fmt.Errorf("the burstiness is %v; it is 0 (constant gaps) or the shape of a gamma distribution, 1 for Poisson", s.Burstiness)
	case s.AtOnce && s.paced():
		return errors.New("all at once and a rate exclude each other")
	case s.Burstiness > 0 && !s.paced():
		return errors.New("arrivals of a distribution need a rate")
	case s.Ramp != (Ramp{}) && s.Rate > 0:
		return errors.New("a ramp has rates of its own; leave rate out")
	case s.Ramp != (Ramp{}) && (!number(s.Ramp.From) || !number(s.Ramp.To) || s.Ramp.To == 0 || s.Ramp.Over < time.Microsecond):
		return fmt.Errorf("the ramp goes from %v to %v requests/s over %v; from is 0 or more, to and over are above 0", s.Ramp.From, s.Ramp.To, s.Ramp.Over)
	case s.MaxConcurrency < 0:
		return fmt.Errorf("max_concurrency is %d; it is 0 (no cap) or more", s.MaxConcurrency)
	}
	return nil
}

func (s Spec) validWindow() error {
	switch {
	case s.Speed < 0 || math.IsNaN(s.Speed) || math.IsInf(s.Speed, 0):
		return fmt.Errorf("speed is %v; it is above 0, and 1 for the file's own pace", s.Speed)
	case s.From < 0 || s.To < 0 || s.To > 0 && s.To <= s.From:
		return fmt.Errorf("the window goes from %v to %v; both are 0 or more, and to is after from", s.From, s.To)
	case (s.From > 0 || s.To > 0 || s.Speed > 0) && !Timed(s.Dataset):
		return fmt.Errorf("from, to and speed are about a file's arrivals; a %s dataset has none", s.Dataset)
	case s.Speed > 0 && s.Own():
		return errors.New("speed is about the file's arrivals, which the workload's own arrivals replace")
	}
	return nil
}
