package memory

import (
	"strings"
	"unicode"
)

// gpus holds the memory of one GPU in GiB as its driver reports it (nvidia-smi, MiB / 1024). Of a name
// that stands for several sizes it is the largest, so that nothing is taken for too large.
var gpus = []struct {
	name string
	gib  float64
}{
	{"H200", 140.4}, {"H100", 79.6}, {"H100 NVL", 93.6}, {"H800", 79.6}, {"H20", 95.6}, {"H20-3E", 140.4}, {"GH200", 140.4}, {"B200", 179.1}, {"A100", 80}, {"A800", 80},
	{"A100-40GB", 40}, {"L40S", 45}, {"L40", 45}, {"L20", 45}, {"L4", 22.5}, {"A10", 22.5}, {"A10G", 22.5}, {"A40", 45}, {"A6000", 48}, {"RTX 6000 ADA", 48}, {"RTX PRO 6000", 95.6},
	{"RTX 3090", 24}, {"RTX 4090", 24}, {"RTX 5090", 31.8}, {"V100", 32}, {"T4", 15},
}

// MemoryOf is the memory in GiB of a GPU by its name, as "H200" or "NVIDIA H200"; ok is false for a name that is not known.
func MemoryOf(name string) (gib float64, ok bool) {
	name = words(name)
	length := 0
	for _, g := range gpus {
		if strings.Contains(name, words(g.name)) && len(g.name) > length {
			gib, ok, length = g.gib, true, len(g.name)
		}
	}
	return gib, ok
}

// words parts a name at everything that is neither letter nor digit, so that an L4 is not found in an L40.
func words(name string) string {
	return " " + strings.Join(strings.FieldsFunc(strings.ToUpper(name), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }), " ") + " "
}

// Names lists the GPUs whose memory is known.
func Names() []string {
	var names []string
	for _, g := range gpus {
		names = append(names, g.name)
	}
	return names
}
