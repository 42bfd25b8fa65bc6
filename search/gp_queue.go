package search

import (
	"cmp"
	"slices"
)

// queue gives cells by their scores, the highest first. Most of a score's cost lies in the probabilities, which only lower it: a score is worked out when what it can
// be at most says that it may be next.
type queue struct {
	bounded []scored // by what the score can be at most, the highest first
	exact   []scored // the highest first; of equals the first that was added
	score   func(highest float64, c cell) float64
}

func (q *queue) add(s scored) {
	i, _ := slices.BinarySearchFunc(q.exact, s.score, func(known scored, score float64) int {
		return cmp.Or(cmp.Compare(score, known.score), -1)
	})
	q.exact = slices.Insert(q.exact, i, s)
}

func (q *queue) next() (top scored, ok bool) {
	for len(q.bounded) > 0 && (len(q.exact) == 0 || q.bounded[0].score >= q.exact[0].score) {
		s := q.bounded[0]
		q.bounded = q.bounded[1:]
		q.add(scored{s.cell, q.score(s.score, s.cell)})
	}
	if len(q.exact) == 0 {
		return scored{}, false
	}
	top, q.exact = q.exact[0], q.exact[1:]
	return top, true
}
