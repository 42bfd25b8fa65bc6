package engine

import (
	"regexp"
	"strings"
)

// level is how a log line rates itself.
type level uint8

const (
	levelNone level = iota // it does not
	levelInfo
	levelWarning
	levelError
)

// logLine is a line without what stands in front of it.
type logLine struct {
	text    string // indented as it was
	source  string // the process or rank that says it; empty: unknown
	level   level
	stamped bool // it is a log record, not the rest of one
}

var escapes = regexp.MustCompile("\x1b(?:\\[[0-9;:?]*[ -/]*[@-~]|\\][^\x07\x1b]*(?:\x07|\x1b\\\\)?|[@-Z\\\\^_=>])")

// The prefixes that logs put in front of a message, one after the other, in any order.
var (
	prefixTime    = regexp.MustCompile(`^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d\S*(?: (?:stdout|stderr)(?: [FP])?)?(?: |$)`)
	prefixSyslog  = regexp.MustCompile(`^(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) [ \d]\d \d\d:\d\d:\d\d \S+ [^\s\[:]+(?:\[\d+\])?: `)
	prefixCompose = regexp.MustCompile(`^[\w.-]+-\d+ +\| `)
	prefixProcess = regexp.MustCompile(`^\(([A-Za-z_][\w.:-]* pid=\d+)[^)]*\) ?`)
	prefixRank    = regexp.MustCompile(`^\[(rank\d+)\]: ?`)
	prefixTorch   = regexp.MustCompile(`^\[?([EWIF])\d{3,4} (?:\d\d-?\d\d )?\d\d:\d\d:\d\d[^\]]*\] ?`)
	prefixSGLang  = regexp.MustCompile(`^\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:[.,]\d+)?((?: [A-Z]+\d+)*)\] ?`)
	prefixLevel   = regexp.MustCompile(`^(?:(DEBUG|INFO|WARNING|WARN|ERROR|CRITICAL|FATAL)(?:: *| +)(?:\d\d-\d\d \d\d:\d\d:\d\d(?:[.,]\d+)? )?(?:\[?[\w./-]+:\d+(?:\]|:) ?)?|\[(Error|Warning|Info)\] (?:\(\w+\) )?)`)
)

var levels = map[string]level{"DEBUG": levelInfo, "INFO": levelInfo, "WARNING": levelWarning, "WARN": levelWarning, "ERROR": levelError, "CRITICAL": levelError, "FATAL": levelError,
	"E": levelError, "F": levelError, "W": levelWarning, "I": levelInfo}

// readLine takes the prefixes off a line that has no escapes.
func readLine(s string) logLine {
	l := logLine{text: s}
	for range 8 { // prefixes nest: a container's, a launcher's, the process's, the logger's
		rest, ok := l.strip()
		if !ok {
			break
		}
		l.text = rest
	}
	return l
}

func (l *logLine) strip() (rest string, ok bool) {
	s := l.text
	if s == "" || s[0] == ' ' || s[0] == '\t' {
		return s, false
	}
	for _, re := range []*regexp.Regexp{prefixTime, prefixSyslog, prefixCompose} {
		if m := re.FindString(s); m != "" {
			return s[len(m):], true
		}
	}
	if m := prefixProcess.FindStringSubmatch(s); m != nil {
		l.source = m[1]
		return s[len(m[0]):], true
	}
	if m := prefixRank.FindStringSubmatch(s); m != nil {
		l.source = m[1]
		return s[len(m[0]):], true
	}
	if m := prefixSGLang.FindStringSubmatch(s); m != nil {
		l.source, l.stamped = "sglang"+m[1], true
		return s[len(m[0]):], true
	}
	if l.level != levelNone {
		return s, false
	}
	for _, re := range []*regexp.Regexp{prefixTorch, prefixLevel} {
		if m := re.FindStringSubmatch(s); m != nil {
			l.level, l.stamped = levels[strings.ToUpper(strings.Join(m[1:], ""))], true
			return s[len(m[0]):], true
		}
	}
	return s, false
}

// pythonWarning is what Python's warnings module prints; it never ends a program.
var pythonWarning = regexp.MustCompile(`^(?:\S+:\d+: )?(?:\w+\.)*\w*Warning: |[/\w.-]+\.py:\d+: \w*Warning: |^Warning: `)

// exceptionLine is the last line of a Python traceback.
var exceptionLine = regexp.MustCompile(`^(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Exit|Interrupt|Fault|Timeout|Unsupported|Violation|Failed|Crashed|Died|OutOfResources|OutOfMemory)\b(?::|$)|^(?:[a-z_]\w*\.)+[A-Z]\w*: |^(?:[A-Za-z_]\w*\.)+[a-z]\w*(?:Error|Exception)(?::|$)|^Exception: `)

// configurationDump are lines that repeat every setting, and so hold words of failures.
var configurationDump = []string{"server_args=", "ServerArgs(", "non-default args:", "LLM engine (v", "args: Namespace(", "compilation_config={"}

// harmless tells whether the line cannot be the cause of an end.
func (l logLine) harmless() bool {
	if l.level == levelInfo || l.level == levelWarning || strings.Contains(l.text, "Warning: ") && pythonWarning.MatchString(l.text) {
		return true
	}
	for _, dump := range configurationDump {
		if strings.Contains(l.text, dump) && !exceptionLine.MatchString(l.text) {
			return true
		}
	}
	return strings.Contains(l.text, "Exception ignored in") || strings.Contains(l.text, "(ignored)") || strings.Contains(l.text, "force killing")
}

// strong tells whether the line speaks of a failure by its form, and not only by its words.
func (l logLine) strong() bool {
	return l.level == levelError || !l.stamped || exceptionLine.MatchString(l.text) || strings.Contains(l.text, "hit an exception")
}

// clean takes terminal escapes out of a line, and what a progress bar has overwritten apart.
func clean(raw string) []string {
	if strings.IndexByte(raw, 0x1b) >= 0 {
		raw = escapes.ReplaceAllString(raw, "")
	}
	raw = strings.TrimRight(raw, "\r\n")
	if strings.IndexByte(raw, '\r') < 0 {
		return []string{raw}
	}
	return strings.Split(raw, "\r")
}
