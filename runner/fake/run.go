package fake

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"
)

// stopGrace is how long the handlers get to write out what they owe when the server is asked to stop.
const stopGrace = 2 * time.Second

// run is the life of a server: start, serve, stop. It returns the exit status, negative for a signal.
func (s *server) run(ctx context.Context) int {
	if s.faults.has("ignore-sigterm") {
		signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
		ctx = context.WithoutCancel(ctx)
	}
	if s.faults.has("silent") {
		s.log.mute()
	}
	defer s.stopChild()
	listener, code := s.begin(ctx)
	if listener == nil {
		return code
	}
	book, err := openBook(s.ledger, Server{Engine: s.engine.Name, Model: s.served, Clock: s.clock, Seed: s.seed, Noise: s.noise, PID: os.Getpid(), Start: s.start})
	if err != nil {
		listener.Close()
		fmt.Fprintf(s.stderr, "autotune fake-engine: %v\n", err)
		return 1
	}
	s.book = book
	defer s.book.close()
	stop := s.serve(listener)
	s.welcome()
	code = s.await(ctx)
	if code == 0 {
		s.abort("the server is shutting down")
	}
	s.drain(stopGrace)
	stop()
	s.farewell(code)
	return code
}

// begin does everything before the server answers; without a listener the start ended with that status.
func (s *server) begin(ctx context.Context) (net.Listener, int) {
	s.log.print(s.greeting()...)
	var listener net.Listener
	if !s.sglang() || s.faults.has("address-in-use") { // vLLM binds before it loads anything, SGLang after
		var err error
		if listener, err = s.bind(); err != nil {
			s.log.print(s.addressLines(err)...)
			return nil, 1
		}
	}
	code, ok := s.load(ctx)
	if ok && listener == nil {
		var err error
		if listener, err = s.bind(); err != nil {
			s.log.print(s.addressLines(err)...)
			code, ok = 1, false
		}
	}
	if ok {
		return listener, 0
	}
	if listener != nil {
		listener.Close()
	}
	return nil, code
}

// load starts the child and goes through the stages of the start.
func (s *server) load(ctx context.Context) (code int, ok bool) {
	if s.broken != nil {
		s.log.print(s.brokenLines()...)
		return 1, false
	}
	if code, ok := s.startChildren(); !ok {
		return code, false
	}
	sim, failure := s.newSimulation()
	if failure != nil {
		return s.fail(ctx, failure), false
	}
	s.facts = sim.Facts()
	stages := sim.Startup()
	switch {
	case s.faults.has("oom-start"):
		if s.reach(ctx, s.faults["oom-start"], stages) {
			s.log.print(s.oomLines(s.faults["oom-start"])...)
		}
		return s.failureExit(), false
	case s.faults.has("hang-start"), s.faults["log-oom-but-alive"] == "0":
		if s.reach(ctx, "profile", stages) && !s.faults.has("hang-start") {
			s.log.print(s.oomLines("profile")...)
		}
		<-ctx.Done()
		return 0, false
	case !s.reach(ctx, "serve", stages):
		return 0, false
	}
	s.hung.Store(s.faults.has("health-200-but-hangs"))
	w := &watch{faults: s.faults}
	if s.law() {
		s.plans = &plans{server: s, watch: w}
	} else {
		s.wall = newWallClock(sim, s.start, w, s.hooks())
		go s.wall.run(ctx)
	}
	return 0, true
}

// startChildren starts the process that holds the GPUs, and the one that is to stay behind.
func (s *server) startChildren() (code int, ok bool) {
	c, busy, err := s.startChild("engine", nil)
	if err == nil && busy == "" && s.faults.has("orphan") {
		attr := &syscall.SysProcAttr{Setpgid: true}
		if s.faults["orphan"] == "session" {
			attr = &syscall.SysProcAttr{Setsid: true}
		}
		_, _, err = s.startChild("orphan", attr)
	}
	switch {
	case err != nil:
		fmt.Fprintf(s.stderr, "autotune fake-engine: %v\n", err)
		c.stop()
		return 1, false
	case busy != "":
		s.log.print(s.busyLines(busy)...)
		return s.failureExit(), false
	}
	s.child, s.log.core = c, c.cmd.Process.Pid
	go s.watchChild(c)
	return 0, true
}

// watchChild ends the server when its child dies, as the real ones do; a rank that dies on purpose is not noticed.
func (s *server) watchChild(c *child) {
	<-c.done
	if !c.stopping.Load() && !s.faults.has("rank-dies") {
		s.die(s.crashLines(), s.failureExit())
	}
}

// stopChild ends the child with the server.
func (s *server) stopChild() { s.child.stop() }

// await serves until something ends the server.
func (s *server) await(ctx context.Context) int {
	tick := time.NewTicker(max(s.idle/4, time.Millisecond))
	defer tick.Stop()
	for {
		select {
		case code := <-s.ending:
			return code
		case <-ctx.Done():
			return 0
		case <-tick.C:
			if idle := time.Duration(s.now()-s.touched.Load()) * time.Microsecond; idle > s.idle {
				s.log.print("autotune fake-engine: no request for " + s.idle.String() + ": ending")
				return 0
			}
		}
	}
}

// exitCode is how the process ends when the law says so, unless the fault exit-code says otherwise.
func (s *server) exitCode(code int) int {
	if ordered, err := strconv.Atoi(s.faults["exit-code"]); err == nil {
		return ordered
	}
	return code
}
