package load

import (
	"fmt"
	"syscall"

	"autotune/tuner/workload"
)

// spareFiles are left for what else a process opens: logs, the study file, a look at the server's counters.
const spareFiles = 64

// files makes sure that there are file descriptors for the run's connections, one each; the function that it gives puts the limit back as it
// was. A run whose connections certainly do not fit is refused; one whose requests come in the course of time may need fewer than it has.
func (r *run) files() (restore func(), err error) {
	before, err := fileLimit()
	if err != nil {
		return func() {}, nil // whoever has no limits needs no more
	}
	first := firsts(r.requests) // a conversation has one connection at a time
	most := len(first)
	if n := r.Spec.MaxConcurrency; n > 0 {
		most = min(most, n)
	}
	return fitFiles(r.Spec.Name, before, setFileLimit, most, min(most, atOnce(first)), filesOpen()+spareFiles)
}

// fitFiles raises a limit for the most connections that may be needed, and wants room for those that surely are, beside what is open.
func fitFiles(name string, before syscall.Rlimit, set func(syscall.Rlimit) error, most, sure, open int) (restore func(), err error) {
	now := raised(before, uint64(most+open))
	restore = func() {}
	if now != before {
		if set(now) == nil {
			restore = func() { _ = set(before) } // down is always allowed
		} else {
			now = before
		}
	}
	if uint64(sure+open) > now.Cur {
		return nil, tooManyFiles(name, sure, open, now)
	}
	return restore, nil
}

// raised is a limit that has room for so many files; beyond the hard limit only a privileged process may go.
func raised(l syscall.Rlimit, need uint64) syscall.Rlimit {
	if l.Cur < need {
		l.Cur = need
		l.Max = max(l.Max, need)
	}
	return l
}

// atOnce is how many requests are due at the same instant, from the first on.
func atOnce(requests []workload.Request) int {
	n := 0
	for n < len(requests) && requests[n].Arrival == requests[0].Arrival {
		n++
	}
	return n
}

func tooManyFiles(name string, connections, open int, l syscall.Rlimit) error {
	fit := max(int(l.Cur)-open, 0)
	return fmt.Errorf("the workload %s cannot be sent: it needs %d connections at once and %d other files, but this process may open only %d (RLIMIT_NOFILE: soft limit %d, hard limit %d).\nTry: ulimit -n %d in the shell that starts autotune (above the hard limit as root, or in limits.conf), or a max_concurrency of at most %d",
		name, connections, open, l.Cur, l.Cur, l.Max, connections+open, fit)
}
