package proc

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The test binary plays every process of these tests: the word after the name says which.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "play" {
		play(os.Args[2], os.Args[3:])
		return
	}
	os.Exit(m.Run())
}

func play(part string, args []string) {
	switch part {
	case "speak": // lines, then an exit status
		fmt.Println("to stdout")
		fmt.Fprintln(os.Stderr, "to stderr")
		fmt.Print("no end of line")
		code, _ := strconv.Atoi(args[0])
		os.Exit(code)
	case "talk": // as much as a pipe holds at once
		for range 120 {
			fmt.Println(strings.Repeat("w", 499))
		}
	case "wait":
		report()
		forever()
	case "stubborn":
		signal.Ignore(syscall.SIGTERM)
		report()
		forever()
	case "parent": // starts the part that is named, and waits
		become(args, nil, false)
		report()
		forever()
	case "leave": // starts the part that is named in a session of its own, and ends
		become(args, nil, true)
		report()
	case "escape": // the same without the environment by which it would be known
		become(args, []string{}, true)
		report()
		forever()
	case "escape-and-leave":
		become(args, []string{}, true)
		report()
	case "owner": // a program that starts a stubborn process and is then killed
		var guard []string
		if args[1] == "guarded" {
			guard = []string{self(), "play", "guard"}
		}
		log, err := NewLog(args[2], nil, nil)
		must(err)
		_, err = Start(Spec{Argv: []string{self(), "play", "parent", "leave", "stubborn"}, Marker: args[0], Log: log, Guard: guard, Grace: 20 * time.Millisecond})
		must(err)
		fmt.Println("started")
		forever()
	case "guard":
		grace, err := time.ParseDuration(args[1])
		must(err)
		must(Watch(os.Stdin, args[0], grace))
	}
}

func self() string { path, err := os.Executable(); must(err); return path }

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func report()  { fmt.Println("pid", os.Getpid()) }
func forever() { <-time.After(time.Minute) } // a bound, should a test fail to end it

func become(args, env []string, session bool) {
	cmd := exec.Command(self(), append([]string{"play"}, args...)...)
	cmd.Env, cmd.Stdout, cmd.Stderr = env, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: session}
	must(cmd.Start())
}

// pids waits until n processes of a log have told their pids.
func pids(t *testing.T, lines <-chan string, n int) []int {
	t.Helper()
	var found []int
	for limit := time.After(10 * time.Second); len(found) < n; {
		select {
		case line := <-lines:
			if text, ok := strings.CutPrefix(line, "pid "); ok {
				pid, err := strconv.Atoi(text)
				if err != nil {
					t.Fatal(err)
				}
				found = append(found, pid)
			}
		case <-limit:
			t.Fatalf("only %d of %d processes came up", len(found), n)
		}
	}
	return found
}

func start(t *testing.T, args ...string) (*Proc, <-chan string) {
	t.Helper()
	lines := make(chan string, 100)
	log, err := NewLog(filepath.Join(t.TempDir(), "run", "engine.log"), nil, func(line string) { lines <- line })
	if err != nil {
		t.Fatal(err)
	}
	p, err := Start(Spec{Argv: append([]string{self(), "play"}, args...), Marker: "test-" + t.Name(), Log: log, Env: []string{"HOME=/"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Stop(0) })
	return p, lines
}

func alive(pid int) bool { row, ok := lookUp(pid); return ok && !row.ended() }

func assertGone(t *testing.T, pids []int) {
	t.Helper()
	for _, pid := range pids {
		if row, there := lookUp(pid); there && !row.ended() { // one that has ended holds nothing but its number
			t.Errorf("process %v is still in the process table, child of %d (we are %d), session %d", row, row.ppid, os.Getpid(), row.session)
		}
	}
}

func TestOutputAndExitStatus(t *testing.T) {
	for _, code := range []int{0, 2} {
		p, _ := start(t, "speak", strconv.Itoa(code))
		<-p.Done()
		if err := p.Stop(time.Second); err != nil {
			t.Error(err)
		}
		if got := p.Exit(); got != (Exit{Code: code}) {
			t.Errorf("exit %+v, want status %d", got, code)
		}
		if got, want := p.Log().Lines(), []string{"to stdout", "to stderr", "no end of line"}; !slices.Equal(got, want) {
			t.Errorf("lines %q, want %q", got, want)
		}
	}
}

// A busy machine reads slowly: what an engine said before it ended is read to the end.
func TestLastWordsAreReadHoweverSlowly(t *testing.T) {
	log, err := NewLog(filepath.Join(t.TempDir(), "engine.log"), nil, func(string) { time.Sleep(5 * time.Millisecond) })
	if err != nil {
		t.Fatal(err)
	}
	p, err := Start(Spec{Argv: []string{self(), "play", "talk"}, Marker: "test-" + t.Name(), Log: log, Env: []string{"HOME=/"}})
	if err != nil {
		t.Fatal(err)
	}
	<-p.Done()
	if err := p.Stop(time.Second); err != nil {
		t.Error(err)
	}
	if n := len(log.Lines()); n != 120 {
		t.Errorf("%d lines of 120 were read", n)
	}
}

func TestACommandThatDoesNotExist(t *testing.T) {
	_, err := Start(Spec{Argv: []string{"no-such-engine"}, Env: []string{"PATH=/bin:/usr/bin"}})
	if !errors.Is(err, exec.ErrNotFound) || !strings.Contains(err.Error(), "no-such-engine") {
		t.Errorf("error %v, want one that names the command", err)
	}
	if _, err = Start(Spec{Argv: []string{"/no/such/engine"}}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v, want one that says it does not exist", err)
	}
}

func TestStopEndsWholeFamilies(t *testing.T) {
	for _, c := range []struct {
		name string
		args []string
		n    int
	}{
		{"one process", []string{"wait"}, 1},
		{"a child", []string{"parent", "parent", "wait"}, 3},
		{"ignores SIGTERM", []string{"stubborn"}, 1},
		{"a child that ignores SIGTERM", []string{"parent", "stubborn"}, 2},
		{"an orphan in a session of its own", []string{"leave", "stubborn"}, 2},
		{"an orphan of an orphan", []string{"parent", "leave", "parent", "leave", "stubborn"}, 5},
		{"a child in a session of its own without the marker", []string{"escape", "stubborn"}, 2},
		{"an orphan in a session of its own without the marker", []string{"escape-and-leave", "stubborn"}, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, lines := start(t, c.args...)
			all := pids(t, lines, c.n)
			began := time.Now()
			if err := p.Stop(30 * time.Millisecond); err != nil {
				t.Fatal(err)
			}
			if took := time.Since(began); took > 2*time.Second {
				t.Errorf("took %v", took)
			}
			assertGone(t, all)
		})
	}
}

func TestAPoliteProcessIsNotKilled(t *testing.T) {
	p, lines := start(t, "wait")
	pids(t, lines, 1)
	if err := p.Stop(time.Minute); err != nil {
		t.Fatal(err)
	}
	if got := p.Exit().String(); got != "killed by SIGTERM" {
		t.Errorf("ended as %q, want by the SIGTERM that it does not catch", got)
	}
}

func TestStopTouchesNothingElse(t *testing.T) {
	// A neighbour in our own session, and one that another trial has started.
	neighbour := exec.Command(self(), "play", "wait")
	must(neighbour.Start())
	defer func() { _ = neighbour.Process.Kill(); _ = neighbour.Wait() }()
	other, lines := start(t, "parent", "wait")
	others := pids(t, lines, 2)
	t.Run("stop", func(t *testing.T) {
		p, lines := start(t, "leave", "stubborn")
		all := pids(t, lines, 2)
		if err := p.Stop(0); err != nil {
			t.Fatal(err)
		}
		assertGone(t, all)
	})
	for _, pid := range append(others, neighbour.Process.Pid) {
		if !alive(pid) {
			t.Errorf("process %d was ended although it is none of it", pid)
		}
	}
	if err := other.Stop(0); err != nil {
		t.Fatal(err)
	}
}

// owned starts a program that starts a family, and kills it.
func owned(t *testing.T, mark, guarded string) []int {
	t.Helper()
	file := filepath.Join(t.TempDir(), "engine.log")
	owner := exec.Command(self(), "play", "owner", mark, guarded, file)
	out, err := owner.StdoutPipe()
	must(err)
	must(owner.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	if line != "started\n" {
		t.Fatalf("the owner said %q, %v", line, err)
	}
	var family []int
	wait(t, "the family to be complete", func() bool {
		text, _ := os.ReadFile(file)
		family = nil
		for line := range strings.SplitSeq(string(text), "\n") {
			var pid int
			if _, err := fmt.Sscanf(line, "pid %d", &pid); err == nil {
				family = append(family, pid)
			}
		}
		return len(family) == 3
	})
	must(owner.Process.Kill())
	_ = owner.Wait()
	return family
}

func wait(t *testing.T, what string, ready func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	for pause := time.NewTicker(5 * time.Millisecond); !ready(); {
		select {
		case <-ctx.Done():
			t.Fatalf("waited too long for %s", what)
		case <-pause.C:
		}
	}
}

func noneAlive(pids []int) func() bool {
	return func() bool { return !slices.ContainsFunc(pids, alive) }
}

func TestAKilledOwnerAndReap(t *testing.T) {
	mark := fmt.Sprintf("reap%d-7-1", os.Getpid())
	family := owned(t, mark, "unguarded")
	stubborn := slices.ContainsFunc(family, alive)
	if !stubborn {
		t.Fatal("nothing was left behind: the test has nothing to show")
	}
	if list, err := Reap(fmt.Sprintf("reap%d-8", os.Getpid()), 0); err != nil || len(list) > 0 {
		t.Errorf("another prefix reaped %v, %v", list, err)
	}
	list, err := Reap(fmt.Sprintf("reap%d-", os.Getpid()), 20*time.Millisecond)
	if err != nil || len(list) == 0 {
		t.Errorf("reaped %v, %v", list, err)
	}
	wait(t, "the family to end", noneAlive(family))
	if list, err := Reap(mark, 0); err != nil || len(list) > 0 {
		t.Errorf("a second time reaped %v, %v", list, err)
	}
}

func TestAKilledOwnerWithAGuard(t *testing.T) {
	family := owned(t, fmt.Sprintf("guard%d-7-1", os.Getpid()), "guarded")
	wait(t, "the guard to end the family", noneAlive(family))
}

func TestAnEmptyPrefixReapsNothing(t *testing.T) {
	_, lines := start(t, "wait")
	pid := pids(t, lines, 1)
	if list, err := Reap("", 0); err != nil || len(list) > 0 || !alive(pid[0]) {
		t.Errorf("reaped %v, %v", list, err)
	}
}

func TestADismissedGuardDoesNothing(t *testing.T) {
	r, w := io.Pipe()
	go func() { _, _ = w.Write([]byte{'.'}); _ = w.Close() }()
	p, lines := start(t, "wait")
	pids(t, lines, 1)
	if err := Watch(r, p.marker, 0); err != nil || !alive(p.PID()) {
		t.Errorf("the guard acted (%v)", err)
	}
}

func TestStatWithAnyName(t *testing.T) {
	text := "42 (a ) b) (c) S 7 42 41 0 -1 4194304 1 0 0 0 0 0 0 0 20 0 1 0 987654 1 2 3"
	p, ok := parseStat([]byte(text))
	want := process{pid: 42, ppid: 7, session: 41, state: 'S', started: 987654, name: "a ) b) (c"}
	if !ok || p != want {
		t.Errorf("got %+v, %v", p, ok)
	}
	for _, broken := range []string{"", "42", "42 (x", "42 (x) S 1 2", "x (x) S 7 42 41 0 -1 4194304 1 0 0 0 0 0 0 0 20 0 1 0 987654"} {
		if p, ok := parseStat([]byte(broken)); ok {
			t.Errorf("%q was read as %+v", broken, p)
		}
	}
}
