package load

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"

	"autotune/tuner/workload"
)

// Dataset is what a workload's file holds.
type Dataset struct {
	Rows    []workload.Row
	Hash    string // of the whole content
	Dropped int    // rows that the dataset's documented filter leaves out
}

// ReadDataset reads the file of a workload's dataset; workload.HasFile tells which have one. forced is the length of every answer in tokens, 0 for each
// row's own: the filter goes by it. A row that is bad is an error, which names the file, the line, and what is allowed.
func ReadDataset(dataset, path string, forced int) (Dataset, error) {
	read := map[string]func(io.Reader) ([]workload.Row, int, error){
		workload.ShareGPT: func(in io.Reader) ([]workload.Row, int, error) { return readShareGPT(in, forced) },
		workload.JSONL:    plainly(readPrompts),
		workload.Mooncake: plainly(readMooncake),
		workload.Azure:    plainly(readAzure),
	}[dataset]
	if read == nil {
		return Dataset{}, fmt.Errorf("a %s dataset has no file", dataset)
	}
	file, err := os.Open(path)
	if err != nil {
		return Dataset{}, fmt.Errorf("reading the dataset %s: %w", path, reason(err))
	}
	defer file.Close()
	sum := sha256.New()
	rows, dropped, err := read(io.TeeReader(bufio.NewReaderSize(file, 1<<20), sum))
	var at *lineError
	switch {
	case errors.As(err, &at):
		return Dataset{}, fmt.Errorf("reading the dataset %s:%d: %w", path, at.line, at.err)
	case err != nil:
		return Dataset{}, fmt.Errorf("reading the dataset %s: %w", path, reason(err))
	case len(rows) == 0:
		return Dataset{}, fmt.Errorf("reading the dataset %s: it has no rows", path)
	}
	return Dataset{Rows: rows, Hash: hex.EncodeToString(sum.Sum(nil)[:16]), Dropped: dropped}, nil
}

// plainly is for a format without a filter.
func plainly(read func(io.Reader) ([]workload.Row, error)) func(io.Reader) ([]workload.Row, int, error) {
	return func(in io.Reader) ([]workload.Row, int, error) {
		rows, err := read(in)
		return rows, 0, err
	}
}

// lineError is an error of one line of a file, counted from 1.
type lineError struct {
	line int
	err  error
}

func (e *lineError) Error() string { return fmt.Sprintf("line %d: %v", e.line, e.err) }
func (e *lineError) Unwrap() error { return e.err }

// longestRow bounds a line of a dataset: a prompt of a million tokens takes about eight megabytes.
const longestRow = 64 << 20

// eachLine calls read with every line that is not blank, and makes its error one of that line.
func eachLine(in io.Reader, read func(number int, line []byte) error) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(make([]byte, 0, 1<<20), longestRow)
	number := 0
	for lines.Scan() {
		number++
		line := bytes.TrimSpace(lines.Bytes())
		if number == 1 {
			line = bytes.TrimPrefix(line, []byte("\ufeff"))
		}
		if len(line) == 0 {
			continue
		}
		if err := read(number, line); err != nil {
			return &lineError{number, err}
		}
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return &lineError{number + 1, fmt.Errorf("the line is longer than %d MiB", longestRow>>20)}
	}
	return lines.Err()
}
