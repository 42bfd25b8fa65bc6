package deploy

import (
	"fmt"
	"io"
	"path"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// config is what words are expanded with: variables, and the few commands whose output follows from their words.
func (s *script) config() *expand.Config {
	return &expand.Config{Env: s.vars, CmdSubst: func(w io.Writer, c *syntax.CmdSubst) error {
		text, ok := s.printed(c)
		if !ok {
			return fmt.Errorf("%s is what another command prints", s.source(c))
		}
		_, err := io.WriteString(w, text+"\n")
		return err
	}}
}

// longestSequence bounds what seq prints.
const longestSequence = 4096

// printed is what a command prints that does nothing but compute with its words: dirname, basename, echo, seq, and cd FOLDER && pwd. Nothing is run.
func (s *script) printed(c *syntax.CmdSubst) (string, bool) {
	if len(c.Stmts) != 1 || len(c.Stmts[0].Redirs) > 0 || c.Stmts[0].Negated {
		return "", false
	}
	switch cmd := c.Stmts[0].Cmd.(type) {
	case *syntax.CallExpr:
		words, ok := s.known(cmd)
		if !ok || len(words) == 0 {
			return "", false
		}
		return computed(words)
	case *syntax.BinaryCmd:
		if cmd.Op != syntax.AndStmt || len(cmd.Y.Redirs) > 0 {
			return "", false
		}
		x, ok := cmd.X.Cmd.(*syntax.CallExpr)
		y, isCall := cmd.Y.Cmd.(*syntax.CallExpr)
		if !ok || !isCall || len(y.Args) == 0 || y.Args[0].Lit() != "pwd" {
			return "", false
		}
		words, ok := s.known(x)
		if !ok || len(words) < 2 || words[0] != "cd" || !path.IsAbs(words[len(words)-1]) {
			return "", false
		}
		return path.Clean(words[len(words)-1]), true
	}
	return "", false
}

// known are the words of a command, where all of them are.
func (s *script) known(c *syntax.CallExpr) (words []string, ok bool) {
	if len(c.Assigns) > 0 {
		return nil, false
	}
	for _, a := range c.Args {
		for _, w := range s.expand(a, &call{}) {
			if len(w.fault) > 0 {
				return nil, false
			}
			words = append(words, w.text)
		}
	}
	return words, true
}

// computed is what one of those commands prints.
func computed(words []string) (string, bool) {
	args := words[1:]
	switch words[0] {
	case "echo":
		return strings.Join(args, " "), len(args) == 0 || !strings.HasPrefix(args[0], "-")
	case "seq":
		return sequence(args)
	}
	for len(args) > 1 && strings.HasPrefix(args[0], "-") {
		args = args[1:]
	}
	switch {
	case len(args) == 1 && words[0] == "dirname":
		return path.Dir(args[0]), true
	case len(args) == 1 && words[0] == "basename":
		return path.Base(args[0]), true
	case len(args) == 1 && (words[0] == "realpath" || words[0] == "readlink") && path.IsAbs(args[0]):
		return path.Clean(args[0]), true
	}
	return "", false
}

// sequence is seq LAST, seq FIRST LAST, or seq FIRST STEP LAST, of whole numbers.
func sequence(args []string) (string, bool) {
	numbers := []int{}
	for _, a := range args {
		n, err := strconv.Atoi(a)
		if err != nil {
			return "", false
		}
		numbers = append(numbers, n)
	}
	first, step, last := 1, 1, 0
	switch len(numbers) {
	case 1:
		last = numbers[0]
	case 2:
		first, last = numbers[0], numbers[1]
	case 3:
		first, step, last = numbers[0], numbers[1], numbers[2]
	default:
		return "", false
	}
	if step < 1 {
		return "", false
	}
	var lines []string
	for n := first; n <= last && len(lines) < longestSequence; n += step {
		lines = append(lines, strconv.Itoa(n))
	}
	return strings.Join(lines, "\n"), true
}
