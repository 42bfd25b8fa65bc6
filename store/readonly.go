package store

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// readerPatience bounds how long a reader waits: only for the moment in which a writer recovers or removes its log.
const readerPatience = 30 * time.Second

// reader is how a file is looked at without changing it. While nobody writes there is no write-ahead log, and an ordinary connection would make
// one (and could not in a read-only folder): the file is then opened as one that cannot change, and what was read is read again if it has.
type reader struct {
	still  bool   // opened as one that cannot change
	folder string // of a copy, when the file can be opened in no other way
	size   int64
	time   time.Time
}

// OpenReadOnly opens a study file for looking at it, also while it is being written. It changes nothing and creates nothing beside the file.
func OpenReadOnly(path string) (*DB, error) {
	ctx := context.Background()
	d, err := newDB(path)
	if err != nil {
		return nil, err
	}
	d.patience = readerPatience
	info, err := os.Stat(d.path)
	switch {
	case err != nil:
		return nil, explain(d.path, "looking at the study file", err)
	case info.IsDir():
		return nil, &FileError{Path: d.path, Problem: "is a folder, not a study file", Try: "give the path of a file"}
	case !info.Mode().IsRegular():
		return nil, &FileError{Path: d.path, Problem: "is no regular file, so no study file"}
	}
	// Opened by hand first: the system says what is wrong, SQLite only that something is.
	f, err := os.Open(d.path)
	if err != nil {
		return nil, explain(d.path, "opening the study file", err)
	}
	f.Close()
	var version int
	if err = d.dialReading(ctx); err == nil {
		if err = d.readQuietly(ctx, func(q queries) (err error) {
			version, err = identify(ctx, q, d.path, info.Size())
			return err
		}); err != nil {
			d.link.close()
		}
	}
	if err != nil {
		return nil, explain(d.path, "opening the study file for reading", err)
	}
	if version < newest() {
		err = d.upgradeCopy(ctx)
	}
	return d, explain(d.path, "upgrading a copy of the study file", err)
}

// dialReading connects in the way that the file allows now.
func (d *DB) dialReading(ctx context.Context) error {
	return retry(ctx, d.patience, nil, func() (err error) {
		d.readOnly = &reader{}
		info, err := os.Stat(d.path)
		if err != nil {
			return err
		}
		if !exists(d.path+"-wal") && !exists(d.path+"-journal") {
			d.readOnly.still, d.readOnly.size, d.readOnly.time = true, info.Size(), info.ModTime()
			d.link, err = dial(ctx, d.path, map[string]string{"mode": "ro", "immutable": "1"})
			return err
		}
		d.link, err = dial(ctx, d.path, map[string]string{"mode": "ro"})
		if err != nil && !locked(err) && !exists(d.path+"-shm") {
			return d.dialCopy(ctx) // a log without its index, where none can be made: a copied or crashed study in a read-only folder
		}
		return err
	})
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// readQuietly carries out f, once more on a new connection when the file has meanwhile changed in a way that this one cannot see.
func (d *DB) readQuietly(ctx context.Context, f func(q queries) error) error {
	const tries = 10
	for try := 1; ; try++ {
		if d.readOnly.folder == "" && d.outdated() {
			d.link.close()
			if err := d.dialReading(ctx); err != nil {
				return err
			}
		}
		err := retry(ctx, d.patience, nil, func() error { return snapshot(ctx, d.link, f) })
		if d.readOnly.folder != "" || !d.outdated() || try == tries {
			return err
		}
	}
}

// outdated tells whether the connection may see something else than the file at the path holds.
func (d *DB) outdated() bool {
	info, err := os.Stat(d.path)
	if err != nil {
		return false // it is gone: what is open is all there is
	}
	if !os.SameFile(info, d.link.file) {
		return true
	}
	r := d.readOnly
	return r.still && (exists(d.path+"-wal") || exists(d.path+"-journal") || info.Size() != r.size || !info.ModTime().Equal(r.time))
}

// dialCopy copies the file and what lies beside it, its log or a journal to roll back, into a temporary folder and opens the copy.
func (d *DB) dialCopy(ctx context.Context) error {
	folder, err := os.MkdirTemp("", "autotune-read-")
	if err != nil {
		return err
	}
	target := filepath.Join(folder, "study.db")
	err = copyFile(d.path, target)
	for _, side := range []string{"-wal", "-journal"} {
		if exists(d.path + side) {
			err = errors.Join(err, copyFile(d.path+side, target+side))
		}
	}
	if err == nil {
		d.link, err = dial(ctx, target, map[string]string{"mode": "rw"})
	}
	if err != nil {
		return errors.Join(err, os.RemoveAll(folder))
	}
	d.readOnly = &reader{folder: folder}
	return nil
}

// upgradeCopy makes a copy of a file of an older version, brings that to this version and reads it instead; the file itself stays as it is.
func (d *DB) upgradeCopy(ctx context.Context) error {
	folder, err := os.MkdirTemp("", "autotune-read-")
	if err != nil {
		return err
	}
	target := filepath.Join(folder, "study.db")
	if _, err = d.link.conn.ExecContext(ctx, "VACUUM INTO ?", target); err == nil {
		d.link.close()
		if d.link, err = dial(ctx, target, writing("rw")); err == nil {
			err = inTransaction(ctx, d.link, func(tx queries) error {
				version, err := identify(ctx, tx, d.path, 1)
				if err != nil {
					return err
				}
				return migrate(ctx, tx, migrations, version)
			})
		}
	}
	if err != nil {
		return errors.Join(err, os.RemoveAll(folder))
	}
	if d.readOnly.folder != "" {
		os.RemoveAll(d.readOnly.folder)
	}
	d.readOnly = &reader{folder: folder}
	return nil
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
