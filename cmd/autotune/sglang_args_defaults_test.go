//go:build e2e

package main

import (
	"fmt"
	"strings"
	"testing"

	"autotune/runner/engine"
)

// TestSGLangArgsDefaults holds ResolvedDefault against what SGLang makes of a line with nothing but a model, on GPUs of several sizes.
func TestSGLangArgsDefaults(t *testing.T) {
	d, _ := engine.Find("sglang")
	for _, gpu := range []struct {
		name string
		mib  int
	}{{"V100", 16384}, {"4090", 24564}, {"L40S", 46068}, {"H200", h200MiB}, {"B200", 183359}} {
		host := engine.Host{GPUs: 8, GPU: gpu.name, MemoryGiB: float64(gpu.mib) / 1024}
		theirs := resolveSGLang(t, gpu.mib, [][]string{{"--model-path=llama-3.1-8b"}})[0]
		if theirs.Refused != "" {
			t.Fatalf("%s: %s (%s)", gpu.name, theirs.Refused, theirs.Where)
		}
		equal, unknown, other := 0, 0, []string{}
		for _, f := range d.Flags() {
			ours, known := d.ResolvedDefault(f.Name, host)
			value, there := theirs.Resolved[strings.ReplaceAll(f.Name, "-", "_")]
			switch {
			case !known || !there:
				unknown++
			case ours.String() == fmt.Sprint(value):
				equal++
			default:
				other = append(other, fmt.Sprintf("%s %s, SGLang %v", f.Name, ours, value))
			}
		}
		chunk, _ := d.ResolvedDefault("chunked-prefill-size", host)
		if chunk.String() != fmt.Sprint(theirs.Resolved["chunked_prefill_size"]) {
			t.Errorf("%s: chunked-prefill-size is %s with us, %v with SGLang", gpu.name, chunk, theirs.Resolved["chunked_prefill_size"])
		}
		fmt.Printf("%-5s %d MiB: chunked-prefill-size %s; %d defaults as ours, %d not known to us or without an argument of that name, %d other: %s\n",
			gpu.name, gpu.mib, chunk, equal, unknown, len(other), strings.Join(other, "; "))
	}
}
