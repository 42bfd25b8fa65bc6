package fake

// strikes are the faults that befall the whole server after a count of finished requests.
var strikes = []string{"hang-serve", "health-200-but-hangs", "log-oom-but-alive", "oom-load", "crash-after", "rank-dies"}

// watch counts the finished requests (in law time those of plans only) and says which fault is due.
type watch struct {
	faults   faults
	finished int
}

// due is the fault that strikes now; empty for none. It is the caller's to act on it once.
func (w *watch) due() string {
	for _, name := range strikes {
		if !w.faults.has(name) {
			continue
		}
		if name == "log-oom-but-alive" && w.faults.count(name) == 0 {
			continue // that one strikes in the start
		}
		if w.finished >= max(0, w.faults.count(name)) {
			return name
		}
	}
	return ""
}
