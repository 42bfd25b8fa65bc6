package place

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync"
	"syscall"
)

// Ports is a range of TCP ports, both ends included.
type Ports struct{ First, Last int }

// DefaultPorts lie above the well-known services and below the range from which the kernel takes ports for outgoing connections (32768).
var DefaultPorts = Ports{20480, 29183}

// A server gets a block of ports of its own. SGLang derives ports from the one that it serves on: +1 to +6, and +233 on for its process group.
// vLLM looks upwards from where it is told for as many as it has processes.
const (
	blockSize     = 512
	derivedPorts  = 6
	groupOffset   = 233
	internalFirst = 256
	internalPorts = 32
)

// block is a block of ports that is ours until it is released.
type block struct {
	first int
	lock  net.Listener
}

// pool hands out the blocks of a range. A block is never given twice in a row: a server restarted on the port of a killed one may look healthy and hang.
type pool struct {
	ports Ports
	mu    sync.Mutex
	next  int
}

func newPool(ports Ports, start int) (*pool, error) {
	if ports == (Ports{}) {
		ports = DefaultPorts
	}
	if ports.First < 1024 || ports.Last > 65535 || ports.Last-ports.First+1 < blockSize {
		return nil, fmt.Errorf("ports %d to %d: allowed is a range of at least %d within 1024 to 65535", ports.First, ports.Last, blockSize)
	}
	p := &pool{ports: ports}
	p.next = start % p.blocks()
	return p, nil
}

func (p *pool) blocks() int { return (p.ports.Last - p.ports.First + 1) / blockSize }

// take finds a block that no other autotune has and in which nothing listens.
func (p *pool) take() (*block, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var busy error
	for range p.blocks() {
		b := &block{first: p.ports.First + p.next*blockSize}
		p.next = (p.next + 1) % p.blocks()
		if err := b.take(); err != nil {
			busy = errors.Join(busy, err)
			continue
		}
		return b, nil
	}
	return nil, fmt.Errorf("%w from %d to %d:\n%w", ErrPorts, p.ports.First, p.ports.Last, busy)
}

// take owns the block by a name in the kernel that only one process can hold, and that vanishes with the process; ports and such names have
// the same reach, one network namespace. Then it looks whether anybody else listens on what an engine will use.
func (b *block) take() error {
	lock, err := net.Listen("unix", "@autotune-ports-"+strconv.Itoa(b.first))
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("ports from %d on are in use by another trial", b.first)
	}
	if err != nil {
		return fmt.Errorf("taking the ports from %d on: %w", b.first, err)
	}
	for _, port := range b.used() {
		if err := free(port); err != nil {
			return errors.Join(err, lock.Close())
		}
	}
	b.lock = lock
	return nil
}

func (b *block) used() []int {
	var ports []int
	for i := range 1 + derivedPorts {
		ports = append(ports, b.first+i, b.first+groupOffset+i)
	}
	for i := range internalPorts {
		ports = append(ports, b.first+internalFirst+i)
	}
	return ports
}

// free tells whether nobody listens on a port, at any address.
func free(port int) error {
	l, err := net.Listen("tcp", ":"+strconv.Itoa(port))
	if err != nil {
		return fmt.Errorf("port %d is in use by another program", port)
	}
	return l.Close()
}

func (b *block) release() { _ = b.lock.Close() } // nothing but a name was held
