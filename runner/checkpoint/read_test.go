package checkpoint

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"autotune/tuner/memory"
)

const tiny = `{"model_type": "llama", "num_hidden_layers": 2, "hidden_size": 8, "vocab_size": 10, "num_attention_heads": 2, "num_key_value_heads": 1, "intermediate_size": 16, "max_position_embeddings": 64}`

func write(t *testing.T, folder, name, text string) {
	t.Helper()
	path := filepath.Join(folder, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// safetensors is a file with this header, and no data behind it.
func safetensors(header string) string {
	var length [8]byte
	binary.LittleEndian.PutUint64(length[:], uint64(len(header)))
	return string(length[:]) + header
}

const header = `{"__metadata__": {"format": "pt"},
"model.embed_tokens.weight": {"dtype": "BF16", "shape": [10, 8], "data_offsets": [0, 160]},
"model.layers.0.self_attn.q_proj.weight": {"dtype": "F8_E4M3", "shape": [8, 8], "data_offsets": [160, 224]},
"model.layers.0.self_attn.k_proj.weight": {"dtype": "F8_E4M3", "shape": [4, 8], "data_offsets": [224, 256]},
"model.layers.0.mlp.up_proj.weight": {"dtype": "F32", "shape": [16, 8], "data_offsets": [256, 768]},
"model.layers.0.mlp.experts.3.up_proj.weight": {"dtype": "BF16", "shape": [1, 8], "data_offsets": [768, 784]},
"model.layers.0.mlp.shared_experts.up_proj.weight": {"dtype": "BF16", "shape": [1, 8], "data_offsets": [784, 800]},
"model.layers.0.input_layernorm.weight": {"dtype": "BF16", "shape": [8], "data_offsets": [800, 816]},
"model.layers.2.mlp.up_proj.weight": {"dtype": "BF16", "shape": [1, 8], "data_offsets": [816, 832]},
"lm_head.weight": {"dtype": "BF16", "shape": [10, 8], "data_offsets": [832, 992]}}`

func TestReadTakesTheBytesOfTheFiles(t *testing.T) {
	folder := t.TempDir()
	write(t, folder, "config.json", tiny)
	write(t, folder, "model.safetensors", safetensors(header))
	m, err := Read(folder)
	if err != nil {
		t.Fatal(err)
	}
	want := memory.Weights{Embedding: 160, Attention: 64, KeyValue: 32, Dense: 256, Experts: 16, Shared: 16, Replicated: 16, Draft: 16, Head: 160, Exact: true}
	if m.Weights != want || m.Layers != 2 || m.Context != 64 || !m.KnownCache {
		t.Errorf("%+v", m)
	}
}

func TestReadFallsBackToTheIndexAndTheGeometry(t *testing.T) {
	folder := t.TempDir()
	write(t, folder, "config.json", tiny)
	alone, err := Read(folder)
	if err != nil || alone.Weights.Total() == 0 || alone.Weights.Exact {
		t.Fatalf("%+v %v", alone, err)
	}
	write(t, folder, "model.safetensors.index.json", `{"metadata": {"total_size": 1000000}, "weight_map": {"a": "model-00001-of-00002.safetensors", "b": "model-00002-of-00002.safetensors"}}`)
	write(t, folder, "model-00001-of-00002.safetensors", safetensors(header))
	index, err := Read(folder) // a file is missing
	if err != nil || index.Weights.Total() < 999_000 || index.Weights.Total() > 1_000_000 || index.Weights.Exact {
		t.Errorf("%+v %v", index, err)
	}
	write(t, folder, "model-00002-of-00002.safetensors", safetensors(header))
	if all, err := Read(folder); err != nil || !all.Weights.Exact {
		t.Errorf("%+v %v", all, err)
	}
}

func TestReadRefusesWhatIsNoCheckpoint(t *testing.T) {
	if _, err := Read(t.TempDir()); !errors.Is(err, ErrNone) {
		t.Errorf("an empty folder: %v", err)
	}
	for _, c := range []struct{ name, file, text, want string }{
		{"config.json", "model.safetensors", "", "too short"},
		{"config.json", "model.safetensors", "version https://git-lfs.github.com/spec/v1\n", "Git LFS pointer"},
		{"config.json", "model.safetensors", "\xff\xff\xff\xff\xff\xff\xff\x7f", "no safetensors file"},
		{"config.json", "model.safetensors", "\x10\x00\x00\x00\x00\x00\x00\x00{}", "cut off"},
		{"config.json", "model.safetensors", safetensors("[]"), "not JSON"},
		{"config.json", "model.safetensors", safetensors(`{"a": {"dtype": "F32", "shape": [1], "data_offsets": [4, 0]}}`), "no place"},
		{"config.json", "model.safetensors", safetensors("{}"), "no tensor"},
		{"config.json", "model.safetensors.index.json", `{"weight_map": {"a": "../../etc/passwd"}}`, "outside"},
		{"config.json", "model.safetensors.index.json", `[]`, "index.json"},
	} {
		folder := t.TempDir()
		write(t, folder, c.name, tiny)
		write(t, folder, c.file, c.text)
		if _, err := Read(folder); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %s", c.text, err, c.want)
		}
	}
	for text, want := range map[string]string{"": "JSON", "[]": "JSON", "{}": "num_hidden_layers", strings.Replace(tiny, `"hidden_size": 8`, `"hidden_size": 99999999`, 1): "no model"} {
		folder := t.TempDir()
		write(t, folder, "config.json", text)
		if _, err := Read(folder); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func TestCachedFindsTheSnapshot(t *testing.T) {
	hub := t.TempDir()
	write(t, hub, "models--org--name/refs/main", "abc\n")
	if got := Cached(hub, "org/name"); got != "" {
		t.Errorf("without a config: %s", got)
	}
	write(t, hub, "models--org--name/snapshots/abc/config.json", tiny)
	if got := Cached(hub, "org/name"); got != filepath.Join(hub, "models--org--name/snapshots/abc") {
		t.Errorf("%s", got)
	}
	// Without its branch the latest counts, and one without a config does not.
	write(t, hub, "models--org--name/snapshots/def/config.json", tiny)
	write(t, hub, "models--org--name/snapshots/zzz/other.json", tiny)
	for i, name := range []string{"abc", "def", "zzz"} {
		at := time.Date(2026, 1, 3-i, 0, 0, 0, 0, time.UTC)
		if err := os.Chtimes(filepath.Join(hub, "models--org--name/snapshots", name), at, at); err != nil {
			t.Fatal(err)
		}
	}
	write(t, hub, "models--org--name/refs/main", "def")
	if got := Cached(hub, "org/name"); filepath.Base(got) != "def" {
		t.Errorf("with a branch: %s", got)
	}
	if err := os.RemoveAll(filepath.Join(hub, "models--org--name/refs")); err != nil {
		t.Fatal(err)
	}
	if got := Cached(hub, "org/name"); filepath.Base(got) != "abc" {
		t.Errorf("without a branch: %s", got)
	}
	for _, other := range []string{"name", "../org/name", "org/name/x", "org/other", ""} {
		if got := Cached(hub, other); got != "" {
			t.Errorf("%s: %s", other, got)
		}
	}
}
