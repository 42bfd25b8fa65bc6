package load

import (
	"os"
	"syscall"
	"unsafe"
)

// fileLimit gives this process's limits on open files.
func fileLimit() (l syscall.Rlimit, err error) { return l, prlimit(nil, &l) }

// setFileLimit changes the limits by prlimit and not by syscall.Setrlimit: Go's runtime raises the soft limit to the hard one when a program
// starts, and gives a child process the limit that the program itself was started with, unless Setrlimit has been called (src/syscall/rlimit.go
// and exec_linux.go of Go 1.26). An engine that is started later is to find that limit, too.
func setFileLimit(l syscall.Rlimit) error { return prlimit(&l, nil) }

func prlimit(set, get *syscall.Rlimit) error {
	_, _, e := syscall.RawSyscall6(syscall.SYS_PRLIMIT64, 0, syscall.RLIMIT_NOFILE, uintptr(unsafe.Pointer(set)), uintptr(unsafe.Pointer(get)), 0, 0)
	if e != 0 {
		return e
	}
	return nil
}

// filesOpen is how many this process has open; 0 where nobody says.
func filesOpen() int {
	names, _ := os.ReadDir("/proc/self/fd")
	return len(names)
}
