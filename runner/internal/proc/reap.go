package proc

import (
	"io"
	"maps"
	"os"
	"strings"
	"syscall"
	"time"
)

// Reap ends what an earlier process of ours has left behind: everything whose marker starts with prefix, with its session and its descendants.
// It returns what it found. An empty prefix finds nothing.
func Reap(prefix string, grace time.Duration) ([]string, error) {
	if prefix == "" {
		return nil, nil
	}
	return reap(func(m string) bool { return strings.HasPrefix(m, prefix) }, grace)
}

func reap(is func(marker string) bool, grace time.Duration) ([]string, error) {
	find := func() (map[int]process, error) { return marked(is) }
	found, err := find()
	if err != nil || len(found) == 0 {
		return nil, err
	}
	list := names(found)
	for _, row := range found {
		send(row, syscall.SIGTERM)
	}
	deadline := time.Now().Add(grace)
	for pause := firstLook; time.Now().Before(deadline); pause = min(2*pause, widestLook) {
		if left, err := find(); err != nil || len(left) == 0 {
			return list, err
		}
		<-time.After(pause)
	}
	return list, killAll(find)
}

// marked finds the living processes that carry a marker, and those that belong to them: their descendants, and their session where a marked
// process leads it or its leader has ended. Neither this process nor one that it descends from is ever among them.
func marked(is func(string) bool) (map[int]process, error) {
	rows, err := table()
	if err != nil {
		return nil, err
	}
	ours := map[int]bool{}
	for pid := os.Getpid(); pid > 0; pid = rows[pid].ppid {
		ours[pid] = true
	}
	found := map[int]process{}
	sessions := map[int]bool{}
	for pid, row := range rows {
		if !ours[pid] && !row.ended() && is(marker(pid)) {
			found[pid] = row
			sessions[row.session] = true
		}
	}
	for session := range sessions {
		if leader, there := rows[session]; there && !leader.ended() {
			if _, in := found[session]; !in {
				delete(sessions, session)
			}
		}
	}
	for pid, row := range rows {
		if sessions[row.session] {
			found[pid] = row
		}
	}
	descendants(rows, found)
	maps.DeleteFunc(found, func(pid int, row process) bool { return ours[pid] || row.ended() })
	return found, nil
}

// Watch is what a guard does: it waits for the end of in, which its starter holds open, and then ends what carries the marker, unless
// it was dismissed by a byte.
func Watch(in io.Reader, marker string, grace time.Duration) error {
	if n, _ := io.ReadFull(in, make([]byte, 1)); n > 0 || marker == "" {
		return nil
	}
	_, err := reap(func(m string) bool { return m == marker }, grace)
	return err
}
