package fake

import "sync"

// handlers counts the requests that are being answered. Unlike a sync.WaitGroup it may be waited for while new ones come.
type handlers struct {
	mu      sync.Mutex
	n       int
	waiting []chan struct{}
}

func (h *handlers) enter() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.n++
}

func (h *handlers) leave() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.n--; h.n == 0 {
		h.release()
	}
}

// none is closed at the next instant at which nothing is being answered.
func (h *handlers) none() <-chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	c := make(chan struct{})
	h.waiting = append(h.waiting, c)
	if h.n == 0 {
		h.release()
	}
	return c
}

func (h *handlers) release() {
	for _, c := range h.waiting {
		close(c)
	}
	h.waiting = nil
}
