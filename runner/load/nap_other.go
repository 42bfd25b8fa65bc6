//go:build !linux

package load

import "time"

// nap sleeps; it may be woken early.
func nap(d time.Duration) { time.Sleep(d) }
