package workload

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"autotune/tuner/metric"
)

// Identity is what a workload asks: only measurements of equal identities are ever compared. Name, path, seed and the limits after which
// one gives up are no part of it, nor who asks (the API key's variable); the content of the dataset's file is.
func (s Spec) Identity(fileHash string) string {
	asked := struct {
		Dataset        string
		File           string
		InputTokens    int
		OutputTokens   int
		Requests       int
		Rate           float64
		MaxConcurrency int
		Warmup         int
		Endpoint       string
		Goodput        metric.SLOs `json:",omitzero"` // goodputs of other SLOs are other figures
		// What came later is left out where it is not used, so that the identities of before stay.
		Burstiness    float64       `json:",omitempty"`
		Ramp          Ramp          `json:",omitzero"`
		AtOnce        bool          `json:",omitempty"`
		InputLengths  Lengths       `json:",omitzero"`
		OutputLengths Lengths       `json:",omitzero"`
		Prefixes      int           `json:",omitempty"`
		PrefixTokens  int           `json:",omitempty"`
		Turns         int           `json:",omitempty"`
		ThinkTime     time.Duration `json:",omitempty"`
		Speed         float64       `json:",omitempty"`
		From          time.Duration `json:",omitempty"`
		To            time.Duration `json:",omitempty"`
		ExtraBody     string        `json:",omitempty"`
		Headers       []Header      `json:",omitempty"`
		ForcedFilter  bool          `json:",omitempty"` // the rows of a ShareGPT file are chosen by the forced length; before, by their own
	}{s.Dataset, fileHash, s.InputTokens, s.OutputTokens, s.Requests, s.Rate, s.MaxConcurrency, s.Warmup, s.Endpoint, s.Goodput,
		s.Burstiness, s.Ramp, s.AtOnce && Timed(s.Dataset), s.InputLengths, s.OutputLengths, s.Prefixes, s.PrefixTokens, s.Turns, s.ThinkTime, s.Speed, s.From, s.To, s.ExtraBody, s.Headers,
		s.Dataset == ShareGPT && s.OutputTokens > 0}
	if asked.Speed == 1 {
		asked.Speed = 0
	}
	if !HasFile(s.Dataset) {
		asked.File = ""
	}
	text, err := json.Marshal(asked)
	if err != nil { // a rate that is no number; Validate refuses it
		text = fmt.Append(nil, asked)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// Digest is the hash of one prompt as it was sent.
type Digest [sha256.Size]byte

// DigestOf hashes a prompt's bytes as they stand in the request.
func DigestOf(prompt []byte) Digest { return sha256.Sum256(prompt) }

// SentHash is the hash of what was sent: every prompt, the forced lengths and the arrivals, in order. Digests of requests that were not
// sent are zero. Two measurements with equal hashes sent the same bytes at the same planned instants.
func SentHash(requests []Request, digests []Digest) string {
	h := sha256.New()
	var fixed [24]byte
	for i, r := range requests {
		binary.LittleEndian.PutUint64(fixed[0:], uint64(r.Index))
		binary.LittleEndian.PutUint64(fixed[8:], uint64(r.Arrival))
		binary.LittleEndian.PutUint64(fixed[16:], uint64(r.Output))
		h.Write(fixed[:])
		h.Write(digests[i][:])
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}
