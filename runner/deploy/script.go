package deploy

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"autotune/tuner/secret"
)

// word is one word of a command, as the shell would hand it on, and the line where it stands.
type word struct {
	text  string
	line  int
	fault []*Error // why it cannot be known; it counts only where the word is part of the command that is asked for
}

// call is one command of a script: its words, and the variables that it alone is given.
type call struct {
	words []word
	env   []Variable
	vars  variables // those of the script when it comes to the command
	ended int       // the line on which its last word ends
	fault []*Error  // why one of env cannot be known
	notes []Note
}

// script reads a shell script from its beginning to its end without running anything: assignments are kept, commands are collected.
type script struct {
	o         *Options
	lines     []string
	base      int // line of the surrounding file on which the first line stands, less one
	vars      variables
	uncertain map[string]int // variables that a condition or a loop may set, with the line of it
	unknown   map[string]*Error
	from      container // variables whose values are not known here
	calls     []call
	documents []document
	functions map[string]*function
	defined   []*function // the same, in the order of the text
	depth     int         // of calls of them
	followed  int         // calls of them so far
	inner     int         // how deep in conditions and loops
}

// readScript reads a text as bash would. first is the line that its first one has in the surrounding file.
func readScript(text string, first int, o *Options, vars variables) (*script, error) {
	windows := strings.Contains(text, "\r\n")
	text = strings.ReplaceAll(text, "\r\n", "\n")
	text, notes := posix(text, first)
	s := &script{o: o, lines: strings.Split(text, "\n"), base: first - 1, vars: vars, uncertain: map[string]int{}, unknown: map[string]*Error{}, functions: map[string]*function{}}
	s.from.notes = notes
	if windows && len(notes) == 0 {
		s.from.notes = append(s.from.notes, Note{first, "the lines end as on Windows, which a shell takes for a part of the last word: they are read without that"})
	}
	file, err := parseBash(text)
	if open := openComments(file, s.lines); err == nil && len(open) > 0 {
		lines := slices.Clone(s.lines)
		for _, n := range open {
			lines[n] = strings.TrimRight(lines[n], `\`)
		}
		file, err = parseBash(strings.Join(lines, "\n"))
	}
	if err != nil {
		return nil, s.syntaxError(err)
	}
	for _, stmt := range file.Stmts {
		s.statement(stmt)
	}
	s.uncalled()
	return s, nil
}

func parseBash(text string) (*syntax.File, error) {
	return syntax.NewParser(syntax.Variant(syntax.LangBash), syntax.KeepComments(true)).Parse(strings.NewReader(text), "")
}

// openComments are the lines, from 0, whose comment ends in a backslash. To a shell that means nothing: the comment and the command end there.
// The parser takes it for a line that goes on.
func openComments(file *syntax.File, lines []string) (open []int) {
	if file == nil {
		return nil
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		if c, ok := n.(*syntax.Comment); ok {
			if at := int(c.Hash.Line()) - 1; at < len(lines) && strings.HasSuffix(lines[at], `\`) {
				open = append(open, at)
			}
		}
		return true
	})
	return open
}

func (s *script) syntaxError(err error) error {
	var p syntax.ParseError
	if errors.As(err, &p) {
		return &Error{Line: s.base + int(p.Pos.Line()), Problem: "not what a shell reads: " + p.Text, Try: "the command as it is typed into a shell"}
	}
	var lang syntax.LangError
	if errors.As(err, &lang) {
		return &Error{Line: s.base + int(lang.Pos.Line()), Problem: "not what bash reads: " + lang.Error()}
	}
	return &Error{Line: s.base + 1, Problem: "not what a shell reads: " + err.Error()}
}

func (s *script) line(n syntax.Node) int { return s.base + int(n.Pos().Line()) }

func (s *script) statement(stmt *syntax.Stmt) {
	before := len(s.calls)
	s.command(stmt.Cmd)
	for _, r := range stmt.Redirs {
		s.document(r)
		if len(s.calls) == before || r.Hdoc != nil {
			continue
		}
		c := &s.calls[len(s.calls)-1]
		c.ended = max(c.ended, s.base+int(r.End().Line()))
		if !slices.ContainsFunc(c.notes, func(n Note) bool { return strings.HasPrefix(n.Text, "where ") }) {
			c.notes = append(c.notes, Note{s.base + int(r.OpPos.Line()), "where its output goes is not part of the command: autotune keeps each server's log"})
		}
	}
}

func (s *script) command(cmd syntax.Command) {
	switch c := cmd.(type) {
	case *syntax.CallExpr:
		s.call(c)
	case *syntax.DeclClause:
		s.declare(c)
	case *syntax.BinaryCmd: // a && b, a || b, a | b
		s.chain(c)
	case *syntax.Block:
		s.statements(c.Stmts)
	case *syntax.Subshell:
		s.statements(c.Stmts)
	case *syntax.TimeClause:
		if c.Stmt != nil {
			s.statement(c.Stmt)
		}
	case *syntax.CoprocClause:
		s.statement(c.Stmt)
	case nil:
	case *syntax.ForClause:
		if !s.round(c) {
			s.conditional(c)
		}
	case *syntax.IfClause:
		if !s.branch(c) {
			s.conditional(c)
		}
	case *syntax.CaseClause:
		if !s.choice(c) {
			s.conditional(c)
		}
	case *syntax.WhileClause:
		if !s.forever(c) {
			s.conditional(c)
		}
	case *syntax.FuncDecl:
		f := &function{body: c.Body}
		s.functions[c.Name.Value] = f
		s.defined = append(s.defined, f)
	default:
		s.conditional(c)
	}
}

func (s *script) statements(list []*syntax.Stmt) {
	for _, stmt := range list {
		s.statement(stmt)
	}
}

// conditional collects the commands in an if, a loop or a function, and the variables that it may set.
func (s *script) conditional(c syntax.Command) {
	s.inner++
	defer func() { s.inner-- }()
	line := s.line(c)
	before := len(s.calls)
	syntax.Walk(c, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst, *syntax.ProcSubst:
			return false
		case *syntax.Assign:
			if n.Name != nil {
				s.uncertain[n.Name.Value] = line
			}
		case *syntax.CallExpr:
			if len(n.Args) > 0 {
				s.call(n)
			}
		}
		return true
	})
	s.remark(before, Note{line, "the command stands in a condition, a loop or a function: it is taken as if it were always run"})
}

// call takes a simple command: assignments alone, or a command with its own variables.
func (s *script) call(c *syntax.CallExpr) {
	if len(c.Args) == 0 {
		for _, a := range c.Assigns {
			s.assign(a, false)
		}
		return
	}
	made := call{ended: s.base + int(c.End().Line())}
	for _, a := range c.Assigns {
		value, faults := s.expandOne(a.Value)
		if len(faults) > 0 && secret.Variable(a.Name.Value, "unknown") {
			s.from.elsewhere(a.Name.Value, s.line(a), "elsewhere")
			continue
		}
		made.fault = append(made.fault, faults...)
		made.env = append(made.env, Variable{Name: a.Name.Value, Value: value, Line: s.line(a)})
	}
	commented := 0 // a line whose rest is a comment to whoever wrote it
	for _, w := range c.Args {
		text := s.spelled(w)
		if s.line(w) == commented {
			continue
		}
		if strings.HasPrefix(text, `\ #`) { // a blank that is escaped, and so no comment
			commented = s.line(w)
			made.notes = append(made.notes, Note{commented, blankFollows})
			continue
		}
		if blank := s.blankAfterBackslash(w); blank > 0 {
			made.notes = append(made.notes, Note{blank, blankFollows})
			if text = strings.TrimSuffix(strings.TrimRight(text, " \t"), `\`); text == "" {
				continue
			}
			made.words = append(made.words, word{text: text, line: s.line(w)})
			continue
		}
		made.words = append(made.words, s.expand(w, &made)...)
	}
	if len(made.words) > 1 && made.words[0].text == "$" { // a prompt that was copied too
		made.words = made.words[1:]
	}
	switch {
	case len(made.words) > 0 && s.functions[made.words[0].text] != nil && s.inner == 0:
		s.callFunction(s.functions[made.words[0].text], made)
	case len(made.words) == 0:
		if n := len(s.calls); n > 0 {
			s.calls[n-1].notes = append(s.calls[n-1].notes, made.notes...)
		}
	case len(s.calls) > 0 && len(made.env) == 0 && strings.HasPrefix(made.words[0].text, "-"):
		s.goesOn(made)
	default:
		if made.mayServe() {
			made.vars = maps.Clone(s.vars)
		}
		s.calls = append(s.calls, made)
	}
}

// mayServe tells whether anything in a command has to do with a server.
func (c call) mayServe() bool {
	return slices.ContainsFunc(c.words, func(w word) bool { return mentionsServer(w.text) }) || len(c.words) > 0 && len(c.words[0].fault) > 0
}

const blankFollows = "a blank follows the backslash: a shell ends the command there; it is read as if the line went on"

// goesOn joins a command that begins with a flag to the one before: no command is called so, and dropping the flags would serve something else.
func (s *script) goesOn(rest call) {
	c := &s.calls[len(s.calls)-1]
	first := rest.words[0]
	if !slices.ContainsFunc(c.notes, func(n Note) bool { return n.Line == c.ended && n.Text == blankFollows }) {
		why := fmt.Sprintf("line %d does not end in a backslash", c.ended)
		for n := c.ended; n < first.line; n++ {
			if strings.HasPrefix(strings.TrimSpace(s.lines[n-s.base]), "#") {
				why = fmt.Sprintf("the comment on line %d ends the command", n+1)
				break
			}
		}
		c.notes = append(c.notes, Note{first.line, why + ": a shell would run " + first.text + " as a command of its own; it is read as if the line before went on"})
	}
	c.words, c.fault, c.notes, c.ended = append(c.words, rest.words...), append(c.fault, rest.fault...), append(c.notes, rest.notes...), rest.ended
}

// blankAfterBackslash is the line on which a word ends in a backslash and blanks up to the end of the line, or to a comment; 0 when it does not.
func (s *script) blankAfterBackslash(w *syntax.Word) int {
	lit, ok := w.Parts[len(w.Parts)-1].(*syntax.Lit)
	if !ok || !strings.HasSuffix(lit.Value, `\ `) && !strings.HasSuffix(lit.Value, "\\\t") {
		return 0
	}
	line := s.lines[lit.End().Line()-1]
	rest := strings.TrimLeft(line[min(int(lit.End().Col())-1, len(line)):], " \t")
	if rest != "" && !strings.HasPrefix(rest, "#") {
		return 0
	}
	return s.base + int(lit.End().Line())
}

// declare takes export, declare and their like.
func (s *script) declare(c *syntax.DeclClause) {
	exported := c.Variant.Value == "export"
	for _, a := range c.Args {
		switch {
		case a.Name == nil: // an option
			if a.Value != nil && strings.HasPrefix(s.spelled(a.Value), "-") && strings.Contains(s.spelled(a.Value), "x") {
				exported = true
			}
		case a.Naked:
			v := s.vars[a.Name.Value]
			v.Exported = v.Exported || exported
			s.vars[a.Name.Value] = v
		default:
			s.assign(a, exported)
		}
	}
}

// assign keeps a variable's value, or why it is not known.
func (s *script) assign(a *syntax.Assign, exported bool) {
	name := a.Name.Value
	if s.inner > 0 {
		return // conditional has noted it
	}
	old := s.vars[name]
	v := variable{Variable: expand.Variable{Set: true, Kind: expand.String, Exported: exported || old.Exported}, line: s.line(a)}
	var faults []*Error
	if a.Array != nil {
		v.Kind, v.List = expand.Indexed, []string{}
		var made call
		for _, e := range a.Array.Elems {
			if e.Value != nil {
				made.words = append(made.words, s.expand(e.Value, &made)...)
			}
		}
		for _, w := range made.words {
			v.List, faults = append(v.List, w.text), append(faults, w.fault...)
		}
		v.notes = made.notes
	} else {
		var made call
		v.Str, faults = s.expandWith(a.Value, &made)
		v.notes = made.notes
	}
	if a.Append {
		v.notes = slices.Concat(old.notes, v.notes)
		v.Str, v.List = old.Str+v.Str, append(slices.Clone(old.List), v.List...)
		if old.Kind == expand.Indexed && v.Kind == expand.String {
			v.Kind, v.List = expand.Indexed, append(slices.Clone(old.List), v.Str)
		}
	}
	if !a.Append {
		delete(s.uncertain, name)
	}
	if s.takesArguments(a) {
		faults = append(faults, &Error{Line: s.line(a), Problem: "$@ is what the script is called with"})
	}
	if len(faults) > 0 {
		if _, given := s.o.Set[name]; !given {
			s.unknown[name] = faults[0]
			delete(s.vars, name)
			if exported {
				s.from.elsewhere(name, s.line(a), s.spelled(a.Value))
			}
		}
		return
	}
	if len(v.Str) > longestValue || len(v.List) > longestValue {
		s.unknown[name] = &Error{Line: v.line, Problem: "it is too long"}
		delete(s.vars, name)
		return
	}
	delete(s.unknown, name)
	s.vars[name] = v
}

// takesArguments tells whether an assignment is made from all that the script is called with, which is not known.
func (s *script) takesArguments(a *syntax.Assign) (takes bool) {
	if _, given := s.vars["@"]; given {
		return false
	}
	syntax.Walk(a, func(n syntax.Node) bool {
		p, ok := n.(*syntax.ParamExp)
		takes = takes || ok && p.Param != nil && (p.Param.Value == "@" || p.Param.Value == "*") && !p.Length && p.Exp == nil
		return true
	})
	return takes
}

// longestValue bounds a variable, in bytes or words: what is set to itself twice, again and again, outgrows any memory.
const longestValue = 64 << 10
