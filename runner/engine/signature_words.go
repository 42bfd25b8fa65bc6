package engine

import (
	"regexp/syntax"
	"strings"
)

// longestWord bounds the words in the automaton: the beginning of a required word is required too.
const longestWord = 14

// requiredWords returns words, in lower case, of which every match of the pattern holds at least one. None means that nothing is required.
func requiredWords(pattern string) []string {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		panic("signature " + pattern + ": " + err.Error())
	}
	words := wordsOf(re)
	for i, w := range words {
		words[i] = w[:min(len(w), longestWord)]
	}
	return words
}

func wordsOf(re *syntax.Regexp) []string {
	switch re.Op {
	case syntax.OpLiteral:
		return []string{strings.ToLower(string(re.Rune))}
	case syntax.OpCapture, syntax.OpPlus:
		return wordsOf(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return wordsOf(re.Sub[0])
		}
	case syntax.OpConcat:
		var best []string
		for _, sub := range re.Sub {
			if words := wordsOf(sub); shortest(words) > shortest(best) {
				best = words
			}
		}
		return best
	case syntax.OpAlternate:
		var all []string
		for _, sub := range re.Sub {
			words := wordsOf(sub)
			if words == nil {
				return nil
			}
			all = append(all, words...)
		}
		return all
	}
	return nil
}

func shortest(words []string) int {
	if len(words) == 0 {
		return 0
	}
	n := len(words[0])
	for _, w := range words {
		n = min(n, len(w))
	}
	return n
}

// wordFinder is an Aho-Corasick automaton: it finds all words in a line in one pass, whatever their number and whatever the case of ASCII letters.
type wordFinder struct {
	class   [256]uint8 // byte to column; 0 is every byte that no word has
	columns int
	next    []int32 // state*columns + column
	owners  [][]int // of each state: the signatures whose word ends there
	words   []string
	ids     []int
}

func newWordFinder() *wordFinder { return &wordFinder{} }

func (f *wordFinder) add(word string, id int) {
	f.words, f.ids = append(f.words, word), append(f.ids, id)
}

// build makes the trie, then turns it into a table without failure links, breadth first.
func (f *wordFinder) build() {
	f.columns = 1
	for _, w := range f.words {
		for i := range len(w) {
			if f.class[w[i]] == 0 {
				f.class[w[i]] = uint8(f.columns)
				f.columns++
			}
		}
	}
	for c := byte('a'); c <= 'z'; c++ {
		f.class[c-'a'+'A'] = f.class[c]
	}
	f.newState()
	for i, w := range f.words {
		state := int32(0)
		for j := range len(w) {
			at := int(state)*f.columns + int(f.class[w[j]])
			if f.next[at] == 0 {
				created := f.newState()
				f.next[at] = created
			}
			state = f.next[at]
		}
		f.owners[state] = append(f.owners[state], f.ids[i])
	}
	fail := make([]int32, len(f.owners))
	queue := []int32{0}
	for len(queue) > 0 {
		state := queue[0]
		queue = queue[1:]
		for c := range f.columns {
			at := int(state)*f.columns + c
			child := f.next[at]
			back := int32(0)
			if state != 0 {
				back = f.next[int(fail[state])*f.columns+c]
			}
			if child == 0 {
				f.next[at] = back
				continue
			}
			fail[child] = back
			f.owners[child] = append(f.owners[child], f.owners[back]...)
			queue = append(queue, child)
		}
	}
}

func (f *wordFinder) newState() int32 {
	f.next = append(f.next, make([]int32, f.columns)...)
	f.owners = append(f.owners, nil)
	return int32(len(f.owners) - 1)
}

// find calls yield with the owner of each word in the line; an owner may come more than once.
func (f *wordFinder) find(line string, yield func(id int)) {
	state := int32(0)
	for i := range len(line) {
		state = f.next[int(state)*f.columns+int(f.class[line[i]])]
		for _, id := range f.owners[state] {
			yield(id)
		}
	}
}
