package engine

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"autotune/tuner"
)

// finding is the verdict that a hit gives.
func (log *engineLog) finding(h *hit) Finding {
	s := h.signature
	f := Finding{Phase: log.phaseOfHit(h), Reason: tuner.Reason(s.Class), Signature: s.ID, Evidence: shorten(strings.TrimSpace(h.line.text)), Hint: s.Hint,
		Retry: s.Retry || s.Class == string(tuner.ReasonTransient), RetryEnv: slices.Clone(s.RetryEnv)}
	text := h.line.text
	if s.ID == "vllm_pydantic" {
		if reasons := log.validation(h.at); reasons != "" {
			f.Evidence, text = shorten(reasons), text+" "+reasons
		}
	}
	if s.ID == "sgl_capture_other" && strings.Contains(h.line.text, "gloo") {
		f.Reason, f.Retry = tuner.ReasonTransient, true
		f.Hint = "Another rank failed and this one noticed."
	}
	if s.ID == "vllm_free_mem_low" && aboutAllFree(text) {
		f.Reason, f.Retry = tuner.ReasonMemory, false
		f.Hint = "Nearly all of the GPU was free: the share that is asked for is more than a GPU with its driver's own part ever has free."
	}
	moves := slices.Clone(s.Moves)
	for _, d := range s.Details {
		if hint := d.expand(text, d.Hint); hint != "" {
			f.Hint += " " + hint
		}
		if flag := d.expand(text, d.Flag); flag != "" {
			m := Move{Flag: flag, Move: d.Move, Value: d.expand(text, d.Value)}
			moves = append(slices.DeleteFunc(moves, func(o Move) bool { return o.Flag == flag }), m)
		}
	}
	if s.ID == "cuda_oom_torch" || s.ID == "cuda_error_oom" {
		hint, extra := log.gpuMemory(f.Phase)
		f.Hint, moves = f.Hint+" "+hint, append(moves, extra...)
	}
	f.Moves = log.known(moves)
	return log.blame(f, s, text)
}

// freeOfTotal are the figures of a GPU's memory in vLLM's complaint that too little is free.
var freeOfTotal = regexp.MustCompile(`\(([0-9.]+)/([0-9.]+) GiB\)`)

// aboutAllFree tells whether the GPU was free but for a part that its driver and the process itself hold.
func aboutAllFree(text string) bool {
	m := freeOfTotal.FindStringSubmatch(text)
	if m == nil {
		return false
	}
	free, _ := strconv.ParseFloat(m[1], 64)
	total, _ := strconv.ParseFloat(m[2], 64)
	return free >= 0.97*total
}

// shorten keeps evidence to what a person reads.
func shorten(s string) string {
	const most = 600
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "..."
}

// validation joins the reasons that follow the head of a validation error: each field, and what is wrong with it.
func (log *engineLog) validation(at int) string {
	var reasons []string
	for i := at + 1; i < min(len(log.evidence.Lines), at+30) && len(reasons) < 6; i++ {
		parts := clean(log.evidence.Lines[i])
		l := readLine(parts[len(parts)-1])
		text := strings.TrimSpace(l.text)
		switch {
		case strings.HasPrefix(text, "For further information"):
		case l.stamped || text == "" || strings.HasPrefix(text, "Traceback") || strings.HasPrefix(text, "During handling"):
			return strings.Join(reasons, ": ")
		default:
			text, _, _ = strings.Cut(text, " [type=")
			reasons = append(reasons, text)
		}
	}
	return strings.Join(reasons, ": ")
}

// known keeps the moves whose flag the engine has, under the name that it has there.
func (log *engineLog) known(moves []Move) []Move {
	d, ok := Find(log.evidence.Engine)
	if !ok {
		return moves
	}
	var kept []Move
	for _, m := range moves {
		flag, known := d.Flag(m.Flag)
		if m.Move == "leave out" && !known {
			kept = append(kept, m) // an unknown flag is left out because it is unknown
			continue
		}
		if !known || slices.ContainsFunc(kept, func(k Move) bool { return k.Flag == flag.Name }) {
			continue
		}
		m.Flag = flag.Name
		kept = append(kept, m)
	}
	return kept
}

// gpuMemory says what helps when the GPU is full: that depends on what filled it, and so on the phase.
func (log *engineLog) gpuMemory(p tuner.Phase) (string, []Move) {
	down := func(flags ...string) []Move {
		var moves []Move
		for _, f := range flags {
			moves = append(moves, Move{Flag: f, Move: "down"})
		}
		return moves
	}
	switch p {
	case tuner.PhaseInit, tuner.PhaseLoad:
		return "Weights fill it: split them further (tensor, pipeline or expert parallelism), take a smaller checkpoint, or offload. No batching setting helps.",
			[]Move{{Flag: "tensor-parallel-size", Move: "up"}, {Flag: "pipeline-parallel-size", Move: "up"}, {Flag: "tp-size", Move: "up"}, {Flag: "pp-size", Move: "up"}}
	case tuner.PhaseProfile:
		return "A step of the largest size does not fit beside the weights, or the KV cache takes too much: lower --max-num-batched-tokens and --max-num-seqs (vLLM), --mem-fraction-static (SGLang).",
			down("max-num-batched-tokens", "max-num-seqs", "mem-fraction-static", "chunked-prefill-size")
	case tuner.PhaseCapture:
		return "Weights and KV cache leave too little for graphs and warm-up: lower --gpu-memory-utilization (vLLM) or --mem-fraction-static (SGLang), or capture smaller batches.",
			down("gpu-memory-utilization", "max-num-seqs", "max-cudagraph-capture-size", "mem-fraction-static", "cuda-graph-max-bs-decode")
	default:
		return "Weights and KV cache leave too little for the work: lower --gpu-memory-utilization (vLLM) or --mem-fraction-static (SGLang), or the size of a step.",
			down("gpu-memory-utilization", "max-num-batched-tokens", "max-num-seqs", "mem-fraction-static", "chunked-prefill-size", "max-running-requests")
	}
}

// blame decides whose fault a refusal is: that of a value under search, which is then infeasible, or that of the study, which asks for something impossible.
func (log *engineLog) blame(f Finding, s *signature, text string) Finding {
	if log.evidence.Searched == nil {
		return f
	}
	switch f.Reason {
	case tuner.ReasonEnvironment: // a part that only one value needs: that value goes, the study goes on
		for _, m := range f.Moves {
			if set, ok := log.searched(m.Flag); ok && m.Move == "exclude" && !isDefault(set) {
				f.Reason = tuner.ReasonInfeasible
			}
		}
	case tuner.ReasonUser, tuner.ReasonInfeasible:
		refusal := f.Phase == tuner.PhaseFlags || f.Phase == tuner.PhaseInit || f.Phase == tuner.PhaseLoad
		aboutModel := s != nil && s.Class == string(tuner.ReasonUser) && len(f.Moves) == 0 && s.ID != "unrecognised"
		if !refusal || aboutModel {
			return f
		}
		switch log.culprit(f, text) {
		case culpritSearched:
			f.Reason = tuner.ReasonInfeasible
		case culpritOther:
			f.Reason = tuner.ReasonUser
		}
	}
	return f
}

func isDefault(s Setting) bool {
	v := strings.ToLower(s.Value.String())
	return v == "" || v == "auto" || v == "none" || v == "false"
}

// searched finds the setting under search of a flag, by any spelling.
func (log *engineLog) searched(flag string) (Setting, bool) {
	for _, s := range log.evidence.Searched {
		if log.sameFlag(s.Flag, flag) {
			return s, true
		}
	}
	return Setting{}, false
}

func (log *engineLog) sameFlag(a, b string) bool {
	d, ok := Find(log.evidence.Engine)
	if ok {
		a, b = d.canonical(a), d.canonical(b)
	}
	head := func(s string) string {
		s, _, _ = strings.Cut(strings.ReplaceAll(bare(s), "_", "-"), ".")
		return s
	}
	return head(a) == head(b)
}

type culprit uint8

const (
	culpritUnknown culprit = iota
	culpritSearched
	culpritOther
)

// culprit looks for the settings that a refusal is about: in its words, then in what would help against it, then by the value.
func (log *engineLog) culprit(f Finding, text string) culprit {
	named := log.named(text)
	for _, s := range log.evidence.Searched {
		if slices.ContainsFunc(named, func(n string) bool { return log.sameFlag(n, s.Flag) }) {
			return culpritSearched
		}
	}
	for _, m := range f.Moves {
		if _, ok := log.searched(m.Flag); ok {
			return culpritSearched
		}
	}
	for _, s := range log.evidence.Searched {
		if v := s.Value.String(); len(v) >= 3 && !isDefault(s) && v != "true" && strings.Contains(spaced(text), spaced(v)) {
			return culpritSearched
		}
	}
	if len(named) > 0 || len(f.Moves) > 0 || len(log.evidence.Searched) == 0 {
		return culpritOther
	}
	return culpritUnknown
}

// spaced puts a text's words between single blanks, so that a word is found whole.
func spaced(s string) string {
	words := strings.FieldsFunc(strings.ToLower(s), func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '.' || r == '-' || r == '_')
	})
	for i, w := range words {
		words[i] = strings.Trim(strings.ReplaceAll(w, "_", "-"), ".")
	}
	return " " + strings.Join(words, " ") + " "
}

// named lists the flags that a text names: as they are written, with underscores, or in plain words (tensor parallel size).
func (log *engineLog) named(text string) []string {
	if cut := strings.Index(text, "(choose from"); cut > 0 {
		text = text[:cut]
	}
	words := spaced(text)
	plain := strings.ReplaceAll(words, "-", " ")
	var names []string
	for _, s := range log.evidence.Searched {
		name := strings.ReplaceAll(bare(s.Flag), "_", "-")
		if strings.Contains(words, " --"+name+" ") || strings.Contains(words, "-"+name+" ") && strings.Contains(words, "--"+name) || strings.Contains(words, " "+name+" ") {
			names = append(names, s.Flag)
		}
	}
	d, ok := Find(log.evidence.Engine)
	if !ok {
		return names
	}
	for i := range d.flags {
		f := &d.flags[i]
		word := strings.Contains(f.Name, "-") // model, dtype, device are words of every message
		if word && (strings.Contains(plain, " "+strings.ReplaceAll(f.Name, "-", " ")+" ")) || strings.Contains(words, " --"+f.Name+" ") {
			names = append(names, f.Name)
			continue
		}
		for _, a := range f.Aliases {
			if strings.Contains(words, " "+strings.ToLower(a)+" ") {
				names = append(names, f.Name)
			}
		}
	}
	return names
}
