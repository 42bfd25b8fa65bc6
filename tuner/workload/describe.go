package workload

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Describe says in one line what a workload sends, when and where: 1000 requests of random, 8192 tokens in and 1024 out each, ... Requests are
// those that it expands to; nil when its file has not been read.
func (s Spec) Describe(requests []Request) string {
	var parts []string
	count := len(requests)
	if requests == nil {
		count = s.Requests
	}
	head := fmt.Sprintf("%d requests of %s", count, s.Dataset)
	if count == 0 {
		head = "every request in the window of " + s.Dataset
	}
	if s.Dataset == Conversation {
		head = fmt.Sprintf("%d conversations of %d turns, a turn every %v after the answer", count/s.Turns, s.Turns, s.ThinkTime)
	}
	parts = append(parts, head, s.describeTokens(requests), s.describeArrivals(requests))
	if s.MaxConcurrency > 0 {
		parts = append(parts, fmt.Sprintf("at most %d at once", s.MaxConcurrency))
	}
	if s.Endpoint == Chat {
		parts = append(parts, "as chats")
	}
	return strings.Join(parts, "; ")
}

// bytesOfToken is how texts' lengths are told without a tokenizer.
const bytesOfToken = 4

func (s Spec) describeTokens(requests []Request) string {
	if len(requests) == 0 {
		return "as many tokens as the file says"
	}
	in, out, texts := make([]int, len(requests)), make([]int, len(requests)), false
	for i, r := range requests {
		in[i], out[i] = r.Input, r.Output
		if r.Input == 0 {
			texts = true
			in[i] = (len(r.Text) + len(r.Messages) + bytesOfToken - 1) / bytesOfToken
		}
	}
	about := ""
	if texts {
		about = "about "
	}
	line := fmt.Sprintf("%s%s tokens in, %s out", about, span(in), span(out))
	if shared := sharedTokens(requests); shared > 0 {
		line += fmt.Sprintf(", %.0f %% of what goes in shared with an earlier prompt's beginning", 100*float64(shared)/float64(total(in)))
	}
	return line
}

// span is the mean of some lengths and their range: 8192, or 512 on average (4 to 1024).
func span(values []int) string {
	low, high := math.MaxInt, 0
	for _, v := range values {
		low, high = min(low, v), max(high, v)
	}
	if low == high {
		return strconv.Itoa(low)
	}
	return fmt.Sprintf("%.0f on average (%d to %d)", float64(total(values))/float64(len(values)), low, high)
}

// sharedTokens counts the prompt tokens that an earlier prompt begins with too: what an unbounded cache of prefixes would know.
func sharedTokens(requests []Request) int {
	type node struct{ parent, key uint64 }
	longest := map[node]int{}
	shared := 0
	for _, r := range requests {
		at, known := uint64(0), true
		for _, p := range r.Pieces {
			n := node{at, p.Key}
			had, seen := longest[n]
			if known && seen {
				shared += min(had, p.Length)
			}
			known = known && seen && had >= p.Length
			longest[n] = max(had, p.Length)
			at = mix(at+golden) ^ mix(p.Key)
		}
	}
	return shared
}

func (s Spec) describeArrivals(requests []Request) string {
	unit := "requests/s"
	if s.Dataset == Conversation {
		unit = "conversations/s"
	}
	how := "at a constant rate"
	switch {
	case s.Burstiness == 1:
		how = "as a Poisson process"
	case s.Burstiness > 0:
		how = fmt.Sprintf("in gamma-distributed gaps of burstiness %g", s.Burstiness)
	}
	switch {
	case s.Ramp != (Ramp{}):
		return fmt.Sprintf("%g to %g %s over %v, %s", s.Ramp.From, s.Ramp.To, unit, s.Ramp.Over, how)
	case s.Rate > 0:
		return fmt.Sprintf("%g %s, %s", s.Rate, unit, how)
	case len(requests) > 0 && requests[len(requests)-1].Arrival > 0:
		line := fmt.Sprintf("arrivals of the file, over %v", requests[len(requests)-1].Arrival)
		if s.Speed > 0 && s.Speed != 1 {
			line += fmt.Sprintf(" (%g times as fast)", s.Speed)
		}
		return line
	case Timed(s.Dataset) && requests == nil:
		return "arrivals of the file"
	case s.MaxConcurrency > 0:
		return "as soon as one ends the next is sent"
	default:
		return "all at once"
	}
}

// Longest are the tokens of the longest request that the spec alone tells of, prompt and answer together: what a server's context has to hold. A
// dataset's file may have longer ones.
func (s Spec) Longest() int {
	most := func(all int, by Lengths) int {
		if by.Kind == "" {
			return all
		}
		n := max(1, s.Requests)
		return by.quantile((float64(n) - 0.5) / float64(n))
	}
	in, out := most(s.InputTokens, s.InputLengths), most(s.OutputTokens, s.OutputLengths)
	switch s.Dataset {
	case Prefix:
		return s.PrefixTokens + in + out
	case Conversation:
		// A conversation may draw the longest lengths more than once; that it draws them in every turn is not to be expected, so its own are counted.
		longest := 0
		for _, r := range s.expandConversations() {
			longest = max(longest, r.Input+r.Output)
		}
		return longest
	default:
		return in + out
	}
}
