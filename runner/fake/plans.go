package fake

import (
	"encoding/json"
	"fmt"
	"net/http"
	"sync"

	"autotune/runner/internal/lawtime"
	"autotune/tuner/law"
)

// plans keeps law time: one plan at a time, each on a simulation that starts from new at instant 0.
type plans struct {
	server  *server
	mu      sync.Mutex
	current *planRun
	watch   *watch // counts over all plans
	before  int    // preemptions in earlier plans
}

// run returns the current plan; nil when there is none.
func (p *plans) run() *planRun {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.current
}

// ServeHTTP answers lawtime.Path.
func (p *plans) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.server.touch()
	switch r.Method {
	case http.MethodGet:
		writeJSON(w, http.StatusOK, lawtime.Hello{Clock: "law"})
	case http.MethodPost:
		var plan lawtime.Plan
		err := json.NewDecoder(r.Body).Decode(&plan)
		if err == nil {
			err = checkPlan(plan)
		}
		if err == nil {
			err = p.begin(plan)
		}
		if err != nil {
			p.server.writeRefusal(w, badRequest("the plan cannot be kept: "+err.Error(), ""))
			return
		}
		writeJSON(w, http.StatusOK, map[string]any{"id": plan.ID, "requests": len(plan.Arrivals)})
	case http.MethodDelete:
		p.stop("the client took it back")
		writeJSON(w, http.StatusOK, map[string]any{})
	default:
		w.WriteHeader(http.StatusMethodNotAllowed)
	}
}

// begin starts a plan in the place of the one before.
func (p *plans) begin(plan lawtime.Plan) error {
	sim, failure := p.server.newSimulation()
	if failure != nil {
		return fmt.Errorf("the simulated server does not start any more: %s", failure.Message)
	}
	p.stop("another plan was announced")
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.current != nil {
		p.before += p.current.counters().Preemptions
	}
	p.current = newPlanRun(plan, sim, p.watch, p.server.hooks())
	return nil
}

// arrive brings a request to its plan.
func (p *plans) arrive(c *call) error {
	run := p.run()
	if run == nil || run.plan.ID != c.plan {
		return fmt.Errorf("plan %q is not the one that runs: announce it first", c.plan)
	}
	return run.arrive(c)
}

func (p *plans) stop(why string) {
	if run := p.run(); run != nil {
		run.stop(why)
	}
}

// answerProbe serves a request outside of any plan: all its tokens at once, without touching the simulation.
func (p *plans) answerProbe(c *call) {
	if p.server.hung.Load() {
		return
	}
	c.stream.push(p.server.now(), c.output)
	p.server.metrics.generated(c.input, c.output)
	c.stream.finish(p.server.now(), "")
}

func (p *plans) counters() law.Counters {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := law.Counters{}
	if p.current != nil {
		c = p.current.counters()
	}
	c.Preemptions += p.before
	return c
}
