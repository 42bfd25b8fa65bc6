package fake

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// faults are the failures that were ordered, by name.
type faults map[string]string

// Kinds of arguments of a fault.
const (
	argNone     = "no argument"
	argCount    = "a count of requests"
	argShare    = "a share, more than 0 and at most 1"
	argDuration = "a duration like 5s"
	argPhase    = "load, profile or capture"
	argFlag     = "a flag's name"
	argExit     = "an exit status, or a negative signal number"
	argOrphan   = "group or session"
	argSetting  = "FLAG=VALUE"
)

// Fault is one way in which a fake engine fails on demand.
type Fault struct {
	Name     string
	Argument string
	Default  string // the argument when none is given; empty: it must be given, unless it takes none
}

// Faults lists every fault; Help says what each does.
func Faults() []Fault {
	return []Fault{
		{"address-in-use", argNone, ""},
		{"reject-flag", argFlag, "no-such-flag"},
		{"oom-start", argPhase, "profile"},
		{"hang-start", argNone, ""},
		{"slow-start", argDuration, ""},
		{"log-oom-but-alive", argCount, "0"},
		{"wrong-model-name", argNone, ""},
		{"silent", argNone, ""},
		{"health-200-but-hangs", argNone, ""},
		{"hang-serve", argCount, ""},
		{"oom-load", argCount, ""},
		{"crash-after", argCount, ""},
		{"rank-dies", argCount, ""},
		{"exit-code", argExit, ""},
		{"refuse", argShare, ""},
		{"stream-error", argShare, ""},
		{"abort", argShare, ""},
		{"truncate", argShare, ""},
		{"cut", argShare, ""},
		{"empty", argShare, ""},
		{"lengths", argShare, ""},
		{"bundle", argCount, ""},
		{"ignore-sigterm", argNone, ""},
		{"orphan", argOrphan, "group"},
		{"resolve", argSetting, ""},
	}
}

func (f *faults) add(text string) error {
	name, arg, given := strings.Cut(text, "=")
	all := Faults()
	i := slices.IndexFunc(all, func(f Fault) bool { return f.Name == name })
	if i < 0 {
		names := make([]string, len(all))
		for i, f := range all {
			names[i] = f.Name
		}
		return fmt.Errorf("unknown fault %q: allowed are %s", name, strings.Join(names, ", "))
	}
	if !given {
		arg = all[i].Default
	}
	if !validArgument(all[i].Argument, arg) {
		return fmt.Errorf("fault %s takes %s, not %q", name, all[i].Argument, arg)
	}
	if *f == nil {
		*f = faults{}
	}
	(*f)[name] = arg
	return nil
}

func validArgument(kind, arg string) bool {
	switch kind {
	case argCount:
		n, err := strconv.Atoi(arg)
		return err == nil && n >= 0
	case argExit:
		n, err := strconv.Atoi(arg)
		return err == nil && n > -65 && n < 256
	case argShare:
		x, err := strconv.ParseFloat(arg, 64)
		return err == nil && x > 0 && x <= 1
	case argDuration:
		d, err := time.ParseDuration(arg)
		return err == nil && d >= 0
	case argPhase:
		return slices.Contains([]string{"load", "profile", "capture"}, arg)
	case argOrphan:
		return arg == "group" || arg == "session"
	case argSetting:
		flag, value, ok := strings.Cut(arg, "=")
		return ok && flag != "" && value != ""
	case argFlag:
		return arg != ""
	default:
		return arg == ""
	}
}

func (f faults) has(name string) bool { _, ok := f[name]; return ok }

// count is the argument of a fault that takes a count; -1 when the fault was not ordered.
func (f faults) count(name string) int {
	n, err := strconv.Atoi(f[name])
	if err != nil {
		return -1
	}
	return n
}

// delay is slow-start's argument.
func (f faults) delay() time.Duration { d, _ := time.ParseDuration(f["slow-start"]); return d }

// ofRequest are the faults that befall a share of the requests; the first that applies is the one.
var ofRequest = []string{"refuse", "stream-error", "abort", "truncate", "cut", "empty", "lengths"}

// fate is the fault that befalls the nth request; empty for none. Of n requests a share s befalls exactly floor(n*s), evenly spread,
// and never the first one unless s is 1, so that a readiness probe passes.
func (f faults) fate(n int) string {
	for _, name := range ofRequest {
		share, err := strconv.ParseFloat(f[name], 64)
		if err == nil && math.Floor(float64(n+1)*share+1e-9) > math.Floor(float64(n)*share+1e-9) {
			return name
		}
	}
	return ""
}
