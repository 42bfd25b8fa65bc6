package store

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"time"

	_ "github.com/mattn/go-sqlite3" // the database/sql driver "sqlite3"
)

// busyTimeout is how long SQLite itself waits for a lock, in milliseconds; then we look whether the person has had enough, and go on.
const busyTimeout = "1000"

// patience bounds how long a write waits for another program's lock, or for space on the disk. A hand at a database shell is patient; a finished trial cost hours.
const patience = 10 * time.Minute

// queries is what a *sql.Tx and a *sql.Conn have in common.
type queries interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// dsn writes a connection's address; the path may hold any character.
func dsn(path string, options map[string]string) string {
	q := url.Values{"_busy_timeout": {busyTimeout}}
	for k, v := range options {
		q.Set(k, v)
	}
	return (&url.URL{Scheme: "file", Path: path, RawQuery: q.Encode()}).String()
}

// writing are the options of the one connection that writes.
func writing(mode string) map[string]string {
	return map[string]string{"mode": mode, "_txlock": "immediate", "_foreign_keys": "1", "_synchronous": "FULL"}
}

// link is one connection, held for good: database/sql must not open the path again behind our back, it may name another file by then.
type link struct {
	pool *sql.DB
	conn *sql.Conn
	file os.FileInfo
}

// dial opens the file and makes sure that it is a database.
func dial(ctx context.Context, path string, options map[string]string) (*link, error) {
	pool, err := sql.Open("sqlite3", dsn(path, options))
	if err != nil {
		return nil, err
	}
	pool.SetMaxOpenConns(1)
	l := &link{pool: pool}
	if l.conn, err = pool.Conn(ctx); err != nil {
		pool.Close()
		return nil, err
	}
	var n int
	if err = l.conn.QueryRowContext(ctx, "SELECT COUNT(*) FROM sqlite_master").Scan(&n); err == nil {
		l.file, err = os.Stat(path)
	}
	if err != nil {
		l.close()
		return nil, err
	}
	return l, nil
}

func (l *link) close() error {
	l.conn.Close()
	return l.pool.Close()
}

// absolute keeps a path's meaning when the working directory changes, and follows links, so that SQLite's side files lie beside the real file.
func absolute(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	if real, err := filepath.EvalSymlinks(abs); err == nil {
		return real, nil
	}
	return abs, nil
}

// retry repeats f while all that hinders it is another program's lock or a full disk, until ctx ends, limit has passed, or a stop was asked (see WithStop). Waiting is told, once.
func retry(ctx context.Context, limit time.Duration, waiting func(string), f func() error) error {
	start := time.Now()
	for told := false; ; {
		err := f()
		if !locked(err) && !full(err) || time.Since(start) > limit || stopOf(ctx).over(time.Now()) {
			return err
		}
		if !told && waiting != nil {
			told = true
			waiting(hindrance(err) + fmt.Sprintf(": waiting for it, at most %v", limit))
		}
		pause := time.NewTimer(50 * time.Millisecond)
		select {
		case <-ctx.Done():
			pause.Stop()
			return fmt.Errorf("%w (%s: %w)", ctx.Err(), hindrance(err), err)
		case <-pause.C:
		}
	}
}

// hindrance says what a write waits for.
func hindrance(err error) string {
	if full(err) {
		return "the disk is full, the study file needs space"
	}
	return "another program has locked the study file"
}
