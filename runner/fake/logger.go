package fake

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// logger writes what the engine would write, whole lines at a time.
type logger struct {
	mu     sync.Mutex
	out    io.Writer
	sglang bool
	pid    int
	core   int // pid of the engine's child; 0 before it runs
}

func newLogger(out io.Writer, sglang bool) *logger {
	return &logger{out: out, sglang: sglang, pid: os.Getpid()}
}

func (l *logger) print(lines ...string) {
	if len(lines) == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	_, _ = io.WriteString(l.out, strings.Join(lines, "\n")+"\n") // a log that nobody reads is no reason to stop
}

// prefix is what the engine puts in front of a line of the process that serves HTTP.
func (l *logger) prefix(level, source string) string {
	if l.sglang {
		return "[" + time.Now().Format(time.DateTime) + "] "
	}
	return fmt.Sprintf("(APIServer pid=%d) %s %s [%s] ", l.pid, level, time.Now().Format("01-02 15:04:05"), source)
}

// mute makes the logger say nothing more.
func (l *logger) mute() { l.out = io.Discard }

// framed are the law's lines as the engine would log them: a line that names its level and its place in the source goes under them.
func (l *logger) framed(level string, lines []string) []string {
	var out []string
	for _, text := range lines {
		own, source := level, "core.py:1510"
		if m := sourced.FindStringSubmatch(text); m != nil {
			own, source, text = m[1], m[2], m[3]
		}
		out = append(out, l.ranked(own, source, text)...)
	}
	return out
}

// sourced is a line of vLLM that tells its level and where in the source it comes from.
var sourced = regexp.MustCompile(`^(INFO|WARNING|ERROR) \[([^\]]+)\] (.*)$`)

// ranked are lines of the child that holds the GPU. Lines that carry a prefix of their own are left alone.
func (l *logger) ranked(level, source string, lines ...string) []string {
	p := fmt.Sprintf("(EngineCore pid=%d) %s %s [%s] ", l.core, level, time.Now().Format("01-02 15:04:05"), source)
	if l.sglang {
		p = "[" + time.Now().Format(time.DateTime) + " TP0] "
	}
	out := make([]string, len(lines))
	for i, text := range lines {
		out[i] = p + text
		if strings.HasPrefix(text, "(") || strings.HasPrefix(text, "[") || strings.HasPrefix(text, "INFO:") || strings.HasPrefix(text, "Capturing ") {
			out[i] = text
		}
	}
	return out
}

// access prints uvicorn's line for a request.
func (s *server) access(r *http.Request, status int) {
	prefix := "INFO:     "
	if s.sglang() {
		prefix = s.log.prefix("", "") + prefix
	}
	s.log.print(prefix + r.RemoteAddr + ` - "` + r.Method + " " + r.URL.Path + ` HTTP/1.1" ` + strconv.Itoa(status) + " " + http.StatusText(status))
}
