package fake

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"

	"autotune/runner/engine"
	"autotune/space"
	"autotune/tuner/law"
	"autotune/tuner/metric"
)

// deadMessage is what vLLM answers once its engine is dead.
const deadMessage = "EngineCore encountered an issue. See stack trace (above) for the root cause."

// server is one fake engine: a simulated server behind a real port.
type server struct {
	options
	log      *logger
	stderr   io.Writer
	getenv   func(string) string
	exe      string
	start    time.Time
	settings []engine.Setting       // as given, in order
	flags    map[string]space.Value // the same by name
	model    string
	served   string // the name that requests use
	shown    string // the name that /v1/models shows
	address  string
	context  int // most tokens of a request; 0: unknown
	bundle   int // tokens in an event of the wall clock, and in one instant of law time
	config   law.Config
	broken   error // the law refuses the configuration
	facts    map[string]float64

	wall    *wallClock // of the wall clock
	plans   *plans     // of law time
	metrics *counts
	cache   *seenPrompts
	book    *book
	child   *child
	ordinal atomic.Int64
	ready   atomic.Bool
	dead    atomic.Bool // the simulated engine died; the process may live on for a moment
	hung    atomic.Bool // nothing is served any more
	touched atomic.Int64

	inFlight handlers
	ending   chan int // the exit status, once something decides it
}

func (s *server) law() bool    { return s.clock == metric.Law }
func (s *server) sglang() bool { return s.engine.Name == "sglang" }

// now is the time since the start, in microseconds.
func (s *server) now() int64 { return micros(time.Since(s.start)) }

// touch notes that somebody still wants something.
func (s *server) touch() { s.touched.Store(s.now()) }

// end makes the process end with this status (negative: by this signal); the first call decides.
func (s *server) end(code int) {
	select {
	case s.ending <- code:
	default:
	}
}

// enter writes a line of the ledger; a ledger that cannot be written makes the server useless, so it ends.
func (s *server) enter(l line) {
	if err := s.book.enter(l); err != nil {
		fmt.Fprintf(s.stderr, "autotune fake-engine: writing the ledger: %v\n", err)
		s.end(1)
	}
}

// newSimulation starts the simulated server from new, in the same state each time.
func (s *server) newSimulation() (*law.Simulation, *law.Failure) {
	return law.New(s.config, law.Options{Noise: s.noise, Seed: s.seed})
}

// bind opens the port.
func (s *server) bind() (net.Listener, error) {
	host, port := "0.0.0.0", 8000
	if s.sglang() {
		host, port = "127.0.0.1", 30000
	}
	s.address = net.JoinHostPort(s.text("host", host), strconv.Itoa(s.number("port", port)))
	if s.faults.has("address-in-use") {
		return nil, fmt.Errorf("listen tcp %s: bind: %w", s.address, syscall.EADDRINUSE)
	}
	l, err := net.Listen("tcp", s.address)
	if err == nil && s.number("port", port) == 0 {
		s.address = l.Addr().String()
	}
	return l, err
}

// closeGrace is how long answers get that are written but not yet sent. It is short: connections that nobody has used yet count as busy.
const closeGrace = 50 * time.Millisecond

// serve answers HTTP until stop is called.
func (s *server) serve(l net.Listener) (stop func()) {
	h := &http.Server{Handler: s.routes(), ReadHeaderTimeout: time.Minute}
	go func() { _ = h.Serve(l) }() // it ends by Shutdown or Close alone
	return func() {
		ctx, cancel := context.WithTimeout(context.Background(), closeGrace)
		defer cancel()
		if h.Shutdown(ctx) != nil {
			h.Close()
		}
	}
}

// hooks tells the clocks whom to call.
func (s *server) hooks() hooks {
	return hooks{
		tokens: s.metrics.generated,
		strike: func(fault string) { go s.strike(fault) },
		crash:  func(f *law.Failure) { go s.die(s.log.framed("ERROR", f.Lines), s.exitCode(f.Exit)) },
	}
}

// strike lets a fault of the whole server happen.
func (s *server) strike(fault string) {
	switch fault {
	case "oom-load":
		s.die(s.oomLines("serve"), s.failureExit())
	case "crash-after":
		s.child.kill() // and watchChild does the rest
	case "rank-dies":
		s.hung.Store(true)
		s.child.kill()
	case "log-oom-but-alive":
		s.hung.Store(true)
		s.log.print(s.oomLines("serve")...)
	case "hang-serve":
		s.hung.Store(true)
	}
}

// failureExit is how a fault ends the process: as the real engine ends, unless exit-code says otherwise.
func (s *server) failureExit() int {
	if s.sglang() {
		return s.exitCode(-9) // it kills its whole tree, itself included
	}
	return s.exitCode(1)
}

// deathGrace is how long a dying server still writes out what it owes.
const deathGrace = time.Second

// die is the end of an engine under load: the log says why, what runs is broken off, the process ends.
func (s *server) die(lines []string, code int) {
	if s.dead.Swap(true) {
		return
	}
	s.log.print(lines...)
	s.abort(deadMessage)
	s.drain(deathGrace)
	if !s.sglang() && code >= 0 {
		s.log.print("INFO:     Shutting down", "INFO:     Finished server process ["+strconv.Itoa(s.log.pid)+"]")
	}
	s.end(code)
}

// abort breaks off what runs.
func (s *server) abort(why string) {
	if s.law() {
		s.plans.stop(why)
	} else {
		s.wall.abort(why)
	}
}

// drain waits until the handlers are done, for at most so long.
func (s *server) drain(limit time.Duration) {
	select {
	case <-s.inFlight.none():
	case <-time.After(limit):
	}
}
