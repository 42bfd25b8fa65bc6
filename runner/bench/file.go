package bench

import (
	"errors"
	"os"
)

// MostBytes bounds a result file: with the texts of a hundred thousand long requests it may have some GB, with more something is wrong.
const MostBytes = 4 << 30

// What is no result file.
var (
	ErrFolder = errors.New("is a folder")
	ErrNoFile = errors.New("is no regular file of at most 4 GiB")
)

// ReadFile reads a result file. The error is ErrFolder, ErrNoFile, or the system's own, such as fs.ErrNotExist.
func ReadFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, ErrFolder
	case !info.Mode().IsRegular() || info.Size() > MostBytes:
		return nil, ErrNoFile
	}
	return os.ReadFile(path)
}
