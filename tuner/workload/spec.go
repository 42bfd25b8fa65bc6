package workload

import (
	"regexp"
	"slices"
	"time"

	"autotune/tuner/metric"
)

// Datasets.
const (
	Random       = "random"       // exact token counts, as token ids
	Prefix       = "prefix"       // random prompts behind a few shared system prompts, as token ids
	Conversation = "conversation" // turns whose context grows, each sent after the answer to the one before, as token ids
	ShareGPT     = "sharegpt"     // conversations of a file in the public ShareGPT format, as text
	JSONL        = "jsonl"        // prompts of a file, an object a line: texts, token ids or chats
	Mooncake     = "mooncake"     // a trace in Mooncake's format: arrivals, lengths and shared blocks; as token ids
	Azure        = "azure"        // a trace in the format of Azure's LLM inference traces: arrivals and lengths; as token ids
)

// Datasets are the names of all datasets.
func Datasets() []string {
	return []string{Random, Prefix, Conversation, ShareGPT, JSONL, Mooncake, Azure}
}

// HasFile tells whether a dataset comes from a file.
func HasFile(dataset string) bool {
	return slices.Contains([]string{ShareGPT, JSONL, Mooncake, Azure}, dataset)
}

// Timed tells whether a dataset's rows may say when they arrive; its requests are then sent so unless the workload has arrivals of its own.
func Timed(dataset string) bool { return slices.Contains([]string{JSONL, Mooncake, Azure}, dataset) }

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
	OutputTokens   int           `json:"output_tokens,omitempty"` // forced; for a dataset with a file 0 means each row's own length
	Requests       int           `json:"requests"`                // 0, for a timed dataset: every row of the window
	Rate           float64       `json:"rate"`                    // requests/s (conversations/s), on average; 0: all at once, a ramp's, or the file's own arrivals
	MaxConcurrency int           `json:"max_concurrency"`         // 0: no cap
	Seed           uint64        `json:"seed"`
	Warmup         int           `json:"warmup"` // requests sent and dropped before the measurement
	Endpoint       string        `json:"endpoint"`
	RequestLimit   time.Duration `json:"request_limit"` // for one request; 0: none
	WallLimit      time.Duration `json:"wall_limit"`    // for the whole measurement; 0: none
	Goodput        metric.SLOs   `json:"goodput,omitzero"`

	Burstiness    float64       `json:"burstiness,omitempty"` // shape of the gamma-distributed gaps between arrivals: 1 is Poisson, less is burstier; 0: constant gaps
	Ramp          Ramp          `json:"ramp,omitzero"`        // a rate that changes; zero: none
	AtOnce        bool          `json:"at_once,omitempty"`    // no request waits for an instant, even if the file has arrivals
	InputLengths  Lengths       `json:"input_lengths,omitzero"`
	OutputLengths Lengths       `json:"output_lengths,omitzero"`
	Prefixes      int           `json:"prefixes,omitempty"`      // of a prefix dataset: how many system prompts there are
	PrefixTokens  int           `json:"prefix_tokens,omitempty"` // of a prefix or conversation dataset: tokens of a system prompt
	Turns         int           `json:"turns,omitempty"`         // of a conversation; Requests counts turns
	ThinkTime     time.Duration `json:"think_time,omitempty"`    // from an answer's end to the next turn
	Speed         float64       `json:"speed,omitempty"`         // by which a file's arrivals are quickened; 0: 1
	From          time.Duration `json:"from,omitempty"`          // start of the window, from the file's first row
	To            time.Duration `json:"to,omitempty"`            // end of the window, itself excluded; 0: the file's end
	ExtraBody     string        `json:"extra_body,omitempty"`    // further fields of each request's body: a JSON object
	Headers       []Header      `json:"headers,omitempty"`       // of each request
	APIKeyEnv     string        `json:"api_key_env,omitempty"`   // the variable that holds the API key; empty: no key, or the server's own
}

// Ramp is a rate that goes from one value to another in a straight line and stays there, in requests/s.
type Ramp struct {
	From float64       `json:"from"`
	To   float64       `json:"to"`
	Over time.Duration `json:"over"`
}

// Header is a header of each request. $NAME in the value stands for a variable of the environment.
type Header struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// HeaderVariable is a variable of the environment in a header's value: $NAME.
var HeaderVariable = regexp.MustCompile(`\$[A-Za-z_][A-Za-z0-9_]*`)

// Variables are the names of the environment's variables that the workload needs to be sent, each once.
func (s Spec) Variables() []string {
	var names []string
	if s.APIKeyEnv != "" {
		names = append(names, s.APIKeyEnv)
	}
	for _, h := range s.Headers {
		for _, v := range HeaderVariable.FindAllString(h.Value, -1) {
			names = append(names, v[1:])
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Own tells whether the workload says itself when its requests arrive; else a timed file does, or all come at once.
func (s Spec) Own() bool { return s.AtOnce || s.paced() }

// paced tells whether the workload has a rate.
func (s Spec) paced() bool { return s.Rate > 0 || s.Ramp != (Ramp{}) }

// Request is one expanded request. Its prompt is Text, Messages, Tokens, or else token ids that Prompt makes.
type Request struct {
	Index    int
	Arrival  time.Duration // when it is wanted, from the start; of a later turn: not before
	Input    int           // prompt tokens; 0 when the prompt is a text
	Output   int           // tokens to generate, forced
	Text     string        // the prompt, when it is a text
	Messages string        // the prompt, when it is a chat: a JSON list of messages
	Tokens   []int32       // the prompt, when the dataset has its token ids
	Pieces   []Piece       // what the prompt's token ids are made of, when requests share some; nil: content of its own
	Turn     int           // of its conversation, from 0; one above 0 follows the request with the index before its own
	Think    time.Duration // of a later turn: from the end of the turn before
}

// Piece is a part of a prompt: pieces of one key hold the same tokens, and a shorter one is the beginning of a longer one.
type Piece struct {
	Key    uint64
	Length int // tokens
}

// Row is one row of a dataset's file, as the loader read it.
type Row struct {
	Prompt   string  // a text
	Messages string  // or a chat: a JSON list
	Tokens   []int32 // or token ids
	Input    int     // or so many tokens, of a trace
	Blocks   []int64 // of a trace: the ids of the prompt's blocks of BlockTokens tokens, the last one not full; nil: content of its own
	// Output is the answer's length in tokens: the row's own, or as the loader estimates it (it has no tokenizer). 0: the row does not say.
	Output  int
	Arrival time.Duration // from the file's first row
	Timed   bool          // the row has an arrival
	Line    int           // where it stands in the file, from 1; 0: unknown
}

// BlockTokens are the tokens of a block in Mooncake's traces.
const BlockTokens = 512
