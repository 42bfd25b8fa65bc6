package main

import (
	"bytes"
	"fmt"
	"os"
	"sync"

	"autotune/search/searchbench"
)

// rowFile is a file to which rows are appended as runs end.
type rowFile struct {
	mu   sync.Mutex
	file *os.File
	done map[string]bool // runs that have a row
}

// openRows opens or makes a file of rows. A last line that was cut off, by a kill in the middle of a write, is taken away.
func openRows(path string) (*rowFile, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	whole := text[:bytes.LastIndexByte(text, '\n')+1]
	rows, err := searchbench.ReadRows(bytes.NewReader(whole))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if err := f.Truncate(int64(len(whole))); err != nil {
		return nil, err
	}
	if _, err := f.Seek(0, 2); err != nil {
		return nil, err
	}
	r := &rowFile{file: f, done: map[string]bool{}}
	for _, row := range rows {
		r.done[row.Key()] = true
	}
	if len(whole) == 0 {
		err = searchbench.WriteHeader(f)
	}
	return r, err
}

func (r *rowFile) has(row searchbench.Row) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.done[row.Key()]
}

func (r *rowFile) add(row searchbench.Row) error {
	var line bytes.Buffer
	if err := row.Write(&line); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.done[row.Key()] = true
	_, err := r.file.Write(line.Bytes())
	return err
}

func readAll(paths []string) ([]searchbench.Row, error) {
	var all []searchbench.Row
	for _, path := range paths {
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		rows, err := searchbench.ReadRows(f)
		f.Close()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		all = append(all, rows...)
	}
	return all, nil
}
