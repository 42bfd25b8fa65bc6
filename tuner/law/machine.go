package law

import "strings"

// gpu is what a data sheet says of a GPU.
type gpu struct {
	name      string
	memory    float64 // GiB as the driver reports it
	bandwidth float64 // bytes/s of its memory
	flops     float64 // dense bf16 FLOP/s; fp8 has twice that where hasFP8
	hasFP8    bool
	link      float64 // bytes/s to the other GPUs, one direction
}

// gpus holds the figures of the makers' data sheets, dense (without sparsity).
var gpus = []gpu{
	{"H200", 140.4, 4.8e12, 989e12, true, 450e9},
	{"H100", 79.6, 3.35e12, 989e12, true, 450e9},
	{"H20", 95.6, 4.0e12, 148e12, true, 450e9},
	{"B200", 178.4, 8.0e12, 2250e12, true, 900e9},
	{"A100", 79.2, 2.04e12, 312e12, false, 300e9},
	{"L40S", 44.4, 0.864e12, 362e12, true, 32e9},
	{"L4", 22.0, 0.3e12, 121e12, true, 16e9},
	{"A10", 22.0, 0.6e12, 125e12, false, 16e9},
	{"RTX 4090", 23.5, 1.01e12, 165e12, true, 16e9},
}

// sheet finds a GPU by its marketing name ("NVIDIA H200"); an unknown one is taken for an H100.
func sheet(name string) gpu {
	upper := strings.ToUpper(name)
	best := gpus[1]
	length := 0
	for _, g := range gpus {
		if strings.Contains(upper, g.name) && len(g.name) > length {
			best, length = g, len(g.name)
		}
	}
	return best
}

// GPUMemory is the memory in GiB, as the driver reports it, of a GPU that the law has a data sheet of; ok is false for any other.
func GPUMemory(name string) (gib float64, ok bool) {
	for _, g := range gpus {
		if strings.Contains(strings.ToUpper(name), g.name) {
			return sheet(name).memory, true
		}
	}
	return 0, false
}

// GPUNames are the GPUs that the law has data sheets of.
func GPUNames() []string {
	var names []string
	for _, g := range gpus {
		names = append(names, g.name)
	}
	return names
}

// complete fills in what was left out: eight GPUs at most, one at least, memory as on the data sheet.
func (m Machine) complete() Machine {
	if m.GPU == "" {
		m.GPU = "H200"
	}
	m.GPUs = min(max(m.GPUs, 1), 8)
	if m.MemoryGiB <= 0 {
		m.MemoryGiB = sheet(m.GPU).memory
	}
	return m
}
