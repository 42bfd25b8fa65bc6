package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"autotune/search/searchbench"
)

func tableCommand(args []string, out, progress io.Writer) error {
	f := newFlagSet("table", progress)
	each := f.Bool("each", false, "a table for each surface, too")
	methods := f.String("methods", "", "only these methods, in this order")
	surfaces := f.String("surfaces", "", "only these surfaces: six, all, or families")
	seeds := f.String("seeds", "", "only these seeds")
	noise := f.String("noise", "", "only these noises")
	at := f.Int("at", 0, "as it stood after so many trials; 0: at the end")
	same := f.Bool("same", false, "only runs that every method has")
	asJSON := f.String("json", "", "file to write to, as JSON: a row for each method and count of trials")
	if err := f.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return nil
		}
		return err
	}
	if f.NArg() == 0 {
		return errors.New("table wants files of rows")
	}
	rows, err := readAll(f.Args())
	if err != nil {
		return err
	}
	rows, err = selected(rows, *methods, *surfaces, *seeds, *noise)
	if err != nil {
		return err
	}
	if *same {
		rows = shared(rows)
	}
	for i, r := range rows {
		if *at > 0 && *at < len(r.Trials) {
			rows[i].Trials = r.Trials[:*at]
			rows[i].Stopped, rows[i].StoppedBest = 0, 0 // a row does not say which they were
		}
	}
	if err := searchbench.WriteTable(out, rows); err != nil {
		return err
	}
	if *asJSON != "" {
		if err := writeJSON(*asJSON, rows); err != nil {
			return err
		}
	}
	if !*each {
		return nil
	}
	for _, family := range searchbench.Families() {
		some := slices.DeleteFunc(slices.Clone(rows), func(r searchbench.Row) bool { return r.Surface != family })
		if len(some) == 0 {
			continue
		}
		fmt.Fprintf(out, "\n%s:\n\n", family)
		if err := searchbench.WriteTable(out, some); err != nil {
			return err
		}
	}
	return nil
}

// standing is a method after a number of trials.
type standing struct {
	Method string `json:"method"`
	N      int    `json:"n"` // runs
	searchbench.At
}

func writeJSON(path string, rows []searchbench.Row) error {
	var out []standing
	for _, s := range searchbench.Summarise(rows) {
		for _, at := range s.At {
			out = append(out, standing{s.Method, s.N, at})
		}
	}
	text, err := json.MarshalIndent(out, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o644)
}

// selected keeps the rows that were asked for; methods in the order in which they were.
func selected(rows []searchbench.Row, methods, surfaces, seeds, noise string) ([]searchbench.Row, error) {
	keep := rows
	filter := func(drop func(searchbench.Row) bool) { keep = slices.DeleteFunc(slices.Clone(keep), drop) }
	if surfaces != "" {
		names, err := parseSurfaces(surfaces)
		if err != nil {
			return nil, err
		}
		filter(func(r searchbench.Row) bool { return !slices.Contains(names, r.Surface) })
	}
	if seeds != "" {
		list, err := parseSeeds(seeds)
		if err != nil {
			return nil, err
		}
		filter(func(r searchbench.Row) bool { return !slices.Contains(list, r.Seed) })
	}
	if noise != "" {
		list, err := parseNoises(noise)
		if err != nil {
			return nil, err
		}
		filter(func(r searchbench.Row) bool { return !slices.Contains(list, r.Noise) })
	}
	if methods != "" {
		order := strings.Split(methods, ",")
		filter(func(r searchbench.Row) bool { return !slices.Contains(order, r.Method) })
		slices.SortStableFunc(keep, func(a, b searchbench.Row) int { return slices.Index(order, a.Method) - slices.Index(order, b.Method) })
	}
	return keep, nil
}

// shared keeps the runs that every method has, so that no method is compared on easier surfaces.
func shared(rows []searchbench.Row) []searchbench.Row {
	methods, runs := map[string]bool{}, map[string]int{}
	name := func(r searchbench.Row) string { return fmt.Sprintf("%s %d %g", r.Surface, r.Seed, r.Noise) }
	for _, r := range rows {
		methods[r.Method] = true
		runs[name(r)]++
	}
	return slices.DeleteFunc(slices.Clone(rows), func(r searchbench.Row) bool { return runs[name(r)] < len(methods) })
}
