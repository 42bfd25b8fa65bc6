package tuner

import (
	"fmt"
	"strings"
)

// The stop rule: with fewer trials a model's expectations mean little, and one low one may be chance.
const (
	stopFrom = 20 // trials that have ended
	stopRow  = 4  // of the model's own proposals, running
)

// NoGain tells whether the search is over: the sampler's model expected less than a share of the best from its last four own proposals, and
// at least 20 trials have ended. Screens, explorations, recipes and baselines in between are passed over: they are asked for what they
// teach. While nothing feasible is known there is nothing to gain over, and the search goes on. below 0 is never reached. reason is for people.
func NoGain(p Problem, h History, below float64) (reason string, over bool) {
	if below <= 0 || h.Finished() < stopFrom {
		return "", false
	}
	var numbers []string
	most, feasible := 0.0, false
	for i := len(h) - 1; i >= 0; i-- {
		t := h[i]
		if !t.Told() {
			continue
		}
		feasible = feasible || p.Goal.Feasible(t)
		if t.Proposal.Kind != KindGain || len(numbers) == stopRow {
			continue
		}
		if t.Proposal.Gain >= below {
			return "", false
		}
		most = max(most, t.Proposal.Gain)
		numbers = append([]string{fmt.Sprint(t.Number)}, numbers...)
	}
	if len(numbers) < stopRow || !feasible {
		return "", false
	}
	return fmt.Sprintf("the model's last %d proposals, trials %s, promised at most %.2g %% over the best, less than the %.2g %% of search.stop",
		stopRow, strings.Join(numbers, ", "), 100*most, 100*below), true
}

// roomFrom is how many trials have to fail from the start before the space is suspected.
const roomFrom = 10

// LittleRoom says that nothing but baselines has run although ten trials or more have ended: the space, not the sampler, is the likely fault.
// It is empty otherwise; trials is how many have failed.
func LittleRoom(h History) (warning string, trials int) {
	for _, t := range h {
		if t.Foreign || t.Stale || t.Origin == OriginBaseline || t.Outcome.Kind == Running || t.Outcome.Kind == Interrupted {
			continue
		}
		if t.Outcome.Kind != Infeasible {
			return "", 0
		}
		trials++
	}
	if trials < roomFrom {
		return "", trials
	}
	return fmt.Sprintf("the first %d trials after the baselines have all failed: the space, not the sampler, is the likely fault; the failures say which flags to narrow", trials), trials
}
