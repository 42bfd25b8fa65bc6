package tuner

// Reference is the baseline that gains are counted from: the reference engine's when it is feasible, else the next engine's that is. ok is false when none ran.
func Reference(p Problem, h History) (Ranked, bool) {
	engines := []string{p.Reference}
	for _, b := range p.Baselines {
		engines = append(engines, b.Engine())
	}
	h = h.Joined()
	for _, engine := range engines {
		for _, t := range h {
			if t.Origin == OriginBaseline && t.Told() && t.Point.Engine() == engine && p.Goal.Feasible(t) {
				v, _ := p.Goal.Value(t.Outcome.Measured)
				return Ranked{Trial: t, Value: v}, true
			}
		}
	}
	return Ranked{}, false
}

// Counts are a history's trials by outcome.
type Counts struct {
	Total       int `json:"total"`
	Measured    int `json:"measured"`
	Infeasible  int `json:"infeasible"`
	Invalid     int `json:"invalid"`
	Stopped     int `json:"stopped"`
	Interrupted int `json:"interrupted"`
	Running     int `json:"running"`
	Stale       int `json:"stale"`
	Foreign     int `json:"foreign"`
}

// Count counts a history's trials; foreign ones stand apart, and are no part of the total.
func (h History) Count() Counts {
	var c Counts
	for _, t := range h {
		if t.Foreign {
			c.Foreign++
			continue
		}
		c.Total++
		if t.Stale {
			c.Stale++
		}
		switch t.Outcome.Kind {
		case Running:
			c.Running++
		case Measured:
			c.Measured++
		case Infeasible:
			c.Infeasible++
		case Invalid:
			c.Invalid++
		case Stopped:
			c.Stopped++
		case Interrupted:
			c.Interrupted++
		}
	}
	return c
}

// Failure is a kind of failed trial and how often it came.
type Failure struct {
	Reason    Reason `json:"reason"`
	Signature string `json:"signature,omitempty"`
	Phase     Phase  `json:"phase"`
	Count     int    `json:"count"`
	Example   string `json:"example,omitempty"`
	Trials    []int  `json:"trials"`
}

// Failures groups the infeasible trials by reason, what was recognised, and phase, in the order of their first appearance.
func (h History) Failures() []Failure {
	var out []Failure
	for _, t := range h {
		o := t.Outcome
		if o.Kind != Infeasible || t.Foreign {
			continue
		}
		at := -1
		for i, f := range out {
			if f.Reason == o.Reason && f.Signature == o.Signature && f.Phase == o.Phase {
				at = i
			}
		}
		if at < 0 {
			at = len(out)
			out = append(out, Failure{Reason: o.Reason, Signature: o.Signature, Phase: o.Phase, Example: o.Evidence})
		}
		out[at].Count++
		out[at].Trials = append(out[at].Trials, t.Number)
	}
	return out
}

// Name is how a kind of failure is called for people: out of memory (serve).
func (f Failure) Name() string {
	name := map[Reason]string{ReasonMemory: "out of memory", ReasonInfeasible: "cannot work", ReasonTransient: "failed twice for a passing reason",
		ReasonCheckpoint: "broken checkpoint", ReasonEnvironment: "the machine", ReasonUser: "impossible request", ReasonUnknown: "unknown cause"}[f.Reason]
	if s := map[string]string{"low_success": "low success rate", "hang": "hung", "slow_start": "start took too long", "refuses": "refuses every request", "interrupted": "interrupted too often"}[f.Signature]; s != "" {
		name = s
	}
	if name == "" {
		name = string(f.Reason)
	}
	return name + " (" + string(f.Phase) + ")"
}

// FailureOf is the kind of failure that an infeasible outcome is.
func FailureOf(o Outcome) Failure {
	return Failure{Reason: o.Reason, Signature: o.Signature, Phase: o.Phase, Example: o.Evidence}
}
