package metric

import (
	"math"
	"strconv"
)

// Format writes a value of a metric for people: "5s", "12.3 ms", "17526 tokens/s", "98.5 %". An unknown name gets no unit.
func Format(name string, v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "n/a"
	}
	switch unit := Unit(name); unit {
	case "s":
		return formatSeconds(v)
	case "ratio":
		return significant(v*100, 4) + " %"
	case "":
		return significant(v, 5)
	default:
		return significant(v, 5) + " " + unit
	}
}

func formatSeconds(v float64) string {
	switch a := math.Abs(v); {
	case a == 0 || a >= 0.9995:
		return significant(v, 4) + "s"
	case a >= 0.9995e-3:
		return significant(v*1e3, 3) + " ms"
	default:
		return significant(v*1e6, 3) + " us"
	}
}

// significant writes at least the whole part of v, and decimals only up to so many significant digits, without trailing zeros.
func significant(v float64, digits int) string {
	whole := 1
	if a := math.Abs(v); a >= 1 {
		whole = int(math.Floor(math.Log10(a))) + 1
	}
	s := strconv.FormatFloat(v, 'f', max(0, digits-whole), 64)
	if rounded, err := strconv.ParseFloat(s, 64); err == nil {
		return strconv.FormatFloat(rounded, 'f', -1, 64)
	}
	return s
}
