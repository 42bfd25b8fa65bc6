package workload

import (
	"time"

	"autotune/tuner/metric"
)

// Datasets.
const (
	Random   = "random"   // exact token counts, as token ids
	ShareGPT = "sharegpt" // conversations of a file in the public ShareGPT format, as text
)

// Endpoints.
const (
	Completions = "completions"
	Chat        = "chat"
)

// Spec is a workload as a study asks for it, complete.
type Spec struct {
	Name           string        `json:"name"`
	Dataset        string        `json:"dataset"`
	Path           string        `json:"path,omitempty"` // of the dataset's file
	InputTokens    int           `json:"input_tokens,omitempty"`
	OutputTokens   int           `json:"output_tokens,omitempty"` // forced; for sharegpt 0 means each row's own length
	Requests       int           `json:"requests"`
	Rate           float64       `json:"rate"`            // requests/s, constant; 0: all at once
	MaxConcurrency int           `json:"max_concurrency"` // 0: no cap
	Seed           uint64        `json:"seed"`
	Warmup         int           `json:"warmup"` // requests sent and dropped before the measurement
	Endpoint       string        `json:"endpoint"`
	RequestLimit   time.Duration `json:"request_limit"` // for one request; 0: none
	WallLimit      time.Duration `json:"wall_limit"`    // for the whole measurement; 0: none
	Goodput        metric.SLOs   `json:"goodput,omitzero"`
}

// Request is one expanded request.
type Request struct {
	Index   int
	Arrival time.Duration // when it is wanted, from the start
	Input   int           // prompt tokens; 0 when the prompt is a text
	Output  int           // tokens to generate, forced
	Text    string        // the prompt, when it is a text
}

// Row is one row of a dataset's file, as the loader read it.
type Row struct {
	Prompt string
	// Output is the answer's length in tokens as the loader estimates it (it has no tokenizer).
	Output int
}
