package fake

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// TestMain lets the test binary play the program: a fake engine's process, and its children.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == Command {
		ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
		code := Main(ctx, os.Args[2:], os.Stdout, os.Stderr, self(), os.Getenv)
		stop()
		os.Exit(code)
	}
	os.Exit(m.Run())
}

// limit bounds everything that a test waits for.
const limitOfTest = 20 * time.Second

// process is a fake engine that a test started, in a session of its own.
type process struct {
	t     testing.TB
	cmd   *exec.Cmd
	base  string // URL
	ended chan struct{}
	err   error // of Wait, once ended

	mu    sync.Mutex
	lines []string
	news  chan struct{} // holds one: a line came
}

// start starts a fake engine with its words as a person would write them, on a free port, and does not wait for it.
func start(t testing.TB, words string, env ...string) *process {
	t.Helper()
	return startArgs(t, strings.Fields(words), env...)
}

func startArgs(t testing.TB, words []string, env ...string) *process {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := &process{t: t, cmd: exec.Command(self, append([]string{Command}, words...)...), ended: make(chan struct{}), news: make(chan struct{}, 1)}
	p.cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0") // under the race detector each of many processes would else end a second later
	p.cmd.Env = append(p.cmd.Env, env...)
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	p.cmd.Stdout, p.cmd.Stderr = write, write
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	write.Close()
	copied := make(chan struct{})
	go func() { defer close(copied); p.read(read) }()
	go func() {
		p.err = p.cmd.Wait()
		<-copied
		close(p.ended)
	}()
	t.Cleanup(p.cleanUp)
	return p
}

func (p *process) read(from *os.File) {
	defer from.Close()
	in := bufio.NewScanner(from)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		p.mu.Lock()
		p.lines = append(p.lines, in.Text())
		p.mu.Unlock()
		select {
		case p.news <- struct{}{}:
		default:
		}
	}
}

// cleanUp kills what the test left, which it may do by the session alone.
func (p *process) cleanUp() {
	for _, pid := range session(p.cmd.Process.Pid) {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	<-p.ended
}

func (p *process) log() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Join(p.lines, "\n")
}

// logged waits for a line of the log and returns its groups.
func (p *process) logged(pattern string) []string {
	p.t.Helper()
	re := regexp.MustCompile(pattern)
	late := time.After(limitOfTest)
	for {
		if m := re.FindStringSubmatch(p.log()); m != nil {
			return m
		}
		select {
		case <-p.news:
		case <-p.ended:
			if m := re.FindStringSubmatch(p.log()); m != nil {
				return m
			}
			p.t.Fatalf("ended (%v) without %q in its log:\n%s", p.err, pattern, p.log())
		case <-late:
			p.t.Fatalf("no %q in the log:\n%s", pattern, p.log())
		}
	}
}

// ready starts a server and waits until it answers. The port is a free one.
func ready(t testing.TB, words string, env ...string) *process {
	t.Helper()
	if !strings.Contains(words, "--start-time") {
		words = "--start-time 0s " + words
	}
	p := start(t, words+" --host=127.0.0.1 --port=0", env...)
	p.base = p.logged(`(?:server 0|running) on (http://127\.0\.0\.1:\d+)`)[1]
	p.logged(`Application startup complete|fired up and ready to roll`)
	p.poll("the server to answer", func() bool {
		r, err := http.Get(p.base + "/health")
		return err == nil && drainBody(r) && r.StatusCode == 200
	})
	return p
}

func drainBody(r *http.Response) bool {
	_, _ = io.Copy(io.Discard, r.Body)
	return r.Body.Close() == nil
}

// poll waits until something is so.
func (p *process) poll(what string, so func() bool) {
	p.t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	late := time.After(limitOfTest)
	for !so() {
		select {
		case <-tick.C:
		case <-late:
			p.t.Fatalf("waited in vain for %s; the log:\n%s", what, p.log())
		}
	}
}

// status waits for the end: the exit status, or the signal as a negative number.
func (p *process) status() int {
	p.t.Helper()
	select {
	case <-p.ended:
	case <-time.After(limitOfTest):
		p.t.Fatalf("it does not end; its log:\n%s", p.log())
	}
	state := p.cmd.ProcessState.Sys().(syscall.WaitStatus)
	if state.Signaled() {
		return -int(state.Signal())
	}
	return state.ExitStatus()
}

// terminate sends SIGTERM and returns how it ended.
func (p *process) terminate() int {
	p.t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		p.t.Fatal(err)
	}
	return p.status()
}

// nothingLeft checks that no process of the session lives on.
func (p *process) nothingLeft() {
	p.t.Helper()
	p.poll("the session to be empty", func() bool { return len(session(p.cmd.Process.Pid)) == 0 })
}

// session lists the living processes of a session.
func session(id int) []int { return processes(3, id) }

// children lists the living processes that a process started.
func children(id int) []int { return processes(1, id) }

// processes lists the living ones whose number in a field (of those after the name: state, parent, group, session) is id.
func processes(field, id int) []int {
	var pids []int
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // it is gone
		}
		_, rest, _ := strings.Cut(string(text), ") ")
		f := strings.Fields(rest)
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if len(f) > 3 && f[0] != "Z" && f[field] == strconv.Itoa(id) {
			pids = append(pids, pid)
		}
	}
	return pids
}

func (p *process) get(path string) (int, string) {
	p.t.Helper()
	return p.do(http.MethodGet, path, "")
}

func (p *process) post(path, body string) (int, string) {
	p.t.Helper()
	return p.do(http.MethodPost, path, body)
}

func (p *process) do(method, path, body string) (int, string) {
	p.t.Helper()
	q, err := http.NewRequest(method, p.base+path, strings.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	r, err := http.DefaultClient.Do(q)
	if err != nil {
		p.t.Fatal(err)
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	return r.StatusCode, string(text)
}

// ids is a prompt of n token ids.
func ids(n int) string {
	return "[" + strings.TrimSuffix(strings.Repeat("7,", n), ",") + "]"
}

// completion is the body of a streaming request.
func completion(model string, input, output int) string {
	return fmt.Sprintf(`{"model":%q,"prompt":%s,"max_tokens":%d,"min_tokens":%d,"ignore_eos":true,"stream":true,"stream_options":{"include_usage":true}}`, model, ids(input), output, output)
}

// self is the program to start again for children.
func self() string {
	path, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return path
}

// processorTime is what the server has used so far, in seconds.
func (p *process) processorTime() (user, sys float64) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
	if err != nil {
		p.t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	f := strings.Fields(rest)
	const ticks = 100 // a second, on Linux
	u, _ := strconv.ParseFloat(f[11], 64)
	s, _ := strconv.ParseFloat(f[12], 64)
	return u / ticks, s / ticks
}
