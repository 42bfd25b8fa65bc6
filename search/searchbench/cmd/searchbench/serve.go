package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"time"

	"autotune/search"
	"autotune/search/searchbench"
	"autotune/space"
	"autotune/tuner"
)

// request is a line that the other program sends.
type request struct {
	Op       string                 `json:"op"`       // places, open, next, eval, done
	Surfaces string                 `json:"surfaces"` // places: as in -surfaces
	Seeds    string                 `json:"seeds"`    // places: as in -seeds
	Surface  string                 `json:"surface"`  // open
	Seed     uint64                 `json:"seed"`     // open
	Noise    float64                `json:"noise"`    // open
	Method   string                 `json:"method"`   // open: the name in the row
	Trials   int                    `json:"trials"`   // done: how many the row has
	Seconds  float64                `json:"seconds"`  // done: of the sampler
	Point    map[string]space.Value `json:"point"`    // next, eval; default is null
}

// answer is the line that comes back.
type answer struct {
	Error      string                   `json:"error,omitempty"`
	Places     []namedPlace             `json:"places,omitempty"`
	Skip       bool                     `json:"skip,omitempty"` // open: the file has that row already
	Parameters []searchbench.Parameter  `json:"parameters,omitempty"`
	Openings   []map[string]space.Value `json:"openings,omitempty"` // baselines: asked first by everyone
	Bounds     int                      `json:"bounds,omitempty"`   // open: how many constraints there are
	Next       string                   `json:"next,omitempty"`     // next: the parameter to suggest
	OK         bool                     `json:"ok,omitempty"`       // next: nothing is missing
	Broken     string                   `json:"broken,omitempty"`   // next: the known rule that the point breaks
	Runs       bool                     `json:"runs,omitempty"`     // eval
	Value      float64                  `json:"value,omitempty"`    // eval: as measured, to be maximised
	Violations []float64                `json:"violations,omitempty"`
	Regret     float64                  `json:"regret,omitempty"` // done: at the end, in truth, %
}

type namedPlace struct {
	Surface string `json:"surface"`
	Seed    uint64 `json:"seed"`
}

// server answers one program.
type server struct {
	rows    *rowFile
	surface *searchbench.Surface
	session *searchbench.Session
	begun   time.Time
	report  io.Writer
}

func serveCommand(args []string, in io.Reader, out, progress io.Writer) error {
	f := newFlagSet("serve", progress)
	path := f.String("out", "", "file of rows to append to")
	if err := f.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return nil
		}
		return err
	}
	if *path == "" {
		return errors.New("-out FILE is missing: rows are appended to it")
	}
	rows, err := openRows(*path)
	if err != nil {
		return err
	}
	defer rows.file.Close()
	s := &server{rows: rows, report: progress}
	lines, reply := json.NewDecoder(in), json.NewEncoder(out)
	for {
		var q request
		if err := lines.Decode(&q); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("reading a request: %w", err)
		}
		a, err := s.answer(q)
		if err != nil {
			a = answer{Error: err.Error()}
		}
		if err := reply.Encode(a); err != nil {
			return err
		}
	}
}

func (s *server) answer(q request) (answer, error) {
	if s.session == nil && q.Op != "places" && q.Op != "open" {
		return answer{}, fmt.Errorf("%s before open", q.Op)
	}
	switch q.Op {
	case "places":
		return places(q)
	case "open":
		return s.open(q)
	case "next":
		name, _, broken, err := s.surface.Next(q.Point)
		return answer{Next: name, OK: name == "", Broken: broken}, err
	case "eval":
		return s.eval(q)
	case "done":
		row := s.session.End(q.Trials)
		row.Seconds = q.Seconds
		s.session = nil
		fmt.Fprintln(s.report, report(row, time.Since(s.begun)))
		return answer{Regret: row.Trials[len(row.Trials)-1].Regret}, s.rows.add(row)
	}
	return answer{}, fmt.Errorf("no request is called %q: there are places, open, next, eval, done", q.Op)
}

func places(q request) (a answer, err error) {
	families, err := parseSurfaces(q.Surfaces)
	if err != nil {
		return a, err
	}
	seeds, err := parseSeeds(q.Seeds)
	if err != nil {
		return a, err
	}
	for _, seed := range seeds {
		for _, f := range families {
			a.Places = append(a.Places, namedPlace{f, seed})
		}
	}
	return a, nil
}

func (s *server) open(q request) (a answer, err error) {
	if s.rows.has(searchbench.Row{Surface: q.Surface, Method: q.Method, Seed: q.Seed, Noise: q.Noise}) {
		return answer{Skip: true}, nil
	}
	if s.surface == nil || s.surface.Name != q.Surface || s.surface.Seed != q.Seed {
		if s.surface, err = searchbench.New(q.Surface, q.Seed); err != nil {
			return a, err
		}
	}
	s.session = searchbench.NewSession(s.surface, q.Method, search.Best{}, q.Noise)
	s.begun = time.Now()
	return answer{Parameters: s.surface.Parameters(), Openings: s.surface.Openings(), Bounds: len(s.surface.Problem.Goal.SubjectTo)}, nil
}

func (s *server) eval(q request) (answer, error) {
	missing, p, broken, err := s.surface.Next(q.Point)
	switch {
	case err != nil:
		return answer{}, err
	case missing != "":
		return answer{}, fmt.Errorf("%s has no value", missing)
	case broken != "":
		return answer{}, fmt.Errorf("the point breaks rule %s: no engine is started for it", broken)
	}
	t := s.session.CarryOut(tuner.Proposal{Point: p})
	if t.Outcome.Kind != tuner.Measured {
		return answer{}, nil
	}
	goal := s.surface.Problem.Goal
	v, _ := goal.Value(t.Outcome.Measured)
	return answer{Runs: true, Value: v, Violations: goal.Violations(t.Outcome.Measured)}, nil
}
