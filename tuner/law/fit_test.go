//go:build fit

package law

import (
	"flag"
	"fmt"
	"math"
	"sync"
	"testing"
	"time"
)

// The fit: go test -tags fit -run Fit -v ./tuner/law [-args -rounds 400]
// It prints the coefficients of models.go, one model after the other, in five minutes or so on two cores. It starts from those that stand there,
// so that a second run moves them little; after a change of the law it may need more rounds.
var rounds = flag.Int("rounds", 400, "evaluations of the law a model")

// TestFit minimises, over the logarithms of a model's coefficients, the errors in units of their bars.
func TestFit(t *testing.T) {
	for _, m := range []model{glm52, qwen35} {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			f := newFitting(m)
			start := time.Now()
			x, loss := f.simplex(f.start(), *rounds)
			t.Logf("%s: loss %.2f after %v\n%s", m.name, loss, time.Since(start).Round(time.Second), f.report(x))
		})
	}
}

type fitting struct {
	model   model
	indices []int // of the records that differ
	weights []float64
}

func newFitting(m model) *fitting {
	f := &fitting{model: m}
	p := readPublished()
	seen := map[string]int{}
	for i, r := range p.Records {
		if lookup(r.Model).layers != m.layers || r.Status != "ok" {
			continue
		}
		cfg, err := Resolve(r.Engine, r.Model, flagsOf(r.Args), Machine{GPU: "H200", GPUs: r.GPUs})
		if err != nil {
			panic(err)
		}
		key := fmt.Sprintf("%+v %s %.0f", cfg, r.Workload, p.mean(i))
		if _, ok := seen[key]; ok {
			continue
		}
		seen[key] = i
		f.indices = append(f.indices, i)
	}
	return f
}

func (f *fitting) start() []float64 {
	c := f.model.coefficient
	var x []float64
	for _, p := range c.each() {
		x = append(x, math.Log(*p))
	}
	return x
}

// coefficients turns logarithms back.
func (f *fitting) coefficients(x []float64) Coefficients {
	c := f.model.coefficient
	for i, p := range c.each() {
		*p = math.Exp(x[i])
	}
	if f.model.bytes == 1 {
		c.Narrow = 1 // it has nothing to be compared with
	}
	c.Graphs, c.Workspace = f.model.coefficient.Graphs, f.model.coefficient.Workspace // bounded by the published failures, not fitted
	return c
}

// loss sums the squares and the eighth powers of errors over bars, and a mild pull to the start.
func (f *fitting) loss(x []float64) float64 {
	c := f.coefficients(x)
	sum := 0.0
	for _, share := range []float64{c.Compute, c.Attention, c.Bandwidth} {
		if share > 0.95 {
			sum += 1e3 * (share - 0.95)
		}
	}
	p := readPublished()
	for _, i := range f.indices {
		r := p.residual(i, &c)
		if r.LawStatus != "ok" {
			sum += 100
			continue
		}
		e := math.Log1p(r.Error) / r.Bar
		sum += 0.3*e*e + math.Pow(e, 8)
	}
	for i, v := range f.start() {
		sum += 0.05 * (x[i] - v) * (x[i] - v)
	}
	return sum
}

// losses evaluates several points at once.
func (f *fitting) losses(points [][]float64) []float64 {
	out := make([]float64, len(points))
	var wait sync.WaitGroup
	for i, x := range points {
		wait.Go(func() { out[i] = f.loss(x) })
	}
	wait.Wait()
	return out
}

// simplex is Nelder and Mead's method.
func (f *fitting) simplex(start []float64, evaluations int) ([]float64, float64) {
	n := len(start)
	points := [][]float64{start}
	for i := range n {
		x := append([]float64(nil), start...)
		x[i] += 0.25
		points = append(points, x)
	}
	values := f.losses(points)
	for used := n + 1; used < evaluations; {
		order(points, values)
		worst := points[n]
		centre := make([]float64, n)
		for _, x := range points[:n] {
			for j := range x {
				centre[j] += x[j] / float64(n)
			}
		}
		at := func(s float64) []float64 {
			x := make([]float64, n)
			for j := range x {
				x[j] = centre[j] + s*(centre[j]-worst[j])
			}
			return x
		}
		trial := [][]float64{at(1), at(2), at(0.5), at(-0.5)}
		v := f.losses(trial)
		used += 4
		best := 0
		for j := range v {
			if v[j] < v[best] {
				best = j
			}
		}
		if v[best] < values[n] {
			points[n], values[n] = trial[best], v[best]
			continue
		}
		for i := 1; i <= n; i++ {
			for j := range points[i] {
				points[i][j] = (points[i][j] + points[0][j]) / 2
			}
		}
		copy(values[1:], f.losses(points[1:]))
		used += n
	}
	order(points, values)
	return points[0], values[0]
}

func order(points [][]float64, values []float64) {
	for i := range points {
		for j := i; j > 0 && values[j] < values[j-1]; j-- {
			values[j], values[j-1] = values[j-1], values[j]
			points[j], points[j-1] = points[j-1], points[j]
		}
	}
}

func (f *fitting) report(x []float64) string {
	c := f.coefficients(x)
	out := fmt.Sprintf("%+v\n", c)
	p := readPublished()
	for _, i := range f.indices {
		r := p.residual(i, &c)
		mark := ""
		if !r.OK {
			mark = "!"
		}
		out += fmt.Sprintf("%2d %1s %-16s %-6s %8.0f %8.0f %+6.1f%% %v\n", i, mark, r.Workload, r.Engine, r.Published, r.Law, 100*r.Error, r.Args)
	}
	return out
}
