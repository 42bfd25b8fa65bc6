package load

import (
	"strings"
	"syscall"
	"testing"

	"autotune/tuner/metric"
)

func TestFitFiles(t *testing.T) {
	for _, c := range []struct {
		name             string
		cur, max         uint64
		root             bool
		most, sure, open int
		during           uint64 // soft limit while the run goes; 0: refused
	}{
		{"there is room", 1000, 1000, false, 500, 500, 100, 1000},
		{"the soft limit is raised", 256, 4096, false, 500, 500, 100, 600},
		{"the hard limit is beyond an ordinary user", 256, 512, false, 500, 500, 100, 0},
		{"and not beyond root", 256, 512, true, 500, 500, 100, 600},
		{"requests that come in the course of time may need fewer", 256, 512, false, 500, 1, 100, 256},
	} {
		before := syscall.Rlimit{Cur: c.cur, Max: c.max}
		now := before
		set := func(l syscall.Rlimit) error {
			if l.Max > c.max && !c.root {
				return syscall.EPERM
			}
			now = l
			return nil
		}
		restore, err := fitFiles("w", before, set, c.most, c.sure, c.open)
		if c.during == 0 {
			for _, want := range []string{"500 connections", "RLIMIT_NOFILE: soft limit 256, hard limit 512", "ulimit -n 600", "max_concurrency of at most 156"} {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%s: %q is missing in: %v", c.name, want, err)
				}
			}
			continue
		}
		if err != nil || now.Cur != c.during {
			t.Errorf("%s: %v, soft limit %d, want %d", c.name, err, now.Cur, c.during)
			continue
		}
		if restore(); now != before {
			t.Errorf("%s: %+v is left, want %+v", c.name, now, before)
		}
	}
}

// lowered gives this process fewer files until the test ends.
func lowered(t *testing.T, files int) syscall.Rlimit {
	t.Helper()
	before, err := fileLimit()
	if err != nil {
		t.Skip(err)
	}
	low := before
	low.Cur = uint64(files)
	if err := setFileLimit(low); err != nil {
		t.Skip("this system's limit cannot be changed:", err)
	}
	t.Cleanup(func() { _ = setFileLimit(before) })
	return low
}

// A run gets the files that it needs, and leaves the limit as it was.
func TestFilesOfARun(t *testing.T) {
	low := lowered(t, filesOpen()+spareFiles+10)
	result, err := hammer(t, t.Context(), good, Options{Spec: spec(40, 0)}, nil)
	if err != nil || classes(result.Records)[""] != 40 || result.Dropped != 0 {
		t.Errorf("%v, %v", err, classes(result.Records))
	}
	if l, err := fileLimit(); err != nil || l != low {
		t.Errorf("the limit is %+v, was %+v", l, low)
	}
}

// A request for which this machine has no socket is no failure of the server.
func TestDropped(t *testing.T) {
	s := serveRaw(t, nil)
	c := newClient(Target{URL: s.url()})
	defer c.close()
	x := &exchange{path: pathCompletions, body: []byte("{}")}
	x.rec, x.ended = &metric.Record{}, func(*cutOff) {}
	x.now = zero
	lowered(t, 3)
	c.talk(t.Context(), x)
	if c.dropped.Load() != 1 || x.rec.Error != metric.ErrConnect || !strings.Contains(x.rec.Detail, "no room for another connection: too many open files") {
		t.Errorf("%d dropped, %+v", c.dropped.Load(), x.rec)
	}
}
