// Package secret tells what is likely to be a secret: a token, a password, a private key. A spec refuses it and a record leaves it out, by one rule.
package secret

import (
	"regexp"
	"strings"
)

// Redacted stands for a secret.
const Redacted = "***"

// Shortest is the length in bytes below which a value is too common to be looked for in a text: true, 1.
const Shortest = 6

var (
	// strongName ends a word of a name that holds a secret: HF_TOKEN does, MAX_DISPATCH_TOKENS does not.
	strongName = regexp.MustCompile(`(?i)(TOKEN|KEY|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?|(^|_)DATABASE_URL|(^|_)DSN)(_|$)`)
	// weakName has other meanings too (FIRST_PASS=1), so it counts only with a value long enough for a secret.
	weakName = regexp.MustCompile(`(?i)(^|_)(PAT|(PG)?PASS|PWD)(_|$)`)
	// token are the published forms of tokens: Hugging Face, OpenAI and its like, GitHub, Slack, AWS, GitLab, and JSON web tokens.
	token = regexp.MustCompile(`\b(hf_[A-Za-z0-9]{16,}|sk-[A-Za-z0-9_-]{20,}|gh[oprsu]_[A-Za-z0-9]{16,}|github_pat_[A-Za-z0-9_]{16,}|` +
		`xox[abeprs]-[A-Za-z0-9-]{10,}|(AKIA|ASIA)[0-9A-Z]{16}|glpat-[A-Za-z0-9_-]{16,}|eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(\.[A-Za-z0-9_-]*)?)`)
	// login is the user and the password in a URL.
	login = regexp.MustCompile(`(://)[^\s/@:"']*:[^\s/"']+@`)
)

// Variable tells whether NAME=VALUE is likely to hold a secret, by its name or by its value. An empty value holds none; PWD and OLDPWD are folders.
func Variable(name, value string) bool {
	switch {
	case value == "" || name == "PWD" || name == "OLDPWD":
		return false
	case strongName.MatchString(name) || weakName.MatchString(name) && len(value) >= Shortest:
		return true
	default:
		return Value(value)
	}
}

// Value tells whether a text holds something of a secret's form: a known token, or a URL with a password.
func Value(text string) bool { return token.MatchString(text) || login.MatchString(text) }

// Redact removes from a text whatever has a secret's form.
func Redact(text string) string {
	if strings.Contains(text, "://") {
		text = login.ReplaceAllString(text, "${1}"+Redacted+"@")
	}
	return token.ReplaceAllLiteralString(text, Redacted)
}
