package deploy

import (
	"path"
	"slices"
	"strconv"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// chain reads a && b and a || b: b only where a is a condition that lets it run, and as something that may run where that is not known.
func (s *script) chain(c *syntax.BinaryCmd) {
	if c.Op != syntax.AndStmt && c.Op != syntax.OrStmt {
		s.statement(c.X)
		s.statement(c.Y)
		return
	}
	holds, known, said := s.decided([]*syntax.Stmt{c.X})
	switch {
	case known:
		s.unsetCondition(c, said)
		if holds == (c.Op == syntax.AndStmt) {
			s.statement(c.Y)
		}
	case isTest(c.X) && s.inner == 0:
		s.conditional(c)
	default:
		s.statement(c.X)
		s.statement(c.Y)
	}
}

// isTest is [ ... ], [[ ... ]] or test.
func isTest(stmt *syntax.Stmt) bool {
	switch c := stmt.Cmd.(type) {
	case *syntax.TestClause:
		return true
	case *syntax.CallExpr:
		return len(c.Args) > 0 && slices.Contains([]string{"[", "test"}, c.Args[0].Lit())
	}
	return false
}

// choice reads the one branch of a case that its word selects, where the word is known.
func (s *script) choice(c *syntax.CaseClause) bool {
	if s.inner > 0 {
		return false
	}
	var made call
	text, faults := s.expandWith(c.Word, &made)
	if len(faults) > 0 {
		return false
	}
	s.from.notes = append(s.from.notes, made.notes...)
	for _, item := range c.Items {
		for _, p := range item.Patterns {
			pattern, faults := s.expandOne(p)
			if len(faults) > 0 {
				return false
			}
			if matches, err := path.Match(pattern, text); err == nil && matches || pattern == "*" {
				s.statements(item.Stmts)
				return true
			}
		}
	}
	return true
}

// function is one that the script defines.
type function struct {
	body   *syntax.Stmt
	called bool
}

// deepest is how far functions are followed into one another, most how often in all.
const deepest, most = 8, 500

// callFunction reads a function's body with the words of a call as its parameters.
func (s *script) callFunction(f *function, made call) {
	f.called = true
	if s.depth == deepest || s.followed == most {
		return
	}
	s.depth++
	s.followed++
	before := map[string]variable{}
	for name, v := range s.vars {
		if isParameter(name) {
			before[name] = v
			delete(s.vars, name)
		}
	}
	var all []string
	for i, w := range made.words[1:] {
		name := strconv.Itoa(i + 1)
		if all = append(all, w.text); len(w.fault) > 0 {
			s.unknown[name] = w.fault[0]
			continue
		}
		delete(s.unknown, name)
		s.vars[name] = variable{Variable: expand.Variable{Set: true, Kind: expand.String, Str: w.text}, line: w.line}
	}
	s.vars["@"] = variable{Variable: expand.Variable{Set: true, Kind: expand.Indexed, List: all}}
	s.vars["#"] = variable{Variable: expand.Variable{Set: true, Kind: expand.String, Str: strconv.Itoa(len(all))}}
	from := len(s.calls)
	s.statement(f.body)
	for _, n := range made.notes {
		s.remark(from, n)
	}
	for i := range made.words {
		delete(s.vars, strconv.Itoa(i))
		delete(s.unknown, strconv.Itoa(i))
	}
	delete(s.vars, "@")
	delete(s.vars, "#")
	for name, v := range before {
		s.vars[name] = v
	}
	s.depth--
}

func isParameter(name string) bool {
	_, err := strconv.Atoi(name)
	return err == nil || name == "@" || name == "#"
}

// uncalled reads the functions that nothing in the script calls: whoever reads the script does.
func (s *script) uncalled() {
	for _, f := range s.defined {
		if !f.called {
			s.conditional(f.body.Cmd)
		}
	}
}

// forever reads the body of while true once.
func (s *script) forever(c *syntax.WhileClause) bool {
	if s.inner > 0 || c.Until || len(c.Cond) != 1 {
		return false
	}
	cond, ok := c.Cond[0].Cmd.(*syntax.CallExpr)
	if !ok || len(cond.Args) != 1 || !slices.Contains([]string{"true", ":"}, cond.Args[0].Lit()) {
		return false
	}
	before := len(s.calls)
	s.statements(c.Do)
	s.remark(before, Note{s.line(c), "the command stands in a loop: it is read as in its first round"})
	return true
}
