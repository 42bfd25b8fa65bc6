package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// Holder is the process that holds a study.
type Holder struct {
	Owner   string // what it said of itself, "autotune run" say
	PID     int
	Host    string
	Since   time.Time
	Renewed time.Time
	Alive   bool // false: it died, or its machine was started again
}

// lease is a row of autotune_lease.
type lease struct {
	token             string
	owner             string
	process           process
	acquired, renewed time.Time
}

// Acquire takes the lease for this process, from a dead one too. A live holder is a *FileError that wraps ErrHeld and names it.
func (d *DB) Acquire(ctx context.Context, owner string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.here(ctx); err != nil {
		return err
	}
	err := d.transact(ctx, "taking the study's lease", func(tx queries) error {
		if err := d.refuseOthers(ctx, tx); err != nil {
			return err
		}
		p, now := thisProcess(), instant(d.now())
		_, err := tx.ExecContext(ctx, `INSERT OR REPLACE INTO autotune_lease (id, token, owner, pid, started, boot, namespace, host, acquired, renewed)
			VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, d.token, owner, p.pid, p.started, p.boot, p.namespace, p.host, now, now)
		return err
	})
	d.held = d.held || err == nil
	return err
}

// Holder returns who holds the study; nil when nobody does.
func (d *DB) Holder(ctx context.Context) (*Holder, error) {
	var holder *Holder
	err := d.read(ctx, "reading who holds the study", func(q queries) error {
		l, err := readLease(ctx, q)
		if l != nil {
			holder = &Holder{Owner: l.owner, PID: l.process.pid, Host: l.process.host, Since: l.acquired, Renewed: l.renewed, Alive: l.alive(d.now())}
		}
		return err
	})
	return holder, err
}

func readLease(ctx context.Context, q queries) (*lease, error) {
	var l lease
	p := &l.process
	err := q.QueryRowContext(ctx, "SELECT token, owner, pid, started, boot, namespace, host, acquired, renewed FROM autotune_lease").
		Scan(&l.token, &l.owner, &p.pid, &p.started, &p.boot, &p.namespace, &p.host, scanInstant{&l.acquired}, scanInstant{&l.renewed})
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &l, nil
}

func (l *lease) alive(now time.Time) bool {
	alive, unseen := l.process.aliveFrom(thisProcess())
	return alive && (!unseen || now.Sub(l.renewed) < leaseTerm)
}

// refuseOthers fails when a live process other than this DB's holds the study.
func (d *DB) refuseOthers(ctx context.Context, tx queries) error {
	l, err := readLease(ctx, tx)
	if err != nil || l == nil || l.token == d.token || !l.alive(d.now()) {
		return err
	}
	held := d.heldBy(l)
	if _, unseen := l.process.aliveFrom(thisProcess()); unseen {
		held.Try = fmt.Sprintf("if that process is gone for certain, wait until %s: its lease ends then", l.renewed.Add(leaseTerm).Format(time.TimeOnly))
	}
	return held
}

func (d *DB) heldBy(l *lease) *FileError {
	return &FileError{Path: d.path, Err: ErrHeld, Try: "autotune status " + shell(d.path),
		Problem: fmt.Sprintf("is held by %s, process %d on %s, since %s", l.owner, l.process.pid, l.process.host, l.acquired.Format(time.DateTime+" MST"))}
}

// holding fails when this DB does not hold the lease: it never took it, or another process has taken it since.
func (d *DB) holding(ctx context.Context, tx queries) error {
	l, err := readLease(ctx, tx)
	switch {
	case err != nil:
		return err
	case l == nil:
		return &FileError{Path: d.path, Problem: "is written without its lease", Err: ErrHeld}
	case l.token != d.token:
		return d.heldBy(l)
	default:
		return nil
	}
}

// Renew keeps the lease and adds to the time spent. It fails when the path no longer names the open file (what was written is then saved beside
// it, and the error says where), or when another process holds the study.
func (d *DB) Renew(ctx context.Context, spent time.Duration) error {
	return d.write(ctx, "renewing the study's lease", func(tx queries) error {
		_, err := tx.ExecContext(ctx, "UPDATE autotune_lease SET renewed = ?", instant(d.now()))
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, "UPDATE autotune_study SET spent = spent + ?", spent)
		return err
	})
}

func (d *DB) release(tx queries) error {
	_, err := tx.ExecContext(context.Background(), "DELETE FROM autotune_lease WHERE token = ?", d.token)
	return err
}
