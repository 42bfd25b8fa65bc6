package store

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"autotune/space"
	"autotune/store/storetest"
	"autotune/tuner"
)

// childRole is the environment variable by which the test's program, started again, knows what it is to do.
const childRole = "AUTOTUNE_STORE_TEST_CHILD"

func TestMain(m *testing.M) {
	switch role, path, _ := strings.Cut(os.Getenv(childRole), " "); role {
	case "":
		os.Exit(m.Run())
	case "hold":
		os.Exit(hold(path))
	case "write":
		os.Exit(writeForever(path))
	}
	os.Exit(2)
}

// child is this program as another process. Its standard input stays open until the test ends; it says on its output what it has done.
type child struct {
	cmd   *exec.Cmd
	lines *bufio.Scanner
	errs  bytes.Buffer
}

func startChild(t *testing.T, role, path string) *child {
	t.Helper()
	c := &child{cmd: exec.Command(os.Args[0])}
	c.cmd.Env = append(os.Environ(), childRole+"="+role+" "+path)
	c.cmd.Stderr = &c.errs
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	in, err := c.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	c.lines = bufio.NewScanner(out)
	t.Cleanup(func() { in.Close(); c.kill() })
	return c
}

func (c *child) line(t *testing.T) string {
	t.Helper()
	if !c.lines.Scan() {
		t.Fatalf("the child ended: %s", c.errs.String())
	}
	return c.lines.Text()
}

// kill ends the child at once, and waits for its end.
func (c *child) kill() {
	if c.cmd.ProcessState == nil {
		_ = c.cmd.Process.Kill()
		for c.lines.Scan() {
		}
		_ = c.cmd.Wait()
	}
}

// hold takes a study and keeps it until its input ends.
func hold(path string) int {
	d, err := Open(path)
	if err == nil {
		err = d.Acquire(context.Background(), "autotune resume")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Println("held")
	_, _ = io.Copy(io.Discard, os.Stdin)
	return 0
}

func temporary(t testing.TB) string { return filepath.Join(t.TempDir(), "größe & co?#%20.db") }

// created is a new study that this process holds.
func created(t testing.TB, path string) *DB {
	t.Helper()
	return holding(t)(Create(path, storetest.Study(), storetest.Problem(t)))
}

// opened is an old one.
func opened(t testing.TB, path string) *DB {
	t.Helper()
	d := holding(t)(Open(path))
	d.Bind(storetest.Problem(t))
	return d
}

func holding(t testing.TB) func(*DB, error) *DB {
	return func(d *DB, err error) *DB {
		t.Helper()
		if err == nil {
			t.Cleanup(func() { d.Close() })
			err = d.Acquire(context.Background(), "autotune run")
		}
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
}

// looking opens a study for reading.
func looking(t testing.TB, path string) *DB {
	t.Helper()
	d, err := OpenReadOnly(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	d.Bind(storetest.Problem(t))
	return d
}

func history(t testing.TB, d *DB) tuner.History {
	t.Helper()
	_, h, err := d.Load(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// wantTrials are trials 0 to n-1 as they ended.
func wantTrials(p tuner.Problem, n int) (h tuner.History) {
	for i := range n {
		h = append(h, storetest.Stored(storetest.Ended(p, i)))
	}
	return h
}

// carryOut begins and ends trials.
func carryOut(t testing.TB, d *DB, numbers ...int) {
	t.Helper()
	for _, n := range numbers {
		if err := d.Begin(context.Background(), storetest.Begun(*d.problem, n)); err != nil {
			t.Fatal(err)
		}
		if err := d.Finish(context.Background(), storetest.Ended(*d.problem, n)); err != nil {
			t.Fatal(err)
		}
	}
}

func diff(want, got tuner.History) string {
	samePoint := cmp.Comparer(func(a, b space.Point) bool { return a.Key() == b.Key() && maps.Equal(a.Map(), b.Map()) })
	return cmp.Diff(want, got, samePoint, cmpopts.EquateEmpty())
}

func TestStore(t *testing.T) {
	storetest.Suite{Diff: diff, New: func(t *testing.T, study tuner.Study, p tuner.Problem) (tuner.Store, func() tuner.Store) {
		path, times := temporary(t), 0
		d := holding(t)(Create(path, study, p))
		return d, func() tuner.Store {
			if times++; times%2 == 0 {
				if err := d.Close(); err != nil {
					t.Fatal(err)
				}
				d = opened(t, path)
				return d
			}
			d = holding(t)(seize(t, path)) // the one before is left as a killed process leaves it: not closed
			d.Bind(p)
			return d
		}
	}}.Run(t)
}

// seize opens a study whose holder is taken for dead.
func seize(t *testing.T, path string) (*DB, error) {
	d, err := Open(path)
	if err == nil {
		_, err = d.link.conn.ExecContext(context.Background(), "UPDATE autotune_lease SET pid = 0, started = 'never'")
	}
	return d, err
}

func TestRecords(t *testing.T) {
	d := created(t, temporary(t))
	for n := range 30 {
		carryOut(t, d, n)
		want := storetest.Ended(*d.problem, n).Outcome.Measured
		got, err := d.Records(t.Context(), n)
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case want == nil && got != nil:
			t.Errorf("trial %d has %d requests, measured none", n, len(got))
		case want != nil:
			if diff := cmp.Diff(want.Records, got); diff != "" {
				t.Errorf("requests of trial %d (-want +got):\n%s", n, diff)
			}
			for _, also := range want.Also {
				got, err := d.RecordsOn(t.Context(), n, also.Workload, also.Repeat)
				if diff := cmp.Diff(also.Records, got); diff != "" || err != nil {
					t.Errorf("requests of trial %d on %s: %v (-want +got):\n%s", n, also.Workload, err, diff)
				}
			}
		}
	}
	if got, err := d.Records(t.Context(), 99); got != nil || err != nil {
		t.Errorf("a trial that is not there: %v, %v", got, err)
	}
}

func BenchmarkTrial(b *testing.B) {
	d := created(b, temporary(b))
	for n := 0; b.Loop(); n++ {
		carryOut(b, d, n)
		if err := d.Renew(context.Background(), 1); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkLoad300(b *testing.B) {
	d := created(b, temporary(b))
	for n := range 300 {
		carryOut(b, d, n)
	}
	for b.Loop() {
		history(b, d)
	}
}
