// Package memory is the arithmetic of weights and KV cache: what a layout needs on each GPU, and whether it can fit; pure.
//
// It is made from a checkpoint's config.json and the headers of its safetensors files, or from the numbers of a config.json alone, the memory of a
// GPU, and the flags of a configuration. Every part is an interval: its lower end is what no engine can do without, its upper end what engines have
// been seen to take. Three answers follow: a configuration whose lower ends together exceed the GPU cannot fit; one whose upper ends fit does; anything
// between is uncertain, and worth a trial. docs/memory.md holds the sizes that engines printed in public logs against these.
//
// The law of the fake engine (tuner/law) has a memory of its own, fitted to published studies. This package knows nothing of it.
package memory
