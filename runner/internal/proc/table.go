package proc

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// MarkerName is the environment variable by which a trial's processes are known, wherever they have gone.
const MarkerName = "AUTOTUNE_TRIAL"

// process is one row of the process table.
type process struct {
	pid, ppid, session int
	state              byte   // Z: has ended, waits for its parent
	started            uint64 // clock ticks since boot: with the pid it names one process for ever
	name               string
}

func (p process) String() string { return fmt.Sprintf("%d (%s, state %c)", p.pid, p.name, p.state) }

func (p process) ended() bool { return p.state == 'Z' || p.state == 'X' }

// table reads every process that can be seen.
func table() (map[int]process, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, fmt.Errorf("reading the process table: %w", err)
	}
	rows := make(map[int]process, len(entries))
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if p, ok := lookUp(pid); ok {
			rows[pid] = p
		}
	}
	return rows, nil
}

// lookUp reads one process; ok is false when it is gone.
func lookUp(pid int) (process, bool) {
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return process{}, false
	}
	return parseStat(text)
}

// parseStat reads /proc/PID/stat. The name stands in parentheses and may hold blanks and parentheses, so it is found from the right.
func parseStat(text []byte) (process, bool) {
	open, shut := bytes.IndexByte(text, '('), bytes.LastIndexByte(text, ')')
	if open < 1 || shut < open {
		return process{}, false
	}
	const startField = 22 - 3 // fields are counted from 1, the state is the third
	rest := strings.Fields(string(text[shut+1:]))
	if len(rest) <= startField || len(rest[0]) != 1 {
		return process{}, false
	}
	p := process{state: rest[0][0], name: string(text[open+1 : shut])}
	var errs [4]error
	p.pid, errs[0] = strconv.Atoi(strings.TrimSpace(string(text[:open])))
	p.ppid, errs[1] = strconv.Atoi(rest[1])
	p.session, errs[2] = strconv.Atoi(rest[3])
	p.started, errs[3] = strconv.ParseUint(rest[startField], 10, 64)
	for _, err := range errs {
		if err != nil {
			return process{}, false
		}
	}
	return p, true
}

// marker is the value of the marker in the environment of a process, empty when there is none or it cannot be read.
func marker(pid int) string {
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "environ"))
	if err != nil {
		return ""
	}
	for entry := range bytes.SplitSeq(text, []byte{0}) {
		if value, ok := bytes.CutPrefix(entry, []byte(MarkerName+"=")); ok {
			return string(value)
		}
	}
	return ""
}

// descendants adds to found everything that descends from it, by the parents that the table names.
func descendants(rows map[int]process, found map[int]process) {
	for grown := true; grown; {
		grown = false
		for pid, p := range rows {
			if _, in := found[pid]; in {
				continue
			}
			if _, ours := found[p.ppid]; ours {
				found[pid] = p
				grown = true
			}
		}
	}
}
