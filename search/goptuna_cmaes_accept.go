package search

import (
	"fmt"
	"slices"
	"strings"

	"autotune/space"
	"autotune/tuner"
)

// UnfitError says that a sampler cannot search a space.
type UnfitError struct {
	Sampler string
	Param   string // the parameter that is at fault, by its full name; empty for the space as a whole
	Reason  string // what is wrong with it, and what the sampler takes
}

func (e *UnfitError) Error() string {
	if e.Param == "" {
		return fmt.Sprintf("sampler %s cannot search this space: %s", e.Sampler, e.Reason)
	}
	return fmt.Sprintf("sampler %s cannot search %s: %s", e.Sampler, e.Param, e.Reason)
}

// Accepts tells whether the sampler of that name can search a problem's space. The error is an *UnfitError that names the first parameter which it
// cannot search, or says that there is no such sampler.
func Accepts(name string, p tuner.Problem) error {
	s, err := New(name)
	if err != nil {
		return err
	}
	if picky, ok := s.(interface{ accepts(tuner.Problem) error }); ok {
		return picky.accepts(p)
	}
	return nil
}

// accepts refuses choices, booleans and conditions, and a space with fewer than two numbers that vary, as the library does.
func (goptunaCMAES) accepts(p tuner.Problem) error {
	const sampler = "goptuna-cmaes"
	varying := 0
	for _, q := range p.Space.Params() {
		if q.Domain.Size() < 2 {
			continue
		}
		if words := wordsOf(q.Domain); len(words) > 0 {
			return &UnfitError{sampler, q.Name, fmt.Sprintf("it may be %s; this sampler takes nothing but numbers", strings.Join(words, ", "))}
		}
		if conditional(p.Space, q) {
			return &UnfitError{sampler, q.Name, fmt.Sprintf("it is there only when %s; this sampler knows no conditions", q.When)}
		}
		varying++
	}
	if varying < 2 {
		return &UnfitError{sampler, "", fmt.Sprintf("%d of its flags may vary, and this sampler needs two", varying)}
	}
	return nil
}

// wordsOf lists values of a domain that are no numbers, three at most.
func wordsOf(d space.Domain) []string {
	var words []string
	for _, v := range d.Listed() {
		if !v.IsNumber() {
			words = append(words, v.String())
		}
	}
	if len(words) > 3 {
		words = append(words[:3], "and more")
	}
	return words
}

// conditional tells whether a parameter comes and goes: its condition names one that varies.
func conditional(s *space.Space, p space.Param) bool {
	return slices.ContainsFunc(p.When.Names(), func(name string) bool {
		q, ok := s.Param(name)
		return ok && q.Domain.Size() > 1
	})
}
