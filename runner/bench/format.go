package bench

import (
	"fmt"
	"strconv"
	"strings"
)

// format is the version that a tool's files say they have. A later one may mean something else by the same names, which no look at figures would show.
type format struct {
	path string // where it stands: a number, or numbers with points between; empty: the tool's files do not say
	most int    // the highest first number that is known
}

// check refuses a file of a format that is not known. One that says no version is of before there was one.
func (f format) check(doc document, title string) *Refusal {
	if f.path == "" {
		return nil
	}
	v, there := doc.at(f.path)
	if !there || v == nil {
		return nil
	}
	first, _, _ := strings.Cut(fmt.Sprint(v), ".")
	if n, err := strconv.Atoi(first); err == nil && n >= 0 && n <= f.most {
		return nil
	}
	return refuse("schema", "%s is %v, and this version of autotune knows files of %s up to %d: figures of the same name may mean something else there", f.path, v, title, f.most)
}
