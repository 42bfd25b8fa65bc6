package searchbench

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Row is how one run went.
type Row struct {
	Surface string
	Method  string
	Seed    uint64
	Noise   float64 // spread of the log of a measurement
	Crashed int     // trials that did not run
	Bad     int     // trials that did not run or broke a constraint, in truth
	BadLate int     // of them, those in the second half
	Stopped int     // trials that were cut short
	// StoppedBest is how many of them would have been measured best so far: those that should not have been.
	StoppedBest int
	Seconds     float64    // of the sampler, all suggestions together
	Confirmed   [2]float64 // regret after confirming at 40 and at 60 trials, or at the end of a shorter run
	Trials      []Score
}

// Score is how a run stood after a trial.
type Score struct {
	Regret  float64 // %, of the point that the method would return
	Minutes float64 // of the machine, since the start
	Bad     bool    // the trial did not run or broke a constraint, in truth
}

// Key names a run: no two rows of a file have the same.
func (r Row) Key() string { return fmt.Sprintf("%s %s %d %g", r.Surface, r.Method, r.Seed, r.Noise) }

var rowHeader = []string{"surface", "method", "seed", "noise", "crashed", "bad", "bad_late", "stopped", "stopped_best", "seconds", "confirmed_40", "confirmed_60", "regret:minutes"}

// WriteHeader begins a file of rows.
func WriteHeader(w io.Writer) error {
	_, err := fmt.Fprintln(w, strings.Join(rowHeader, ","))
	return err
}

// Write adds the row, as one line: the last field has regret:minutes of every trial, with ! after a bad one, separated by spaces.
func (r Row) Write(w io.Writer) error {
	scores := make([]string, len(r.Trials))
	for i, s := range r.Trials {
		scores[i] = number(s.Regret, 3) + ":" + number(s.Minutes, 1)
		if s.Bad {
			scores[i] += "!"
		}
	}
	c := csv.NewWriter(w)
	fields := []string{r.Surface, r.Method, strconv.FormatUint(r.Seed, 10), strconv.FormatFloat(r.Noise, 'g', -1, 64), strconv.Itoa(r.Crashed), strconv.Itoa(r.Bad),
		strconv.Itoa(r.BadLate), strconv.Itoa(r.Stopped), strconv.Itoa(r.StoppedBest), number(r.Seconds, 3), number(r.Confirmed[0], 3), number(r.Confirmed[1], 3), strings.Join(scores, " ")}
	if err := c.Write(fields); err != nil {
		return err
	}
	c.Flush()
	return c.Error()
}

// number writes a float rounded, so that a file is the same on every machine.
func number(x float64, digits int) string { return strconv.FormatFloat(x, 'f', digits, 64) }

// ReadRows reads a file of rows. A last line that was cut off is an error, as any other that does not parse.
func ReadRows(r io.Reader) ([]Row, error) {
	c := csv.NewReader(r)
	c.FieldsPerRecord = len(rowHeader)
	var rows []Row
	for {
		fields, err := c.Read()
		if errors.Is(err, io.EOF) {
			return rows, nil
		}
		line, _ := c.FieldPos(0)
		if err != nil {
			return rows, err
		}
		if fields[0] == rowHeader[0] {
			continue
		}
		row, err := parseRow(fields)
		if err != nil {
			return rows, fmt.Errorf("line %d: %w", line, err)
		}
		rows = append(rows, row)
	}
}

func parseRow(fields []string) (Row, error) {
	p := fieldReader{fields: fields}
	r := Row{Surface: fields[0], Method: fields[1], Seed: p.unsigned(2), Noise: p.float(3), Crashed: int(p.unsigned(4)), Bad: int(p.unsigned(5)),
		BadLate: int(p.unsigned(6)), Stopped: int(p.unsigned(7)), StoppedBest: int(p.unsigned(8)), Seconds: p.float(9), Confirmed: [2]float64{p.float(10), p.float(11)}}
	for _, pair := range strings.Fields(fields[12]) {
		plain, bad := strings.CutSuffix(pair, "!")
		a, b, ok := strings.Cut(plain, ":")
		regret, errA := strconv.ParseFloat(a, 64)
		minutes, errB := strconv.ParseFloat(b, 64)
		if !ok || errA != nil || errB != nil {
			return Row{}, fmt.Errorf("%q is not regret:minutes", pair)
		}
		r.Trials = append(r.Trials, Score{regret, minutes, bad})
	}
	return r, p.err
}

// fieldReader reads numbers and keeps the first error.
type fieldReader struct {
	fields []string
	err    error
}

func (p *fieldReader) float(i int) float64 {
	f, err := strconv.ParseFloat(p.fields[i], 64)
	if err != nil && p.err == nil {
		p.err = fmt.Errorf("%s is %q, no number", rowHeader[i], p.fields[i])
	}
	return f
}

func (p *fieldReader) unsigned(i int) uint64 {
	n, err := strconv.ParseUint(p.fields[i], 10, 64)
	if err != nil && p.err == nil {
		p.err = fmt.Errorf("%s is %q, no whole number", rowHeader[i], p.fields[i])
	}
	return n
}
