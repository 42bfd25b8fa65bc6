package law

import (
	_ "embed"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"autotune/space"
	"autotune/tuner/metric"
	"autotune/tuner/workload"
)

// Residual compares one published measurement with what the law gives.
type Residual struct {
	Study, Model, Engine, Workload string
	Args                           []string
	Status                         string  // as published: ok, oom, low_success
	Published                      float64 // (input + output tokens) / duration, tokens/s; 0 for a failure
	Law                            float64 // the same under the law; 0 for a failure
	Error                          float64 // Law/Published - 1
	Bar                            float64 // the largest |Error| allowed: 0.10 on the study's target workload, 0.25 elsewhere
	LawStatus                      string  // ok, oom, low_success
	OK                             bool    // within the bar, or the same failure
}

// published holds the figures that the law is fitted to and judged by. Nothing else reads them: the law looks no point up.
//
//go:embed published.json
var published []byte

type publication struct {
	Workloads map[string]map[string]traffic `json:"workloads"` // by study and name
	Records   []record                      `json:"records"`
}

type traffic struct {
	Dataset        string  `json:"dataset"`
	Requests       int     `json:"requests"`
	Rate           float64 `json:"rate"`
	MaxConcurrency int     `json:"max_concurrency"`
	MeanInput      float64 `json:"mean_input"` // tokens, those of the chat template included
	MeanOutput     float64 `json:"mean_output"`
	Target         bool    `json:"target"` // of the study
}

type record struct {
	Study    string   `json:"study"`
	Model    string   `json:"model"`
	GPUs     int      `json:"gpus"`
	Engine   string   `json:"engine"`
	Workload string   `json:"workload"`
	Args     []string `json:"args"`
	Status   string   `json:"status"`
	Seconds  float64  `json:"seconds"`
	Input    int      `json:"input"` // tokens of the requests that succeeded
	Output   int      `json:"output"`
}

// rate is the figure that is compared.
func (r record) rate() float64 {
	if r.Status != "ok" {
		return 0
	}
	return float64(r.Input+r.Output) / r.Seconds
}

// bars are the largest relative errors: on a study's target workload, and elsewhere.
const (
	barTarget = 0.10
	barOther  = 0.25
)

// Residuals runs every published configuration under the law, in the order of publication: about a second on one core.
func Residuals() []Residual {
	p := readPublished()
	out := make([]Residual, len(p.Records))
	for i := range p.Records {
		out[i] = p.residual(i, nil)
	}
	return out
}

var readPublished = sync.OnceValue(func() publication {
	var p publication
	if err := json.Unmarshal(published, &p); err != nil {
		panic("law: published.json: " + err.Error()) // a fault of this program's own build
	}
	return p
})

// residual compares record i with the law, or with the law of a model with other coefficients.
func (p publication) residual(i int, with *Coefficients) Residual {
	r := p.Records[i]
	t := p.Workloads[r.Study][r.Workload]
	out := Residual{Study: r.Study, Model: r.Model, Engine: r.Engine, Workload: r.Workload, Args: r.Args, Status: r.Status, Published: p.mean(i), Bar: barOther}
	if t.Target {
		out.Bar = barTarget
	}
	out.Law, out.LawStatus = r.play(t, with)
	if r.Status != "ok" || out.LawStatus != "ok" {
		out.OK = r.Status == out.LawStatus
		return out
	}
	out.Error = out.Law/out.Published - 1
	out.OK = math.Abs(out.Error) <= out.Bar
	return out
}

// mean is the mean of all runs of one command on one workload: one of them was run twice, 19 % apart.
func (p publication) mean(i int) float64 {
	r := p.Records[i]
	sum, n := 0.0, 0.0
	for _, o := range p.Records {
		if o.Model == r.Model && o.Engine == r.Engine && o.Workload == r.Workload && o.Status == "ok" && r.Status == "ok" && slices.Equal(o.Args, r.Args) {
			sum += o.rate()
			n++
		}
	}
	if n == 0 {
		return 0
	}
	return sum / n
}

// play runs a published configuration under the law.
func (r record) play(t traffic, with *Coefficients) (rate float64, status string) {
	cfg, err := Resolve(r.Engine, r.Model, flagsOf(r.Args), Machine{GPU: "H200", GPUs: r.GPUs})
	if err != nil {
		return 0, "error"
	}
	sim, failure := start(cfg, Options{}, with)
	if failure != nil {
		return 0, "oom"
	}
	requests, err := t.expand()
	if err != nil {
		return 0, "error"
	}
	plan := Plan{Cap: t.MaxConcurrency}
	for _, q := range requests {
		plan.Arrivals = append(plan.Arrivals, q.Arrival)
		plan.Input = append(plan.Input, q.Input)
		plan.Output = append(plan.Output, q.Output)
	}
	records, crash := Play(sim, plan)
	return judge(records, crash)
}

// judge sums up a run.
func judge(records []metric.Record, crash *Failure) (rate float64, status string) {
	tokens, succeeded := 0, 0
	end := time.Duration(0)
	for i := range records {
		if r := &records[i]; r.OK() {
			succeeded++
			tokens += r.Input + r.Output
			end = max(end, r.End)
		}
	}
	switch {
	case crash != nil && strings.Contains(crash.Signature, "oom"):
		return 0, "oom"
	case float64(succeeded) < 0.99*float64(len(records)):
		return 0, "low_success"
	}
	return float64(tokens) / end.Seconds(), "ok"
}

func (t traffic) expand() ([]workload.Request, error) {
	s := workload.Spec{Name: "published", Dataset: t.Dataset, Requests: t.Requests, Rate: t.Rate, MaxConcurrency: t.MaxConcurrency, Seed: 42, Endpoint: workload.Completions}
	if t.Dataset == workload.ShareGPT {
		s.Path = "by its lengths"
		return s.ExpandLengths(t.MeanInput, t.MeanOutput)
	}
	s.InputTokens, s.OutputTokens = int(math.Round(t.MeanInput)), int(math.Round(t.MeanOutput))
	return s.Expand(nil)
}

// flagsOf reads a published command line: --name=value, or --name for a switch.
func flagsOf(args []string) map[string]space.Value {
	flags := map[string]space.Value{}
	for _, a := range args {
		name, value, ok := strings.Cut(strings.TrimPrefix(a, "--"), "=")
		if ok {
			flags[name] = space.ParseWord(value)
		} else {
			flags[name] = space.Bool(true)
		}
	}
	return flags
}
