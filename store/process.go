package store

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"
)

// process identifies one process for good: a number alone is given again to another one.
type process struct {
	pid       int
	started   string // in ticks since the machine's start; empty where /proc is missing
	boot      string // identity of the machine's start
	namespace string // in which the number counts: a container has its own
	host      string
}

// leaseTerm is how long the lease of a process that cannot be seen from here (another machine, another container) counts without being renewed.
const leaseTerm = 10 * time.Minute

func thisProcess() process {
	p := process{pid: os.Getpid()}
	p.started, _ = startTicks(p.pid)
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	p.boot = string(bytes.TrimSpace(boot))
	p.namespace, _ = os.Readlink("/proc/self/ns/pid")
	p.host, _ = os.Hostname()
	return p
}

// startTicks reads when a process was started; ok is false when it is gone, or dead and only not yet waited for.
func startTicks(pid int) (ticks string, ok bool) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "", false
	}
	// The command's name stands in parentheses and may hold anything; state is the field after it, start the 20th after it.
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) < 20 || strings.ContainsAny(fields[0], "ZX") {
		return "", false
	}
	return fields[19], true
}

// aliveFrom tells whether p still runs, as far as one can see from the process here; unseen says that only its last renewal speaks for it.
func (p process) aliveFrom(here process) (alive, unseen bool) {
	switch {
	case p.boot != "" && p.boot == here.boot && p.namespace == here.namespace:
		ticks, ok := startTicks(p.pid)
		return ok && ticks == p.started, false
	case p.boot == "" && here.boot == "" && p.host == here.host:
		err := syscall.Kill(p.pid, 0)
		return err == nil || errors.Is(err, syscall.EPERM), false
	case p.host == here.host && p.boot != here.boot:
		return false, false // the machine was started again
	default:
		return true, true
	}
}
