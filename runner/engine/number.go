package engine

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"regexp"
	"strconv"
	"strings"
)

// suffixed is a number with a unit behind it: 16k, 25.6k, 1Ki.
var suffixed = regexp.MustCompile(`^(\d+(?:\.\d+)?)([kKmMgGtT])(i?)$`)

// powers are the exponents: 3 is 1000^1 or 1024^1 by unit.
var powers = map[byte]int64{'k': 1, 'm': 2, 'g': 3, 't': 4}

var errNotInt = errors.New("not an integer")

// engineWords is an error that reads as the engine's own.
type engineWords string

func (e engineWords) Error() string { return string(e) }

// readVLLM reads an integer as vLLM does: small suffixes are decimal (16k = 16000, 25.6k = 25600), capital ones binary (16K = 16384, whole numbers only).
func readVLLM(text string) (int64, error) {
	m := suffixed.FindStringSubmatch(strings.TrimSpace(text))
	if m == nil || m[3] != "" {
		return readInt(text)
	}
	unit := m[2][0]
	lower := unit | 0x20
	if unit == lower {
		return scaled(m[1], 1000, powers[lower])
	}
	if strings.Contains(m[1], ".") {
		return 0, engineWords(fmt.Sprintf("Decimals are not allowed with binary suffixes like %c. Did you mean to use %s%c instead?", unit, m[1], lower))
	}
	return scaled(m[1], 1024, powers[lower])
}

// readSGLang reads an integer as SGLang does: k or K is 1000, Ki is 1024.
func readSGLang(text string) (int64, error) {
	m := suffixed.FindStringSubmatch(strings.TrimSpace(text))
	if m == nil {
		return readInt(text)
	}
	base := int64(1000)
	if m[3] == "i" {
		base = 1024
	}
	return scaled(m[1], base, powers[m[2][0]|0x20])
}

// readInt reads a plain integer as Python's int() does, for the forms that people write: signs, blanks around, digits grouped by underscores.
func readInt(text string) (int64, error) {
	text = strings.TrimSpace(text)
	if strings.HasPrefix(text, "_") || strings.HasSuffix(text, "_") || strings.Contains(text, "__") {
		return 0, errNotInt
	}
	i, err := strconv.ParseInt(strings.ReplaceAll(text, "_", ""), 10, 64)
	if errors.Is(err, strconv.ErrRange) {
		return 0, fmt.Errorf("%s is beyond 64 bits", text)
	}
	if err != nil {
		return 0, errNotInt
	}
	return i, nil
}

// scaled multiplies exactly, and drops what is behind the point as Python's int() does.
func scaled(number string, base, power int64) (int64, error) {
	exact, ok := new(big.Rat).SetString(number)
	if !ok {
		return 0, errNotInt
	}
	factor := new(big.Int).Exp(big.NewInt(base), big.NewInt(power), nil)
	exact.Mul(exact, new(big.Rat).SetInt(factor))
	whole := new(big.Int).Quo(exact.Num(), exact.Denom())
	if !whole.IsInt64() {
		return 0, fmt.Errorf("%s is beyond 64 bits", number)
	}
	return whole.Int64(), nil
}

// readFloat reads what Python's float() reads, without inf and nan: no flag takes them.
func readFloat(text string) (float64, error) {
	f, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || math.IsInf(f, 0) || math.IsNaN(f) {
		return 0, errors.New("not a number")
	}
	return f, nil
}
