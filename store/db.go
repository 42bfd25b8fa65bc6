package store

import (
	"context"
	"errors"
	"time"

	"autotune/tuner"
	"autotune/tuner/metric"
)

// DB is an open study file. It is a tuner.Store once a problem is bound; all methods may be called from several goroutines.
type DB struct{}

var errUnfinished = errors.New("store: not written yet")

// Create makes a study file. A path that is taken is a *FileError that wraps ErrExists, and nothing is changed.
// The study's projection needs the problem: its space and its goal. The caller acquires the lease next.
func Create(path string, study tuner.Study, p tuner.Problem) (*DB, error) { return nil, errUnfinished }

// Open opens a study file for going on with it. Bind and Acquire come next.
func Open(path string) (*DB, error) { return nil, errUnfinished }

// OpenReadOnly opens a study file for looking at it, also while it is being written. It changes nothing and creates nothing beside the file.
func OpenReadOnly(path string) (*DB, error) { return nil, errUnfinished }

// Bind gives the problem by which points are decoded and values projected; Create has bound its own.
func (d *DB) Bind(p tuner.Problem) {}

// ReadStudy reads the study without its history; it needs no problem.
func (d *DB) ReadStudy(ctx context.Context) (tuner.Study, error) { return tuner.Study{}, errUnfinished }

// Acquire takes the lease for this process, from a dead one too. A live holder is a *FileError that wraps ErrHeld and names it.
func (d *DB) Acquire(ctx context.Context, owner string) error { return errUnfinished }

// Holder is the process that holds a study.
type Holder struct {
	Owner string // what it said of itself, "autotune run" say
	PID   int
	Host  string
	Since time.Time
	Alive bool // false: it died, or its machine was started again
}

// Holder returns who holds the study; nil when nobody does.
func (d *DB) Holder(ctx context.Context) (*Holder, error) { return nil, errUnfinished }

// Revise replaces the study's spec, source, inputs and budget, for a resume with a changed space or a raised budget.
func (d *DB) Revise(ctx context.Context, study tuner.Study) error { return errUnfinished }

// Verdict returns what SetVerdict recorded last; nil when nothing was.
func (d *DB) Verdict(ctx context.Context) ([]byte, error) { return nil, errUnfinished }

// Events returns the study's events, oldest first.
func (d *DB) Events(ctx context.Context) ([]tuner.Event, error) { return nil, errUnfinished }

// Records returns the requests of a trial's measurement; nil when it has none.
func (d *DB) Records(ctx context.Context, number int) ([]metric.Record, error) {
	return nil, errUnfinished
}

// Load reads the study and its whole history, without the measurements' records.
func (d *DB) Load(ctx context.Context) (tuner.Study, tuner.History, error) {
	return tuner.Study{}, nil, errUnfinished
}

// Begin records that a trial has been asked, or is asked again. A number that is taken is a *FileError that wraps ErrTaken.
func (d *DB) Begin(ctx context.Context, t tuner.Trial) error { return errUnfinished }

// Finish records a trial's end, its run, its measurement and its records in one transaction, durable against loss of power.
func (d *DB) Finish(ctx context.Context, t tuner.Trial) error { return errUnfinished }

// Restate records anew the outcome and the staleness of earlier trials, in one transaction; nothing measured is changed.
func (d *DB) Restate(ctx context.Context, trials []tuner.Trial) error { return errUnfinished }

// Note records an event of the study.
func (d *DB) Note(ctx context.Context, e tuner.Event) error { return errUnfinished }

// Renew keeps the lease and adds to the time spent.
func (d *DB) Renew(ctx context.Context, spent time.Duration) error { return errUnfinished }

// SetVerdict records how the study stands, as JSON.
func (d *DB) SetVerdict(ctx context.Context, verdict []byte) error { return errUnfinished }

// Close gives the lease back and closes the file.
func (d *DB) Close() error { return nil }
