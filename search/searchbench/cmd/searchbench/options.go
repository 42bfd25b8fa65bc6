package main

import (
	"flag"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"autotune/search/searchbench"
)

// six is how many of the families tables are made of.
const six = 6

func newFlagSet(name string, progress io.Writer) *flag.FlagSet {
	f := flag.NewFlagSet("searchbench "+name, flag.ContinueOnError)
	f.SetOutput(progress)
	return f
}

// parseSurfaces reads six, all, or families separated by commas.
func parseSurfaces(text string) ([]string, error) {
	all := searchbench.Families()
	switch text {
	case "six":
		return all[:six], nil
	case "all":
		return all, nil
	}
	names := strings.Split(text, ",")
	for _, n := range names {
		if !slices.Contains(all, n) {
			return nil, fmt.Errorf("no surface is called %q; there are six, all, %s", n, strings.Join(all, ", "))
		}
	}
	return names, nil
}

// parseSeeds reads 0-9, or 3, or 0-4,10.
func parseSeeds(text string) ([]uint64, error) {
	var seeds []uint64
	for _, part := range strings.Split(text, ",") {
		first, last, isRange := strings.Cut(part, "-")
		if !isRange {
			last = first
		}
		a, errA := strconv.ParseUint(first, 10, 32)
		b, errB := strconv.ParseUint(last, 10, 32)
		if errA != nil || errB != nil || b < a {
			return nil, fmt.Errorf("seeds %q: wanted a number, or a range such as 0-9", part)
		}
		for s := a; s <= b; s++ {
			seeds = append(seeds, s)
		}
	}
	return seeds, nil
}

// parseNoises reads spreads separated by commas.
func parseNoises(text string) ([]float64, error) {
	var out []float64
	for _, part := range strings.Split(text, ",") {
		x, err := strconv.ParseFloat(part, 64)
		if err != nil || x < 0 || x > 1 {
			return nil, fmt.Errorf("noise %q: wanted a spread between 0 and 1, such as 0.05", part)
		}
		out = append(out, x)
	}
	return out, nil
}
