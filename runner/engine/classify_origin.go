package engine

import (
	"regexp"
	"slices"
	"strings"
)

// ownCheck is an exception by which code says that it was called as it must not be.
var ownCheck = regexp.MustCompile(`^(?:AssertionError|NotImplementedError)\b|^(?:RuntimeError|ValueError|TypeError): .*(?:must (?:be|have|match|equal)|should (?:be|have)|[Ee]xpected .* (?:but|got)|mismatch|not supported|unsupported|size of tensor|shapes? .* (?:cannot|invalid)|same (?:shape|size|dtype|device))`)

// explainedBefore tells whether a refusal by the engine's own code stands before a line that only echoes a failure: that is then the cause.
func (log *engineLog) explainedBefore(at int) bool {
	r := log.exception()
	return r.own && r.at < at && ownCheck.MatchString(r.text) && !passing.MatchString(r.text)
}

// lacking is an exception by which Python says that a package has not what another asks of it.
var lacking = regexp.MustCompile(`^(?:AttributeError|ImportError|NameError)\b|^TypeError: .*(?:unexpected keyword argument|positional arguments? but)`)

// packageOf reads the package from a frame's path.
var packageOf = regexp.MustCompile(`/(?:site|dist)-packages/(\w+)[/.]`)

// origin is the package in which the exception at a line was raised, by the last frame above it; empty: unknown.
func (log *engineLog) origin(at int) string {
	if at < 0 {
		return ""
	}
	name := ""
	log.above(at, deepTraceback, func(l logLine) bool {
		if !strings.HasPrefix(l.text, `  File "`) {
			return !strings.Contains(l.text, tracebackHead)
		}
		if m := packageOf.FindStringSubmatch(l.text); m != nil {
			name = m[1]
		}
		return false
	})
	return name
}

// foreignCode tells whether an exception comes from a package beside the engine that lacks what it is asked for. A part that a model lacks is
// missed in PyTorch, too, and is no matter of versions.
func foreignCode(exception, origin string) bool {
	if origin == "torch" && strings.Contains(exception, "object has no attribute") {
		return false
	}
	return lacking.MatchString(exception) && origin != "" && origin != "vllm" && origin != "sglang"
}

// kernelPackages are those in which an exception means that a kernel does not take this shape, type or GPU.
var kernelPackages = []string{"flashinfer", "sgl_kernel", "deep_gemm", "deep_ep", "flash_attn", "vllm_flash_attn", "flash_mla", "aiter", "cutlass", "triton_kernels", "fla"}

// refusedByCode tells whether the engine's own checks, or its kernels, refused what they were called with.
func refusedByCode(exception, origin string) bool {
	return ownCheck.MatchString(exception) || slices.Contains(kernelPackages, origin) && refuses(exception)
}
