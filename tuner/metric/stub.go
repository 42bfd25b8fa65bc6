package metric

// Format writes a value of a metric for people.
func Format(name string, v float64) string { return "" }
