package deploy

import (
	"fmt"
	"regexp"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// spelled is a word as it is written.
func (s *script) spelled(w *syntax.Word) string {
	var b strings.Builder
	if w == nil || syntax.NewPrinter().Print(&b, w) != nil {
		return ""
	}
	return b.String()
}

func (s *script) expandOne(w *syntax.Word) (string, []*Error) { return s.expandWith(w, &call{}) }

// expandWith makes one text of a word, as a shell does behind an equals sign, and adds to c what has to be said of it.
func (s *script) expandWith(w *syntax.Word, c *call) (string, []*Error) {
	if w == nil {
		return "", nil
	}
	if faults := s.inspect(w, c); len(faults) > 0 {
		return s.spelled(w), faults
	}
	text, err := expand.Literal(s.config(), w)
	if err != nil {
		return s.spelled(w), []*Error{{Line: s.line(w), Problem: s.spelled(w) + " cannot be read: " + err.Error()}}
	}
	return text, nil
}

// expand makes of a word the words that the command would be given.
func (s *script) expand(w *syntax.Word, c *call) []word {
	faults := s.inspect(w, c)
	if len(faults) > 0 {
		return []word{{s.spelled(w), s.line(w), faults}}
	}
	fields, err := expand.Fields(s.config(), w)
	if err != nil {
		return []word{{s.spelled(w), s.line(w), []*Error{{Line: s.line(w), Problem: s.spelled(w) + " cannot be read: " + err.Error()}}}}
	}
	var words []word
	for _, f := range fields {
		words = append(words, word{text: f, line: s.line(w)})
	}
	return words
}

// literalDollar is what looks like a variable.
var literalDollar = regexp.MustCompile(`\$\{?[A-Za-z_][A-Za-z0-9_]*`)

// inspect finds in a word what is not known without running something, and adds to c what a reader has to be told.
func (s *script) inspect(w *syntax.Word, c *call) (faults []*Error) {
	fault := func(n syntax.Node, problem, try string) bool {
		faults = append(faults, &Error{Line: s.line(n), Problem: problem, Try: try})
		return false
	}
	syntax.Walk(w, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst:
			if _, ok := s.printed(n); ok {
				return false
			}
			return fault(n, s.source(n)+" is what another command prints: nothing is run here to find out", "what it prints, in its place")
		case *syntax.ProcSubst:
			return fault(n, s.source(n)+" is a file that another command writes: nothing is run here", "a file, in its place")
		case *syntax.ParamExp:
			if f := s.parameter(n, c); f != nil {
				faults = append(faults, f)
			}
			return s.usesWord(n)
		case *syntax.ArithmExp:
			faults = append(faults, s.arithmetic(n)...)
		case *syntax.SglQuoted:
			if found := literalDollar.FindStringIndex(n.Value); found != nil {
				line := s.line(n) + strings.Count(n.Value[:found[0]], "\n")
				c.notes = append(c.notes, Note{line, n.Value[found[0]:found[1]] + " stands in single quotes: no shell puts a value in its place, and it stays as it is"})
			}
		}
		return true
	})
	return faults
}

// arithmetic finds the bare names in $((...)): a shell takes one that is not set for 0.
func (s *script) arithmetic(a *syntax.ArithmExp) (faults []*Error) {
	syntax.Walk(a.X, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.ParamExp:
			return false
		case *syntax.Lit:
			if variableName.MatchString(n.Value) && !s.vars.Get(n.Value).IsSet() {
				faults = append(faults, s.unset(n, n.Value))
			}
		}
		return true
	})
	return faults
}

func (s *script) unset(n syntax.Node, name string) *Error {
	return &Error{Line: s.line(n), Problem: "$" + name + " is not set here", Try: "--set " + name + "=VALUE", unset: name}
}

// source is a node as it is written.
func (s *script) source(n syntax.Node) string {
	var b strings.Builder
	if syntax.NewPrinter(syntax.SingleLine(true)).Print(&b, n) != nil {
		return "this"
	}
	return b.String()
}

// wholeArray is ${NAME[@]} or ${NAME[*]}.
func wholeArray(p *syntax.ParamExp) bool {
	w, ok := p.Index.(*syntax.Word)
	if !ok || p.Exp != nil || p.Slice != nil || p.Length {
		return false
	}
	index := w.Lit()
	return index == "@" || index == "*"
}

// usesWord tells whether the word of ${NAME:-WORD} or ${NAME:+WORD} takes the place of the value: what stands in one that does not is nowhere seen.
func (s *script) usesWord(p *syntax.ParamExp) bool {
	if p.Param == nil || p.Exp == nil {
		return true
	}
	v := s.vars.Get(p.Param.Value)
	set := v.IsSet()
	switch p.Exp.Op {
	case syntax.DefaultUnsetOrNull, syntax.AssignUnsetOrNull, syntax.ErrorUnsetOrNull:
		return !set || v.String() == ""
	case syntax.DefaultUnset, syntax.AssignUnset, syntax.ErrorUnset:
		return !set
	case syntax.AlternateUnsetOrNull:
		return set && v.String() != ""
	case syntax.AlternateUnset:
		return set
	}
	return true
}

// parameter looks at one $NAME: why it is not known, or what has to be said of it.
func (s *script) parameter(p *syntax.ParamExp, c *call) *Error {
	if p.Param == nil {
		return nil
	}
	name := p.Param.Value
	if why, ok := s.unknown[name]; ok {
		if why.unset != "" { // what is asked for is where it comes from
			return s.unset(p, why.unset)
		}
		return &Error{Line: s.line(p), Problem: fmt.Sprintf("$%s is set on line %d to what is not known here: %s", name, why.Line, why.Problem), Try: "--set " + name + "=VALUE"}
	}
	if _, given := s.vars["@"]; (name == "@" || name == "*") && !given {
		c.notes = append(c.notes, Note{s.line(p), "$" + name + " is what the script is called with: nothing is taken for it"})
		return nil
	}
	set := s.vars.Get(name).IsSet()
	if line, ok := s.uncertain[name]; ok {
		what := "it is taken as if nothing there were done"
		if set {
			what = "that is left out"
		}
		c.notes = append(c.notes, Note{s.line(p), fmt.Sprintf("$%s may be changed by the condition or loop on line %d: %s", name, line, what)})
	}
	if set {
		c.notes = append(c.notes, s.vars[name].notes...)
		return nil
	}
	switch op := p.Exp; {
	case op != nil && (op.Op == syntax.DefaultUnset || op.Op == syntax.DefaultUnsetOrNull || op.Op == syntax.AssignUnset || op.Op == syntax.AssignUnsetOrNull):
		value, faults := s.expandOne(op.Word)
		if len(faults) == 0 {
			c.notes = append(c.notes, Note{s.line(p), fmt.Sprintf("%s is not set: its default %s is used (--set %s=VALUE says otherwise)", name, quote(value), name)})
		}
	case op != nil && (op.Op == syntax.AlternateUnset || op.Op == syntax.AlternateUnsetOrNull):
		c.notes = append(c.notes, Note{s.line(p), fmt.Sprintf("%s is not set: %s stands for nothing", name, s.source(p))})
	case wholeArray(p): // no environment holds arrays: what is not set here is set nowhere
		if _, noted := s.uncertain[name]; !noted {
			c.notes = append(c.notes, Note{s.line(p), fmt.Sprintf("%s is not set: %s stands for nothing", name, s.source(p))})
		}
	default:
		return s.unset(p, name)
	}
	return nil
}
