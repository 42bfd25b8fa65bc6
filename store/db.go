package store

import (
	"context"
	"crypto/rand"
	"errors"
	"os"
	"sync"
	"time"

	"autotune/tuner"
)

// DB is an open study file. It is a tuner.Store once a problem is bound; all methods may be called from several goroutines.
type DB struct {
	// Waiting, when set, is told once in each write that another program's lock holds it up.
	Waiting func(message string)

	path     string // absolute, links followed
	readOnly *reader
	token    string // of the lease, made for this DB
	patience time.Duration
	now      func() time.Time

	mu      sync.Mutex // one connection, one user at a time
	link    *link
	problem *tuner.Problem
	held    bool   // the lease was taken through this DB
	rescued string // where a copy was saved when the path no longer named the open file
	closed  bool
}

var _ tuner.Store = (*DB)(nil)

func newDB(path string) (*DB, error) {
	abs, err := absolute(path)
	return &DB{path: abs, token: rand.Text(), patience: patience, now: time.Now}, err
}

// Open opens a study file for going on with it. A file of an older version is brought to this one. Bind and Acquire come next.
func Open(path string) (*DB, error) {
	ctx := context.Background()
	d, err := newDB(path)
	if err != nil {
		return nil, err
	}
	// What the file is is found out without touching it.
	look, err := OpenReadOnly(path)
	if err != nil {
		return nil, err
	}
	if err := look.Close(); err != nil {
		return nil, err
	}
	if err := d.dialWriting(ctx); err != nil {
		return nil, explain(d.path, "opening the study file", err)
	}
	if err := d.upgrade(ctx); err != nil {
		d.link.close()
		return nil, explain(d.path, "opening the study file for writing", err)
	}
	return d, nil
}

// dialWriting connects, and sets the journal mode: a write-ahead log, so that readers never block the writer.
func (d *DB) dialWriting(ctx context.Context) error {
	return retry(ctx, d.patience, d.Waiting, func() (err error) {
		if d.link, err = dial(ctx, d.path, writing("rw")); err != nil {
			return err
		}
		if _, err = d.link.conn.ExecContext(ctx, "PRAGMA journal_mode = WAL"); err != nil {
			d.link.close()
		}
		return err
	})
}

// upgrade brings an older schema to this version; it also proves that the file can be written.
func (d *DB) upgrade(ctx context.Context) error {
	return retry(ctx, d.patience, d.Waiting, func() error {
		return inTransaction(ctx, d.link, func(tx queries) error {
			version, err := identify(ctx, tx, d.path, d.link.file.Size())
			if err != nil || version == newest() {
				return err
			}
			if err := d.refuseOthers(ctx, tx); err != nil {
				return err
			}
			return migrate(ctx, tx, migrations, version)
		})
	})
}

// Bind gives the problem by which points are decoded and values projected; Create has bound its own.
func (d *DB) Bind(p tuner.Problem) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.problem = &p
}

var errUnbound = errors.New("store: no problem is bound to the study file") // a programmer's mistake

// write carries out f in one transaction of the holder of the lease. A finished commit is on the disk.
func (d *DB) write(ctx context.Context, doing string, f func(tx queries) error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.here(ctx); err != nil {
		return err
	}
	return d.transact(ctx, doing, d.asHolder(ctx, f))
}

// keep is write for what must not be lost: where the path no longer names the open file, f is carried out on that file, wherever it is, and a
// copy of it is saved beside the path.
func (d *DB) keep(ctx context.Context, doing string, f func(tx queries) error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	moved := d.here(ctx)
	if moved != nil && !errors.Is(moved, ErrMoved) {
		return moved
	}
	if err := d.transact(ctx, doing, d.asHolder(ctx, f)); err != nil || moved == nil {
		return errors.Join(moved, err)
	}
	return d.moved(ctx, true)
}

// asHolder carries out f for the holder of the lease alone.
func (d *DB) asHolder(ctx context.Context, f func(tx queries) error) func(tx queries) error {
	return func(tx queries) error {
		if err := d.holding(ctx, tx); err != nil {
			return err
		}
		return f(tx)
	}
}

// transact carries out f in one transaction, waiting for other programs' locks and for space on a full disk.
func (d *DB) transact(ctx context.Context, doing string, f func(tx queries) error) error {
	if d.closed || d.readOnly != nil {
		return &FileError{Path: d.path, Problem: "is not open for writing"}
	}
	err := retry(ctx, d.patience, d.Waiting, func() error { return inTransaction(ctx, d.link, f) })
	return explain(d.path, doing, err)
}

// inTransaction carries out f in a transaction that holds the lock for writing from its start, and commits unless f fails.
func inTransaction(ctx context.Context, l *link, f func(tx queries) error) error {
	tx, err := l.conn.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := f(tx); err != nil {
		tx.Rollback() // its failure, if any, follows from err
		return err
	}
	return tx.Commit()
}

// read carries out f on one consistent state of the file.
func (d *DB) read(ctx context.Context, doing string, f func(q queries) error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return &FileError{Path: d.path, Problem: "is closed"}
	}
	if d.readOnly != nil {
		return explain(d.path, doing, d.readQuietly(ctx, f))
	}
	return explain(d.path, doing, retry(ctx, d.patience, d.Waiting, func() error { return snapshot(ctx, d.link, f) }))
}

// snapshot carries out f in a transaction that takes no lock for writing.
func snapshot(ctx context.Context, l *link, f func(q queries) error) error {
	if _, err := l.conn.ExecContext(ctx, "BEGIN DEFERRED"); err != nil {
		return err
	}
	err := f(l.conn)
	_, end := l.conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK")
	return errors.Join(err, end)
}

// closePatience bounds how long giving the lease back waits for another program's lock.
const closePatience = 3 * time.Second

// Close gives the lease back and closes the file.
func (d *DB) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil
	}
	d.closed = true
	if d.held {
		// When another program's lock is in the way, the lease ends with this process all the same.
		ctx := context.Background()
		_ = retry(ctx, closePatience, nil, func() error { return inTransaction(ctx, d.link, d.release) })
		d.settle(ctx)
	}
	err := d.link.close()
	if d.readOnly != nil && d.readOnly.folder != "" {
		err = errors.Join(err, os.RemoveAll(d.readOnly.folder))
	}
	return err
}
