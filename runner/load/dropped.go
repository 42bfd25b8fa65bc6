package load

import (
	"errors"
	"syscall"
)

// ourLimits are the errors by which this machine, and not the server, keeps a request from being sent.
var ourLimits = []error{syscall.EMFILE, syscall.ENFILE, syscall.EADDRNOTAVAIL, syscall.ENOBUFS, syscall.ENOMEM}

// dropped tells whether a request was not sent because this machine has no file, port or memory left for another connection.
func dropped(err error) bool {
	for _, e := range ourLimits {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}
