package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"time"

	"autotune/search/searchbench"
	"autotune/space"
)

// surfacesCommand prints, for each family, means over the seeds of what makes a surface hard or easy.
func surfacesCommand(args []string, out, progress io.Writer) error {
	f := newFlagSet("surfaces", progress)
	surfaces := f.String("surfaces", "all", "six, all, or families")
	seeds := f.String("seeds", "0-4", "seeds")
	points := f.Int("points", 500, "random points of a surface")
	if err := f.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return nil
		}
		return err
	}
	names, err := parseSurfaces(*surfaces)
	if err != nil {
		return err
	}
	list, err := parseSeeds(*seeds)
	if err != nil {
		return err
	}
	fmt.Fprintln(out, "| surface | flags | do not run | break a bound | regret of a random point that is good | of the best baseline | µs an evaluation |")
	fmt.Fprintln(out, "|---|---|---|---|---|---|---|")
	for _, name := range names {
		var sum census
		for _, seed := range list {
			s, err := searchbench.New(name, seed)
			if err != nil {
				return err
			}
			sum.look(s, *points)
		}
		n := float64(sum.points)
		fmt.Fprintf(out, "| %s | %d | %.0f %% | %.0f %% | %.0f %% | %.0f %% | %.0f |\n", name, sum.flags, 100*float64(sum.lost)/n, 100*float64(sum.broken)/n,
			sum.regret/max(1, n-float64(sum.lost+sum.broken)), sum.baseline/float64(len(list)), sum.took.Seconds()*1e6/n)
	}
	return nil
}

// census counts what random points do.
type census struct {
	flags, points, lost, broken int
	regret, baseline            float64
	took                        time.Duration
}

func (c *census) look(s *searchbench.Surface, points int) {
	c.flags = 0
	for _, p := range s.Problem.Space.Params() {
		if p.Domain.Size() > 1 {
			c.flags++
		}
	}
	r := rand.New(rand.NewPCG(s.Seed, 0))
	for range points {
		p, ok := s.Problem.Space.Draw(r, func(space.Point) bool { return false })
		if !ok {
			return
		}
		c.points++
		begun := time.Now()
		t := s.Truth(p)
		c.took += time.Since(begun)
		switch {
		case !t.Runs:
			c.lost++
		case s.Bad(t):
			c.broken++
		default:
			c.regret += s.Regret(p)
		}
	}
	best := 100.0
	for _, b := range s.Problem.Baselines {
		best = min(best, s.Regret(b))
	}
	c.baseline += best
}
