//go:build e2e

package main

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"autotune/runner/engine"
	"autotune/space"
)

// TestSGLangArgsDefaults holds ResolvedDefault against what SGLang makes of a line with nothing but a model, on GPUs of several sizes. It fails on
// the flags that matter for tuning: their defaults are rewritten to the flag left out.
func TestSGLangArgsDefaults(t *testing.T) {
	d, _ := engine.Find("sglang")
	for _, mib := range []int{16384, 24564, 46068, h200MiB, 183359} {
		host := engine.Host{GPUs: 8, GPU: "H200", MemoryGiB: float64(mib) / 1024}
		theirs := resolveSGLang(t, mib, [][]string{{"--model-path=llama-3.1-8b"}})[0]
		if theirs.Refused != "" {
			t.Fatalf("%d MiB: %s (%s)", mib, theirs.Refused, theirs.Where)
		}
		equal, unknown, other := 0, 0, []string{}
		for _, f := range d.Flags() {
			ours, known := d.ResolvedDefault(f.Name, host)
			value, there := theirs.Resolved[strings.ReplaceAll(f.Name, "-", "_")]
			switch {
			case !known || !there:
				unknown++
			case agrees(ours, value):
				equal++
			case f.Help != "":
				t.Errorf("%d MiB: %s is %s with us, %v with SGLang", mib, f.Name, ours, value)
			default:
				other = append(other, fmt.Sprintf("%s %s, SGLang %v", f.Name, ours, value))
			}
		}
		chunk, _ := d.ResolvedDefault("chunked-prefill-size", host)
		fmt.Printf("%d MiB: chunked-prefill-size %s; %d defaults as ours, %d not known to us or without an argument of that name, %d other: %s\n",
			mib, chunk, equal, unknown, len(other), strings.Join(other, "; "))
	}
}

// agrees tells whether a default of ours is the argument that SGLang resolved, whatever the spelling of numbers.
func agrees(ours space.Value, theirs any) bool {
	if number, ok := theirs.(float64); ok {
		x, err := strconv.ParseFloat(ours.String(), 64)
		return err == nil && x == number
	}
	return ours.String() == fmt.Sprint(theirs)
}
