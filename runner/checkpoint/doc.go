// Package checkpoint reads from a checkpoint's folder what its memory is computed from: config.json, and the headers of its safetensors files.
package checkpoint
