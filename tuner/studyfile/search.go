package studyfile

import (
	"fmt"
	"strconv"
	"strings"
)

// What is done with a running trial that is certainly not worth finishing.
const (
	StoppersOn     = "on"     // it is cut short
	StoppersOff    = "off"    // nobody looks
	StoppersReport = "report" // it is finished, and what would have been saved is told
)

// search reads how the study is searched.
func (r *reader) search(s *Spec) func(*node, path) {
	return func(n *node, p path) {
		r.fields(n, p,
			field{name: "sampler", read: r.sampler(&s.Sampler)},
			field{name: "seed", read: r.seed(&s.Seed)},
			field{name: "start_from", read: r.startFrom(&s.StartFrom)},
			field{name: "stoppers", read: r.oneOf(&s.Stoppers, StoppersOn, StoppersOff, StoppersReport)},
			field{name: "stop", read: r.stop(&s.StopGain)},
		)
	}
}

// sampler reads the name of who proposes; any word when the names are not known here.
func (r *reader) sampler(to *string) func(*node, path) {
	if len(r.known.Samplers) > 0 {
		return r.oneOf(to, r.known.Samplers...)
	}
	return func(n *node, p path) {
		if s, ok := r.word(n, p, "the name of a sampler"); ok {
			*to = s
		}
	}
}

// startFrom reads the study files whose best configurations are tried early.
func (r *reader) startFrom(to *[]string) func(*node, path) {
	const allowed = "the study files of earlier studies, such as [other.db]"
	return func(n *node, p path) {
		r.each(n, p, func(_ int, item *node, p path) {
			s, ok := r.word(item, p, allowed)
			if !ok {
				return
			}
			for _, before := range *to {
				if before == s {
					r.fail(item, p, "the study file is listed twice", "")
					return
				}
			}
			*to = append(*to, s)
		})
	}
}

// stop reads the expected gain below which the search ends: a share, a percentage, or off.
func (r *reader) stop(to *float64) func(*node, path) {
	const allowed = "a share below 1, such as 1% or 0.01; off for no such end"
	return func(n *node, p path) {
		if !r.plain(n, p, allowed) {
			return
		}
		text := strings.TrimSpace(n.text)
		if text == "off" {
			*to = 0
			return
		}
		if percent, ok := strings.CutSuffix(text, "%"); ok && floatText.MatchString(strings.TrimSpace(percent)) {
			f, err := strconv.ParseFloat(strings.TrimSpace(percent), 64)
			if err != nil || f < 0 || f >= 100 {
				r.fail(n, p, "out of range", allowed)
				return
			}
			*to = f / 100
			return
		}
		if f, ok := r.float(n, p, allowed); ok && (f < 0 || f >= 1) {
			r.fail(n, p, "out of range", allowed)
		} else if ok {
			*to = f
		}
	}
}

// once refuses a setting that stands both under search and, as in specs of before, at the top.
func (r *reader) once(keys ...string) {
	for _, key := range keys {
		top, under := path{key}, path{"search", key}
		at, old := r.places[top.id()]
		other, now := r.places[under.id()]
		if old && now {
			r.failAt(at, top, FieldError{Problem: fmt.Sprintf("stands under search already, on line %d", other.line), Allowed: "one of the two: the one under search is the present spelling"})
		}
	}
}
