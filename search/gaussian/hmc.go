package gaussian

import (
	"math"
	"math/rand/v2"
	"slices"
)

// Hamiltonian Monte Carlo over the hyper-parameters (Neal, MCMC using Hamiltonian dynamics, 2011), in units of the priors' standard deviations.
const (
	leapSteps  = 6    // of a trajectory
	leapSize   = 0.2  // of the first trajectory's steps: about a radian of a normal posterior as wide as the prior in all
	leapLonger = 1.1  // by which steps grow after a trajectory that was accepted
	leapShort  = 0.8  // and shrink after one that was not: about seven of ten are accepted then
	burnIn     = 2    // trajectories from the mode before the first draw
	streamHMC  = 0x48 // of the random numbers
)

// chain is a walk over the hyper-parameters whose points are draws from their posterior.
type chain struct {
	*fitter
	r        *rand.Rand
	theta    []float64
	gradient []float64 // of the cost at theta
	cost     float64
	size     float64
}

// draw gives n draws from the posterior of the hyper-parameters, from a mode on; the same ones for the same data.
func (f *fitter) draw(mode []float64, n int) [][]float64 {
	c := &chain{fitter: f, r: rand.New(rand.NewPCG(uint64(len(f.data)), streamHMC)), theta: mode, gradient: make([]float64, len(mode)), size: leapSize}
	c.cost = f.cost(c.theta, c.gradient)
	draws := make([][]float64, 0, n)
	for i := range burnIn + n {
		c.advance()
		if i >= burnIn {
			draws = append(draws, c.theta)
		}
	}
	return draws
}

// advance follows one trajectory and accepts its end, or stays.
func (c *chain) advance() {
	momentum := make([]float64, len(c.theta))
	for i := range momentum {
		momentum[i] = c.r.NormFloat64()
	}
	before := c.cost + kinetic(momentum)
	theta, gradient := slices.Clone(c.theta), slices.Clone(c.gradient)
	cost := c.leap(theta, gradient, momentum)
	if math.Log(c.r.Float64()) < before-cost-kinetic(momentum) {
		c.theta, c.gradient, c.cost = theta, gradient, cost
		c.size *= leapLonger
		return
	}
	c.size *= leapShort
}

// leap moves theta, gradient and momentum along a trajectory by the leapfrog method, and returns the cost at its end.
func (c *chain) leap(theta, gradient, momentum []float64) (cost float64) {
	for range leapSteps {
		c.kick(momentum, gradient)
		for i, p := range c.priors {
			theta[i] += c.size * p.SD * momentum[i]
		}
		if cost = c.fitter.cost(theta, gradient); cost >= farAway {
			return cost
		}
		c.kick(momentum, gradient)
	}
	return cost
}

// kick is half a step of the momentum.
func (c *chain) kick(momentum, gradient []float64) {
	for i, p := range c.priors {
		momentum[i] -= c.size / 2 * p.SD * gradient[i]
	}
}

func kinetic(momentum []float64) float64 {
	sum := 0.0
	for _, m := range momentum {
		sum += m * m / 2
	}
	return sum
}
