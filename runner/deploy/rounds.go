package deploy

import (
	"fmt"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// round reads the body of a for loop once, with what its variable is in the first round: the servers that a loop starts differ in where they run.
func (s *script) round(c *syntax.ForClause) bool {
	if s.inner > 0 || c.Select {
		return false
	}
	name, value, fault := s.firstRound(c.Loop)
	if name == "" {
		return false
	}
	if given, ok := s.o.Set[name]; ok {
		value, fault = given, nil
	}
	what := ""
	if fault == nil {
		s.vars[name] = variable{Variable: expand.Variable{Set: true, Kind: expand.String, Str: value, Exported: s.vars[name].Exported}, line: s.line(c)}
		delete(s.unknown, name)
		what = fmt.Sprintf(", where %s is %s", name, quote(value))
	} else {
		delete(s.vars, name)
		s.unknown[name] = fault
	}
	before := len(s.calls)
	s.statements(c.Do)
	s.remark(before, Note{s.line(c), "the command stands in a loop: it is read as in its first round" + what})
	return true
}

// firstRound is a loop's variable and its first value, or why that is not known.
func (s *script) firstRound(loop syntax.Loop) (name, value string, fault *Error) {
	switch loop := loop.(type) {
	case *syntax.WordIter:
		var made call
		for _, item := range loop.Items {
			words := s.expand(item, &made)
			switch {
			case len(words) == 0: // it stands for nothing
			case len(words[0].fault) > 0:
				return loop.Name.Value, "", words[0].fault[0]
			default:
				return loop.Name.Value, words[0].text, nil
			}
		}
		return loop.Name.Value, "", &Error{Line: s.line(loop), Problem: "what the loop goes through"}
	case *syntax.CStyleLoop:
		first, ok := loop.Init.(*syntax.BinaryArithm)
		if !ok || first.Op != syntax.Assgn {
			return "", "", nil
		}
		begin, ok := first.Y.(*syntax.Word)
		n, isWord := first.X.(*syntax.Word)
		if !ok || !isWord || !variableName.MatchString(n.Lit()) {
			return "", "", nil
		}
		text, faults := s.expandOne(begin)
		if len(faults) > 0 {
			return n.Lit(), "", faults[0]
		}
		return n.Lit(), text, nil
	}
	return "", "", nil
}

// decided tells whether the condition of an if holds, where that follows from what is known: [ -n "$NAME" ] and its like. A variable that is not set here
// is taken for one that is not set at all, as in ${NAME:-}; said names it.
func (s *script) decided(cond []*syntax.Stmt) (holds, known bool, said string) {
	if len(cond) != 1 || cond[0].Negated || len(cond[0].Redirs) > 0 {
		return false, false, ""
	}
	var words []*syntax.Word
	switch c := cond[0].Cmd.(type) {
	case *syntax.CallExpr:
		n := len(c.Args)
		if n < 4 || s.spelled(c.Args[0]) != "[" || s.spelled(c.Args[n-1]) != "]" {
			return false, false, ""
		}
		words = c.Args[1 : n-1]
	case *syntax.TestClause:
		switch x := c.X.(type) {
		case *syntax.UnaryTest:
			w, ok := x.X.(*syntax.Word)
			if !ok {
				return false, false, ""
			}
			return s.compared(x.Op.String(), w, nil)
		case *syntax.BinaryTest:
			a, ok := x.X.(*syntax.Word)
			b, isWord := x.Y.(*syntax.Word)
			if !ok || !isWord {
				return false, false, ""
			}
			return s.compared(x.Op.String(), a, b)
		}
	}
	switch len(words) {
	case 2:
		return s.compared(s.spelled(words[0]), words[1], nil)
	case 3:
		return s.compared(s.spelled(words[1]), words[0], words[2])
	}
	return false, false, ""
}

// compared is -n A, -z A, A = B, or A != B.
func (s *script) compared(op string, a, b *syntax.Word) (holds, known bool, said string) {
	left, set, ok := s.tested(a)
	if !ok {
		return false, false, ""
	}
	if !set {
		said = left
		left = ""
	}
	right := ""
	if b != nil {
		var bset bool
		if right, bset, ok = s.tested(b); !ok || !bset {
			return false, false, ""
		}
	}
	switch {
	case op == "-n" && b == nil:
		return left != "", true, said
	case op == "-z" && b == nil:
		return left == "", true, said
	case (op == "=" || op == "==") && b != nil && !strings.ContainsAny(right, "*?["):
		return left == right, true, said
	case op == "!=" && b != nil && !strings.ContainsAny(right, "*?["):
		return left != right, true, said
	}
	return false, false, ""
}

// tested is a word of a condition; for one that is nothing but a variable which is not set, its name. ok is false where it cannot be known.
func (s *script) tested(w *syntax.Word) (text string, set, ok bool) {
	faults := s.inspect(w, &call{})
	if len(faults) > 0 {
		f := faults[0]
		if f.unset == "" || len(faults) > 1 {
			return "", false, false
		}
		if _, uncertain := s.uncertain[f.unset]; uncertain {
			return "", false, false
		}
		text := strings.Trim(s.spelled(w), `"`)
		if text != "$"+f.unset && text != "${"+f.unset+"}" {
			return "", false, false
		}
		return f.unset, false, true
	}
	text, faults = s.expandOne(w)
	return text, true, len(faults) == 0
}

// branch reads the one branch of an if that is taken, where that is known.
func (s *script) branch(c *syntax.IfClause) bool {
	if s.inner > 0 {
		return false
	}
	if len(c.Cond) == 0 { // else
		s.statements(c.Then)
		return true
	}
	holds, known, said := s.decided(c.Cond)
	if !known {
		return false
	}
	s.unsetCondition(c, said)
	if holds {
		s.statements(c.Then)
		return true
	}
	if c.Else == nil {
		return true
	}
	if !s.branch(c.Else) {
		s.conditional(c.Else)
	}
	return true
}

// unsetCondition says of a condition that it was read with a variable that is not set.
func (s *script) unsetCondition(n syntax.Node, name string) {
	if name != "" {
		s.from.notes = append(s.from.notes, Note{s.line(n), fmt.Sprintf("%s is not set: the condition is read so (--set %s=VALUE says otherwise)", name, name)})
	}
}

// remark adds a note to every call from a place on.
func (s *script) remark(from int, n Note) {
	for i := range s.calls[from:] {
		s.calls[from+i].notes = append(s.calls[from+i].notes, n)
	}
}
