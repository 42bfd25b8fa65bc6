package workload

// Validate says what is wrong with a workload; nil when nothing is.
func (s Spec) Validate() error { return nil }

// Expand makes the requests in order of arrival, a function of the spec and the rows alone. Rows are needed for ShareGPT only.
func (s Spec) Expand(rows []Row) ([]Request, error) { return nil, nil }

// ExpandLengths makes the requests of a ShareGPT workload without its file: token-id prompts whose lengths have the given means.
func (s Spec) ExpandLengths(meanIn, meanOut float64) ([]Request, error) { return nil, nil }

// ShareGPTLengths draws n pairs of prompt and answer lengths in tokens.
func ShareGPTLengths(n int, seed uint64, meanIn, meanOut float64) []Request { return nil }
