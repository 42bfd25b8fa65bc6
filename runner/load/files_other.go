//go:build !linux

package load

import "syscall"

// fileLimit gives this process's limits on open files.
func fileLimit() (l syscall.Rlimit, err error) {
	return l, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l)
}

// setFileLimit changes nothing here: Go's runtime has raised the soft limit as far as it goes.
func setFileLimit(syscall.Rlimit) error { return syscall.EPERM }

// filesOpen is how many this process has open; 0: not known here.
func filesOpen() int { return 0 }
