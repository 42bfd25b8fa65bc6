package load

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"autotune/tuner/workload"
)

// blockRow is one line of a trace in the format that Mooncake publishes (github.com/kvcache-ai/Mooncake, FAST25-release): arrival in
// milliseconds, lengths in tokens, and the prompt's blocks of 512 tokens by ids, equal where the blocks and all before them are.
type blockRow struct {
	Timestamp *float64 `json:"timestamp"`
	Input     *float64 `json:"input_length"`
	Output    *float64 `json:"output_length"`
	Blocks    []int64  `json:"hash_ids"`
}

func readMooncake(in io.Reader) ([]workload.Row, error) {
	return readObjects[blockRow](in)
}

func (b *blockRow) row() (row workload.Row, err error) {
	for _, f := range []struct {
		name  string
		value *float64
	}{{"timestamp", b.Timestamp}, {"input_length", b.Input}, {"output_length", b.Output}} {
		if f.value == nil {
			return row, fmt.Errorf("%s is missing", f.name)
		}
	}
	row = workload.Row{Timed: true, Blocks: b.Blocks}
	if row.Arrival, err = instant("timestamp", *b.Timestamp, time.Millisecond); err != nil {
		return row, err
	}
	if row.Input, err = wholeTokens("input_length", *b.Input); err != nil {
		return row, err
	}
	if row.Output, err = wholeTokens("output_length", *b.Output); err != nil {
		return row, err
	}
	if want := (row.Input + workload.BlockTokens - 1) / workload.BlockTokens; b.Blocks != nil && len(b.Blocks) != want {
		return row, fmt.Errorf("hash_ids has %d blocks; %d tokens are %d blocks of %d", len(b.Blocks), row.Input, want, workload.BlockTokens)
	}
	return row, nil
}

// azureColumns are those of Azure's LLM inference traces (github.com/Azure/AzurePublicDataset), of 2023 and of 2024.
var azureColumns = []string{"TIMESTAMP", "ContextTokens", "GeneratedTokens"}

// azureTimes are the spellings of an instant there: without a zone in 2023, with one in 2024. A fraction of a second may follow the seconds.
var azureTimes = []string{"2006-01-02 15:04:05", "2006-01-02 15:04:05Z07:00", "2006-01-02T15:04:05", "2006-01-02T15:04:05Z07:00"}

func readAzure(in io.Reader) ([]workload.Row, error) {
	reader := csv.NewReader(in)
	reader.FieldsPerRecord, reader.ReuseRecord, reader.TrimLeadingSpace = -1, true, true
	var columns []int
	var rows []workload.Row
	var first time.Time
	for {
		fields, err := reader.Read()
		line := 0
		if err == nil {
			line, _ = reader.FieldPos(0)
		}
		var bad *csv.ParseError
		switch {
		case errors.Is(err, io.EOF):
			return earliestFirst(rows), nil
		case errors.As(err, &bad):
			return nil, &lineError{bad.Line, bad.Err}
		case err != nil:
			return nil, err
		case columns == nil:
			if columns, err = findColumns(fields); err != nil {
				return nil, &lineError{line, err}
			}
			continue
		}
		row, at, err := azureRow(fields, columns)
		if err != nil {
			return nil, &lineError{line, err}
		}
		if first.IsZero() {
			first = at
		}
		row.Arrival, row.Line = at.Sub(first).Round(time.Microsecond), line
		rows = append(rows, row)
	}
}

// findColumns finds the three columns by their names, in whatever order.
func findColumns(header []string) ([]int, error) {
	header = slices.Clone(header)
	header[0] = strings.TrimPrefix(header[0], "\ufeff")
	var columns []int
	for _, name := range azureColumns {
		i := slices.IndexFunc(header, func(s string) bool { return strings.EqualFold(strings.TrimSpace(s), name) })
		if i < 0 {
			return nil, fmt.Errorf("the first line names no column %s; %s are wanted", name, strings.Join(azureColumns, ","))
		}
		columns = append(columns, i)
	}
	return columns, nil
}

func azureRow(fields []string, columns []int) (row workload.Row, at time.Time, err error) {
	if most := slices.Max(columns); len(fields) <= most {
		return row, at, fmt.Errorf("the line has %d columns; %d are wanted", len(fields), most+1)
	}
	value := func(i int) string { return strings.TrimSpace(fields[columns[i]]) }
	for _, layout := range azureTimes {
		if at, err = time.Parse(layout, value(0)); err == nil {
			break
		}
	}
	if err != nil {
		return row, at, fmt.Errorf("TIMESTAMP is %.40q; an instant such as 2023-11-16 18:17:03.9799600 is wanted", value(0))
	}
	row.Timed = true
	for i, to := range []*int{1: &row.Input, 2: &row.Output} {
		if to == nil {
			continue
		}
		n, err := strconv.Atoi(value(i))
		if err != nil || n < 1 || n > mostTokens {
			return row, at, fmt.Errorf("%s is %.40q; a whole number from 1 to %d is allowed", azureColumns[i], value(i), mostTokens)
		}
		*to = n
	}
	return row, at, nil
}

// earliestFirst counts arrivals from the earliest row, should the first line not be it.
func earliestFirst(rows []workload.Row) []workload.Row {
	earliest := time.Duration(0)
	for _, r := range rows {
		earliest = min(earliest, r.Arrival)
	}
	for i := range rows {
		rows[i].Arrival -= earliest
	}
	return rows
}
