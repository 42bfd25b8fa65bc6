package studyfile

import "strings"

// nearest returns the candidate that a word was most likely meant to be; empty when none is near.
func nearest(word string, candidates []string) string {
	plain := func(s string) string {
		return strings.ToLower(strings.ReplaceAll(strings.TrimLeft(s, "-"), "_", "-"))
	}
	word = plain(word)
	best, least := "", 1+max(1, len(word)/3)
	for _, c := range candidates {
		if d := distance(word, plain(c)); d < least {
			best, least = c, d
		}
	}
	return best
}

// distance counts the letters to insert, to drop, to change or to swap with their neighbour that lead from a to b.
func distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	if len(x) > 100 || len(y) > 100 {
		return 1 << 20
	}
	rows := [3][]int{make([]int, len(y)+1), make([]int, len(y)+1), make([]int, len(y)+1)}
	for j := range rows[1] {
		rows[1][j] = j
	}
	for i := 1; i <= len(x); i++ {
		before, above, row := rows[0], rows[1], rows[2]
		row[0] = i
		for j := 1; j <= len(y); j++ {
			change := above[j-1]
			if x[i-1] != y[j-1] {
				change++
			}
			row[j] = min(change, above[j]+1, row[j-1]+1)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		rows = [3][]int{above, row, before}
	}
	return rows[1][len(y)]
}
