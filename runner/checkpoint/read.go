package checkpoint

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"autotune/tuner/memory"
)

// Bounds of what is read: the format allows headers of 100 MB, and no config.json is as long as this.
const (
	maxHeader = 100_000_000
	maxText   = 64 << 20
)

// ErrNone says that the folder is none of a checkpoint: it has no config.json.
var ErrNone = errors.New("no config.json")

// Read reads the geometry and the weights of the checkpoint in a folder. Without its safetensors files the weights are those of their index, without
// that those of the geometry. The error names the file that cannot be read; ErrNone is in it where there is no config.json.
func Read(folder string) (memory.Model, error) {
	text, err := readText(filepath.Join(folder, "config.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return memory.Model{}, fmt.Errorf("%s: %w", folder, ErrNone)
	}
	if err != nil {
		return memory.Model{}, err
	}
	m, err := memory.ReadConfig(text)
	if err != nil {
		return memory.Model{}, fmt.Errorf("%s: %w", filepath.Join(folder, "config.json"), err)
	}
	files, total, err := weightFiles(folder)
	if err != nil {
		return memory.Model{}, err
	}
	if len(files) == 0 {
		return m.WithTotal(total), nil
	}
	var tensors []memory.Tensor
	for _, f := range files {
		more, err := readHeader(f)
		if err != nil {
			return memory.Model{}, fmt.Errorf("%s: %w", f, err)
		}
		tensors = append(tensors, more...)
	}
	return m.WithTensors(tensors), nil
}

// weightFiles lists the safetensors files that hold the weights, none when one of them is missing, and what the index says they hold together.
func weightFiles(folder string) (files []string, total int64, err error) {
	text, err := readText(filepath.Join(folder, "model.safetensors.index.json"))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		one := filepath.Join(folder, "model.safetensors")
		if _, err := os.Stat(one); err != nil {
			return nil, 0, nil
		}
		return []string{one}, 0, nil
	case err != nil:
		return nil, 0, err
	}
	total, names, err := memory.ReadIndex(text)
	if err != nil {
		return nil, 0, fmt.Errorf("%s: %w", folder, err)
	}
	slices.Sort(names)
	for _, name := range names {
		path := filepath.Join(folder, name)
		if filepath.Base(name) != name {
			return nil, 0, fmt.Errorf("%s: the index names a file outside of the folder: %q", folder, name)
		}
		if _, err := os.Stat(path); err != nil {
			return nil, total, nil
		}
		files = append(files, path)
	}
	return files, total, nil
}

func readText(path string) (text []byte, err error) {
	f, err := openRegular(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	text, err = io.ReadAll(io.LimitReader(f, maxText+1))
	if err == nil && len(text) > maxText {
		err = fmt.Errorf("%s is longer than %d bytes", path, maxText)
	}
	return text, err
}

// openRegular opens a file that has an end.
func openRegular(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no regular file", path)
	}
	return os.Open(path)
}

// lfsPointer begins a file that Git LFS has put in the place of the real one.
const lfsPointer = "version https://git-lfs"

// readHeader reads the header of one safetensors file: its length in 8 bytes, then JSON.
func readHeader(path string) (tensors []memory.Tensor, err error) {
	f, err := openRegular(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	var length [8]byte
	if _, err := io.ReadFull(f, length[:]); err != nil {
		return nil, errors.New("too short for a safetensors file")
	}
	if strings.HasPrefix(lfsPointer, string(length[:])) {
		return nil, errors.New("a Git LFS pointer, not the weights: git lfs pull brings them")
	}
	n := binary.LittleEndian.Uint64(length[:])
	if n > maxHeader {
		return nil, fmt.Errorf("no safetensors file: its header would be %d bytes", n)
	}
	text, err := io.ReadAll(io.LimitReader(f, int64(n)))
	if err != nil {
		return nil, err
	}
	if uint64(len(text)) < n {
		return nil, errors.New("cut off in its header")
	}
	return memory.ReadHeader(text)
}

// Cached is the folder of a model's snapshot in a Hugging Face cache: the one that its branch main names, else, where a download by revision left no such
// name, the latest; empty when there is none with a config.json. hub is the cache's folder.
func Cached(hub, model string) string {
	owner, name, ok := strings.Cut(model, "/")
	if !ok || strings.ContainsAny(name, "/\\") || strings.HasPrefix(owner, ".") || hub == "" {
		return ""
	}
	root := filepath.Join(hub, "models--"+owner+"--"+name)
	snapshots := filepath.Join(root, "snapshots")
	if text, err := readText(filepath.Join(root, "refs", "main")); err == nil {
		folder := filepath.Join(snapshots, filepath.Base(strings.TrimSpace(string(text))))
		if _, err := os.Stat(filepath.Join(folder, "config.json")); err == nil {
			return folder
		}
	}
	entries, err := os.ReadDir(snapshots) // sorted by name: of equally old ones the last
	if err != nil {
		return ""
	}
	latest, at := "", time.Time{}
	for _, e := range entries {
		folder := filepath.Join(snapshots, e.Name())
		info, err := os.Stat(folder)
		if err != nil || info.ModTime().Before(at) {
			continue
		}
		if _, err := os.Stat(filepath.Join(folder, "config.json")); err == nil {
			latest, at = folder, info.ModTime()
		}
	}
	return latest
}
