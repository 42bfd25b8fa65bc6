package deploy

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"
)

// Shell writes the command so that pasting it into a POSIX shell runs exactly Argv in an environment that has Env: a block of comments
// where it is known what was measured, then one flag a line. A secret is taken from the shell's own environment, and its absence is an error
// there. An export without arguments is empty.
func Shell(e Export) string {
	if len(e.Argv) == 0 {
		return ""
	}
	var b strings.Builder
	env, secrets := e.open()
	for _, line := range append(e.comment(), secretComment(secrets)...) {
		b.WriteString("# " + oneLine(line) + "\n")
	}
	lines := assignments(env, secrets)
	for i, words := range byFlag(e.Argv) {
		if i == 0 {
			lines = append(lines, ShellLine(words))
		} else {
			lines = append(lines, "  "+quoteAll(words))
		}
	}
	b.WriteString(strings.Join(lines, " \\\n"))
	return b.String() + "\n"
}

// assignments are the words in front of the command, a line each. Names that a shell cannot assign to need env(1).
func assignments(env, secrets []string) []string {
	var lines []string
	plain := true
	for _, name := range secrets {
		if shellName.MatchString(name) {
			lines = append(lines, name+`="${`+name+`:?is a secret that the engine needs: export it first}"`)
		}
	}
	for _, v := range env {
		name, value, _ := strings.Cut(v, "=")
		plain = plain && shellName.MatchString(name)
		lines = append(lines, quote(name)+"="+quote(value))
	}
	if !plain {
		lines = append([]string{"env"}, lines...)
	}
	return lines
}

// EnvBlock writes the environment as lines of a POSIX shell: export NAME=VALUE. Secrets are comments.
func EnvBlock(e Export) string {
	var b strings.Builder
	env, secrets := e.open()
	for _, line := range secretComment(secrets) {
		b.WriteString("# " + oneLine(line) + "\n")
	}
	for _, v := range env {
		name, value, _ := strings.Cut(v, "=")
		if shellName.MatchString(name) {
			fmt.Fprintf(&b, "export %s=%s\n", name, quote(value))
		} else {
			b.WriteString("# " + oneLine(v) + " (no shell can export this name)\n")
		}
	}
	return b.String()
}

// comment says what the command is and what it was measured to do.
func (e Export) comment() []string {
	var lines []string
	if m := e.Measured; m != nil {
		value := strconv.FormatFloat(m.Value, 'f', -1, 64)
		if m.Value >= 100 || m.Value <= -100 {
			value = strconv.FormatFloat(m.Value, 'f', 0, 64)
		}
		line := fmt.Sprintf("%s, trial %d: %s %s", m.Study, m.Trial, m.Metric, strings.TrimSpace(value+" "+m.Unit))
		if m.Gain != "" {
			line += ", " + m.Gain
		}
		lines = append(lines, line)
		if m.Note != "" {
			lines = append(lines, m.Note)
		}
	}
	if e.Model != "" && e.Measured != nil {
		lines = append(lines, "Model: "+e.Model)
	}
	if by := e.made(); by != "" {
		lines = append(lines, by)
	}
	return lines
}

// made says with what versions, and on what, the figure was measured.
func (e Export) made() string {
	if e.Measured == nil {
		return ""
	}
	var parts []string
	if e.Engine != "" {
		parts = append(parts, strings.TrimSpace(e.Engine+" "+e.EngineVersion))
	}
	if e.Measured.Hardware != "" {
		parts = append(parts, "on "+e.Measured.Hardware)
	}
	if e.Measured.Autotune != "" {
		parts = append(parts, "by autotune "+e.Measured.Autotune)
	}
	if len(parts) == 0 {
		return ""
	}
	return "Measured with " + strings.Join(parts, " ")
}

func secretComment(secrets []string) []string {
	if len(secrets) == 0 {
		return nil
	}
	return []string{"Needs " + strings.Join(secrets, ", ") + " in the environment: secrets are not shown"}
}

// byFlag groups the words: the executable with what follows it, then each flag with its values.
func byFlag(argv []string) [][]string {
	var groups [][]string
	for i, word := range argv {
		if i == 0 || strings.HasPrefix(word, "--") || len(word) > 1 && word[0] == '-' && len(groups) > 1 {
			groups = append(groups, nil)
		}
		groups[len(groups)-1] = append(groups[len(groups)-1], word)
	}
	return groups
}

var (
	shellName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	// plainWord means the same in every POSIX shell whether it is quoted or not. A leading = is expanded by some.
	plainWord = regexp.MustCompile(`^[A-Za-z0-9_@%+:,./-][A-Za-z0-9_@%+=:,./-]*$`)
	keyword   = regexp.MustCompile(`^(if|then|else|elif|fi|do|done|case|esac|while|until|for|in|select|function|time|coproc)$`)
)

// quote writes a word so that a shell reads exactly its bytes.
func quote(word string) string {
	if plainWord.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// quoteCommand also keeps the first word from being read as an assignment or a keyword.
func quoteCommand(word string) string {
	if strings.Contains(word, "=") || keyword.MatchString(word) {
		return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	}
	return quote(word)
}

// ShellLine writes a command so that a POSIX shell runs exactly these words.
func ShellLine(argv []string) string {
	if len(argv) == 0 {
		return ""
	}
	return strings.TrimSpace(quoteCommand(argv[0]) + " " + quoteAll(argv[1:]))
}

func quoteAll(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = quote(w)
	}
	return strings.Join(quoted, " ")
}

// oneLine keeps a comment a comment, whatever stands in a study's name.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, s)
}
