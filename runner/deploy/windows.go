package deploy

import (
	"regexp"
	"strings"
)

// goesOnWindows ends a line that goes on: a backtick in PowerShell, a caret in a batch file.
var (
	goesOnPowerShell = regexp.MustCompile("(?m)[ \t]`[ \t]*$")
	goesOnBatch      = regexp.MustCompile(`(?m)[ \t]\^[ \t]*$`)
	batchSet         = regexp.MustCompile(`(?im)^[ \t]*@?set[ \t]+"?([A-Za-z_][A-Za-z0-9_]*)=([^"\n]*)"?[ \t]*$`)
	batchUse         = regexp.MustCompile(`%([A-Za-z_][A-Za-z0-9_]*)%`)
	batchRemark      = regexp.MustCompile(`(?im)^[ \t]*@?(rem\b|::|echo off\b).*$`)
	powerShellSet    = regexp.MustCompile(`(?m)^[ \t]*\$(?:env:)?([A-Za-z_][A-Za-z0-9_]*)[ \t]*=[ \t]*("[^"$\n]*"|'[^'\n]*'|[0-9.]+)[ \t]*$`)
	powerShellUse    = regexp.MustCompile(`\$env:([A-Za-z_][A-Za-z0-9_]*)`)
)

// posix writes a script of PowerShell or of the Windows command line as a POSIX shell would have it, line by line, and says that it did: what such scripts
// do to start a server, setting variables and going on in the next line, has the same meaning in other signs.
func posix(text string, first int) (string, []Note) {
	var said, sign string
	switch {
	case goesOnPowerShell.MatchString(text) && !strings.Contains(goesOnPowerShell.ReplaceAllString(text, ""), "`"):
		said, sign = "PowerShell", "`"
		text = goesOnPowerShell.ReplaceAllString(text, ` \`)
		text = powerShellSet.ReplaceAllString(text, "export $1=$2")
		text = powerShellUse.ReplaceAllString(text, "$${$1}")
	case goesOnBatch.MatchString(text) || batchUse.MatchString(text) && batchSet.MatchString(text):
		said, sign = "the Windows command line", "^"
		text = batchRemark.ReplaceAllString(text, "")
		text = batchSet.ReplaceAllString(text, "export $1='$2'")
		text = batchUse.ReplaceAllString(text, "$${$1}")
		text = goesOnBatch.ReplaceAllString(text, ` \`)
	default:
		return text, nil
	}
	return text, []Note{{first, "this is written for " + said + ", where " + sign + " ends a line that goes on: it is read so"}}
}
