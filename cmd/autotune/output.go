package main

import (
	"errors"
	"io"
	"sync/atomic"
	"syscall"
)

// output is where a command writes to. Once its reader has gone (run ... | head -3), the rest is dropped: the study file is what counts.
type output struct {
	io.Writer
	closed atomic.Bool
}

// Write writes, or drops what nobody can read any more.
func (o *output) Write(p []byte) (int, error) {
	if o.closed.Load() {
		return len(p), nil
	}
	n, err := o.Writer.Write(p)
	if errors.Is(err, syscall.EPIPE) {
		o.closed.Store(true)
		return len(p), nil
	}
	return n, err
}
