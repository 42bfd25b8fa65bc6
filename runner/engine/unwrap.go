package engine

import (
	"bufio"
	"encoding/json"
	"io"
	"regexp"
	"strings"
	"unicode/utf16"
)

// wrappings are what programs around a server put before its lines: kubectl, a job launcher, Slurm, MPI, torchrun, a test, a log viewer, dmesg.
var wrappings = []*regexp.Regexp{
	regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d) (?:std(?:out|err) [FP] )?`),
	prefixSyslog,
	regexp.MustCompile(`^\[(?:pod|container)/[\w./-]+\] `),
	regexp.MustCompile(`^\[\d+,\d+\]<std(?:out|err)>:`),
	regexp.MustCompile(`^\[?(?:default|local_rank|host)\d+\]?: ?`),
	regexp.MustCompile(`^\d{1,4}: `),
	regexp.MustCompile(`^\[\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[^\]]*\] `),
	regexp.MustCompile(`^(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]* \d{1,2}, \d{4} @ \d\d:\d\d:\d\d[.\d]* +`),
	regexp.MustCompile(`^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \| \w+ +\| std(?:out|err) +\| `),
	regexp.MustCompile(`^\d{4}-\d\d-\d\dT\S+ \[\w+ *\] \S+ MODEL_LOG - `),
	regexp.MustCompile(`^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d[,.]\d+ - [\w.]+ - \w+ - `), // a program that repeats its server's lines at a level of its own
	regexp.MustCompile(`^(?:[\w.-]+|\[[\w./-]+\]) +\| `),
	regexp.MustCompile(`^\[ *\d+\.\d{4,}\] `),
	regexp.MustCompile(`^E   (?:    )?(?:    )?`),
	regexp.MustCompile(`^> `),
	regexp.MustCompile(`^\[\d{3,}\] `),
}

// unwrap takes off what stands around a line: borders of a terminal, a record in JSON, prefixes. A record may hold several lines.
func unwrap(text string) []string {
	for range 4 {
		before := text
		if strings.HasPrefix(text, "│") || strings.HasPrefix(text, "┃") {
			text = strings.TrimRight(strings.Trim(text, "│┃"), " ")
			text = strings.TrimPrefix(text, " ")
		}
		if inner, ok := recordText(text); ok {
			var lines []string
			for part := range strings.SplitSeq(strings.TrimRight(inner, "\r\n"), "\n") {
				for _, over := range overwritten(part) {
					lines = append(lines, unwrap(sane(over))...)
				}
			}
			return lines
		}
		for _, re := range wrappings {
			if m := re.FindString(text); m != "" {
				text = text[len(m):]
				break
			}
		}
		if text == before {
			break
		}
	}
	return []string{text}
}

// recordText is the message of a log record in JSON, as Docker, journald, Kubernetes' collectors and cloud consoles write them.
func recordText(text string) (string, bool) {
	trimmed := strings.TrimRight(strings.TrimSpace(text), ",")
	if len(trimmed) < 2 || trimmed[0] != '{' || trimmed[len(trimmed)-1] != '}' || !strings.Contains(trimmed, `"`) {
		return "", false
	}
	var record map[string]any
	if json.Unmarshal([]byte(trimmed), &record) != nil {
		return "", false
	}
	for _, key := range []string{"log", "message", "msg", "MESSAGE", "textPayload", "line", "content", "body"} {
		if s, ok := record[key].(string); ok {
			return s, true
		}
	}
	if inner, ok := record["jsonPayload"].(map[string]any); ok {
		if s, ok := inner["message"].(string); ok {
			return s, true
		}
	}
	return "", false
}

// decoded turns a file of UTF-16, which some shells write when they redirect, into UTF-8; anything else stays as it is.
func decoded(r io.Reader) io.Reader {
	in := bufio.NewReader(r)
	mark, err := in.Peek(2)
	if err != nil || !(mark[0] == 0xff && mark[1] == 0xfe || mark[0] == 0xfe && mark[1] == 0xff) {
		return in
	}
	return &utf16Reader{in: in, big: mark[0] == 0xfe}
}

type utf16Reader struct {
	in   *bufio.Reader
	big  bool
	rest []byte
}

// Read decodes a piece at a time.
func (u *utf16Reader) Read(p []byte) (int, error) {
	if len(u.rest) == 0 {
		var units []uint16
		for len(units) < 4096 {
			pair := make([]byte, 2)
			if _, err := io.ReadFull(u.in, pair); err != nil {
				if len(units) == 0 {
					return 0, io.EOF
				}
				break
			}
			unit := uint16(pair[0]) | uint16(pair[1])<<8
			if u.big {
				unit = uint16(pair[1]) | uint16(pair[0])<<8
			}
			units = append(units, unit)
			if len(units) >= 4095 && !utf16.IsSurrogate(rune(unit)) {
				break
			}
		}
		u.rest = []byte(strings.TrimPrefix(string(utf16.Decode(units)), "\uFEFF"))
		if len(u.rest) == 0 {
			return u.Read(p)
		}
	}
	n := copy(p, u.rest)
	u.rest = u.rest[n:]
	return n, nil
}
