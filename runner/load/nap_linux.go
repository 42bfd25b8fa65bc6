package load

import (
	"syscall"
	"time"
)

// nap sleeps in the kernel, whose timers are finer than the runtime's. It may be woken early.
func nap(d time.Duration) {
	t := syscall.NsecToTimespec(int64(d))
	_ = syscall.Nanosleep(&t, nil) // a signal ends it early, and the caller looks again
}
