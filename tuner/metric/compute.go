package metric

// Compute gives every metric of a run by its name. What is undefined (a TPOT of answers with one token) is absent, never 0.
func Compute(records []Record, gpus int) map[string]float64 { return nil }
