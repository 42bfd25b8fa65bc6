package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"autotune/search"
	"autotune/search/searchbench"
)

// runOptions are what run was asked.
type runOptions struct {
	methods  []string
	surfaces []string
	seeds    []uint64
	noises   []float64
	trials   int
	jobs     int
	out      string
}

func parseRun(args []string, progress io.Writer) (o runOptions, err error) {
	f := newFlagSet("run", progress)
	methods := f.String("methods", "gp,one-at-a-time,random", "samplers, by name: "+strings.Join(search.Names(), ", ")+"; with +stop after it, the default stoppers cut trials short")
	surfaces := f.String("surfaces", "six", "six, all, or families: "+strings.Join(searchbench.Families(), ", "))
	seeds := f.String("seeds", "0-9", "seeds: below 100 are for development")
	noises := f.String("noise", "0.05", "spreads of the log of a measurement")
	f.IntVar(&o.trials, "trials", 60, "trials of a run")
	f.IntVar(&o.jobs, "jobs", 1, "runs at a time")
	f.StringVar(&o.out, "out", "", "file of rows to append to")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	o.methods = strings.Split(*methods, ",")
	for _, m := range o.methods {
		if _, err := methodOf(m); err != nil {
			return o, err
		}
	}
	var problems [3]error
	o.surfaces, problems[0] = parseSurfaces(*surfaces)
	o.seeds, problems[1] = parseSeeds(*seeds)
	o.noises, problems[2] = parseNoises(*noises)
	switch {
	case o.out == "":
		err = errors.New("-out FILE is missing: rows are appended to it")
	case o.trials < 1 || o.jobs < 1:
		err = errors.New("-trials and -jobs are at least 1")
	default:
		err = errors.Join(problems[:]...)
	}
	return o, err
}

// methodOf makes a sampler with its ranker, and with stoppers for a name that ends in +stop. Its trials never fail by halves, so that the gate is 1.
func methodOf(name string) (m searchbench.Method, err error) {
	sampler, stops := strings.CutSuffix(name, "+stop")
	m = searchbench.Method{Name: name, Ranker: search.RankerOf(sampler)}
	if m.Sampler, err = search.New(sampler); err == nil && stops {
		m.Stopper, err = search.NewStopper(search.StopOn, 1)
	}
	return m, err
}

func runCommand(args []string, progress io.Writer) error {
	o, err := parseRun(args, progress)
	if errors.Is(err, flag.ErrHelp) {
		return nil
	}
	if err != nil {
		return err
	}
	rows, err := openRows(o.out)
	if err != nil {
		return err
	}
	defer rows.file.Close()
	return o.run(rows, progress)
}

// place is a surface that is still to be made: all methods then run on it, so that its best is looked for once.
type place struct {
	family string
	seed   uint64
}

// run carries out what is missing in the file, seed by seed, so that a run that is cut off has covered every family alike.
func (o runOptions) run(rows *rowFile, progress io.Writer) error {
	places := make(chan place)
	var wait sync.WaitGroup
	var mu sync.Mutex
	var problem error
	fail := func(err error) {
		mu.Lock()
		defer mu.Unlock()
		if problem == nil {
			problem = err
		}
	}
	failed := func() bool {
		mu.Lock()
		defer mu.Unlock()
		return problem != nil
	}
	for range o.jobs {
		wait.Add(1)
		go func() {
			defer wait.Done()
			for p := range places {
				if failed() {
					continue
				}
				if err := o.runPlace(p, rows, progress); err != nil {
					fail(err)
				}
			}
		}()
	}
	for _, seed := range o.seeds {
		for _, family := range o.surfaces {
			places <- place{family, seed}
		}
	}
	close(places)
	wait.Wait()
	return problem
}

func (o runOptions) runPlace(p place, rows *rowFile, progress io.Writer) error {
	var surface *searchbench.Surface
	for _, noise := range o.noises {
		for _, name := range o.methods {
			if rows.has(searchbench.Row{Surface: p.family, Method: name, Seed: p.seed, Noise: noise}) {
				continue
			}
			if surface == nil {
				var err error
				if surface, err = searchbench.New(p.family, p.seed); err != nil {
					return err
				}
			}
			method, err := methodOf(name)
			if err != nil {
				return err
			}
			begun := time.Now()
			row, err := searchbench.Run(surface, method, noise, o.trials)
			if err != nil {
				return err
			}
			if err := rows.add(row); err != nil {
				return err
			}
			fmt.Fprintln(progress, report(row, time.Since(begun)))
		}
	}
	return nil
}

// report is a line on a run, with a warning where the method found a point that is better than what the surface holds for its best.
func report(row searchbench.Row, took time.Duration) string {
	text := fmt.Sprintf("%-9s %4d  %-14s noise %g: regret", row.Surface, row.Seed, row.Method, row.Noise)
	least := 0.0
	for i, s := range row.Trials {
		least = min(least, s.Regret)
		if n := i + 1; n == 10 || n == 20 || n == 40 || n == len(row.Trials) {
			text += fmt.Sprintf(" @%d %.1f", n, s.Regret)
		}
	}
	text += fmt.Sprintf(", confirmed %.1f, %d bad, %d in the second half, %.1f s", row.Confirmed[1], row.Bad, row.BadLate, took.Seconds())
	if row.Stopped > 0 {
		text += fmt.Sprintf("; %d stopped, %d of them would have been best", row.Stopped, row.StoppedBest)
	}
	if least < 0 {
		text += fmt.Sprintf("\n  better by %.2f %% than the surface's best: that search has to be stronger", -least)
	}
	return text
}
