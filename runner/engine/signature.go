package engine

import (
	_ "embed"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"sync"

	"autotune/tuner"
)

//go:embed signatures.json
var signaturesJSON []byte

// signature is what a kind of line in an engine's log means.
type signature struct {
	ID         string        `json:"id"`
	Engine     string        `json:"engine"` // vllm, sglang, host, bench, any: whose words they are
	Phases     []tuner.Phase `json:"phases"` // one: always there; several: the log says which
	Class      string        `json:"class"`  // a tuner.Reason, or signal, rewrite, wrapper
	Priority   int           `json:"priority"`
	Echo       bool          `json:"echo"`  // said by ranks that survive the one that failed
	Fatal      bool          `json:"fatal"` // nobody serves on after it
	Retry      bool          `json:"retry"`
	RetryEnv   []string      `json:"retry_env"`
	Pattern    string        `json:"pattern"`
	Unless     string        `json:"unless"`      // a line that also matches this says something harmless
	Frame      string        `json:"frame"`       // the line means this only below a traceback with such a frame
	NoFrame    string        `json:"no_frame"`    // and not below one with such a frame
	AfterReady bool          `json:"after_ready"` // it may come after the line that says that all has started, as when a port is bound
	Hint       string        `json:"hint"`
	Details    []detail      `json:"details"`
	Moves      []Move        `json:"moves"`
	Samples    []string      `json:"samples"`
	Fault      Fault         `json:"fault"` // whose it is, where the class does not say it

	pattern, unless, frame, noFrame *regexp.Regexp
	order                           int
}

// detail reads figures or names from the line: $1 in its texts is the first group of its pattern.
type detail struct {
	Pattern string `json:"pattern"`
	Hint    string `json:"hint"`
	Flag    string `json:"flag"`
	Move    string `json:"move"`
	Value   string `json:"value"`

	pattern *regexp.Regexp
}

// cause tells whether the signature explains an end by itself.
func (s *signature) cause() bool {
	switch s.Class {
	case "signal", "rewrite", "wrapper":
		return false
	}
	return true
}

// beforeReady tells whether it is only said before a server is ready: of the command line, or of what the user asked for.
func (s *signature) beforeReady() bool {
	if len(s.Phases) == 1 && s.Phases[0] == tuner.PhaseFlags {
		return true
	}
	return !s.AfterReady && s.Class == string(tuner.ReasonUser) && !slices.Contains(s.Phases, tuner.PhaseServe) && !slices.Contains(s.Phases, tuner.PhaseBench)
}

func (s *signature) matches(text string) bool {
	return s.pattern.MatchString(text) && (s.unless == nil || !s.unless.MatchString(text))
}

// signatureBook is every signature, and the automaton that finds in one pass which of them a line can match at all.
type signatureBook struct {
	signatures []*signature
	words      *wordFinder
}

// signatures is read once, when it is first needed. The data is part of the program: a bad one panics, and a test reads it.
var signatures = sync.OnceValue(func() *signatureBook {
	var file struct {
		Signatures []*signature `json:"signatures"`
	}
	if err := json.Unmarshal(signaturesJSON, &file); err != nil {
		panic("signatures.json: " + err.Error())
	}
	book := &signatureBook{signatures: file.Signatures, words: newWordFinder()}
	for i, s := range book.signatures {
		s.order = i
		s.pattern = regexp.MustCompile(s.Pattern)
		if s.Unless != "" {
			s.unless = regexp.MustCompile(s.Unless)
		}
		if s.Frame != "" {
			s.frame = regexp.MustCompile(s.Frame)
		}
		if s.NoFrame != "" {
			s.noFrame = regexp.MustCompile(s.NoFrame)
		}
		for j := range s.Details {
			s.Details[j].pattern = regexp.MustCompile(s.Details[j].Pattern)
		}
		for _, word := range requiredWords(s.Pattern) {
			book.words.add(word, i)
		}
	}
	book.words.build()
	return book
})

// expand fills a detail's text from the line; it is empty when the pattern does not match.
func (d *detail) expand(line, text string) string {
	m := d.pattern.FindStringSubmatchIndex(line)
	if m == nil {
		return ""
	}
	return strings.TrimSpace(string(d.pattern.ExpandString(nil, text, line, m)))
}
