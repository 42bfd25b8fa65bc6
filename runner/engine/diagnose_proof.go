package engine

import (
	"slices"
	"strings"
)

// Role says what a quoted line shows. These words appear in JSON and never change.
type Role string

// The roles.
const (
	RoleCause       Role = "cause"       // what went wrong
	RoleWhere       Role = "where"       // the place in the program
	RoleEcho        Role = "echo"        // another process says the same, or that somebody failed
	RoleConsequence Role = "consequence" // what only passes on that something failed
	RoleMilestone   Role = "milestone"   // how far the start had come
	RoleStop        Role = "stop"        // it was asked to stop
	RoleSuspect     Role = "suspect"     // looks like a cause, and is not known as one
)

// Quote is a line of the log.
type Quote struct {
	Line int    `json:"line"` // its number in the file, from 1
	Role Role   `json:"role"`
	Text string `json:"text"` // as written, shortened
}

func quoted(raw string) string { return shorten(strings.TrimSpace(raw)) }

// Each role but the cause is quoted so often at most.
const quotesOfRole = 2

// proof quotes the cause at a line, and what belongs to it. Its lines are indices.
func (log *engineLog) proof(cause int, hits []hit, s *signature) []Quote {
	if cause < 0 {
		return nil
	}
	var quotes []Quote
	count := map[Role]int{}
	add := func(at int, role Role) {
		if count[role] < quotesOfRole && !slices.ContainsFunc(quotes, func(q Quote) bool { return q.Line == at }) {
			count[role]++
			quotes = append(quotes, Quote{Line: at, Role: role, Text: quoted(log.evidence.Lines[at])})
		}
	}
	add(cause, RoleCause)
	if s != nil && s.ID == "vllm_pydantic" {
		for i := cause + 1; i < min(cause+3, len(log.evidence.Lines)); i++ {
			add(i, RoleCause)
		}
	}
	for i := cause - 1; i >= max(0, cause-deepTraceback); i-- {
		if text := readLine(log.evidence.Lines[i]).text; strings.HasPrefix(text, `  File "`) {
			add(i, RoleWhere)
			break
		} else if strings.Contains(text, tracebackHead) || indent(text) == 0 && text != "" {
			break
		}
	}
	milestone := -1
	for _, c := range log.phases {
		if c.at < cause {
			milestone = c.at
		}
	}
	if milestone >= 0 {
		add(milestone, RoleMilestone)
	}
	for _, h := range hits {
		switch {
		case h.at <= cause:
		case h.signature == s || h.signature.Echo && h.signature.cause():
			add(h.at, RoleEcho)
		case h.signature.Class == "wrapper":
			add(h.at, RoleConsequence)
		}
	}
	slices.SortFunc(quotes, func(a, b Quote) int { return a.Line - b.Line })
	return quotes
}

// suspects are the lines that look most like a cause: the exceptions, the errors of the log's own rating, and the last words. Five at most.
func (log *engineLog) suspects() []Quote {
	var ranked [3][]int
	wrappers := map[int]bool{}
	for _, h := range log.hits {
		wrappers[h.at] = wrappers[h.at] || h.signature.Class == "wrapper"
	}
	for i, raw := range log.evidence.Lines {
		l := readLine(raw)
		text := strings.TrimSpace(l.text)
		switch {
		case text == "" || l.harmless() || strings.Contains(text, tracebackHead) || log.isCode(i, l):
		case exceptionLine.MatchString(l.text):
			rank := 0
			if slices.ContainsFunc(wrapperWords, func(w string) bool { return strings.Contains(text, w) }) {
				rank = 1
			}
			ranked[rank] = append(ranked[rank], i)
		case wrappers[i]:
		case l.level == levelError && indent(l.text) == 0, suspicious(text):
			ranked[1] = append(ranked[1], i)
		default:
			ranked[2] = append(ranked[2], i)
		}
	}
	var picked []int
	for rank, lines := range ranked {
		most := 3
		if rank == 2 {
			lines, most = lines[max(0, len(lines)-1):], 1
		}
		for _, at := range lines[:min(most, len(lines))] {
			if len(picked) < 5 {
				picked = append(picked, at)
			}
		}
	}
	slices.Sort(picked)
	var quotes []Quote
	for _, at := range picked {
		quotes = append(quotes, Quote{Line: at, Role: RoleSuspect, Text: quoted(log.evidence.Lines[at])})
	}
	return quotes
}

// suspicious tells words of failure at the beginning of a line.
func suspicious(text string) bool {
	head := strings.ToLower(text[:min(len(text), 60)])
	return indent(text) == 0 && (strings.Contains(head, "error:") || strings.Contains(head, "fatal") || strings.Contains(head, "failed") || strings.Contains(head, "cannot ") || strings.Contains(head, "abort"))
}
