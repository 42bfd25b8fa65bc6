package search

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
)

// forest is a random forest for regression (Breiman, Random Forests, Machine Learning 45, 2001) over points on a grid of levels, which says how far its
// trees disagree (Hutter, Hoos and Leyton-Brown, Sequential Model-Based Optimization for General Algorithm Configuration, LION 2011, section 4.1).
type forest struct {
	trees [][]branch
}

// feature is one parameter as a tree sees it: its levels, the last of which stands for a value that is none of the domain.
type feature struct {
	places  []float64 // by level; nil where fewer than two levels are numbers
	order   []int     // the levels by their places
	classes []int     // by level: 0 for every number, then one each for the words
}

// beside is where words lie that stand among numbers ("off", "auto"): apart from them all, whose places are in [0, 1].
const beside = -0.25

// newFeature describes a dimension. Default, where it is not known what it stands for, lies in the middle of the numbers. Words among numbers are classes
// besides, so that a tree may tell them from the numbers around them.
func newFeature(d *dimension) feature {
	var f feature
	words, numbers := 0, 0
	for _, a := range d.atoms {
		place, class := a.place, 0
		if a.word {
			words++
			place, class = beside, words
			if a.value.IsDefault() {
				place = 0.5
			}
		} else {
			numbers++
		}
		f.places, f.classes = append(f.places, place), append(f.classes, class)
	}
	f.places, f.classes = append(f.places, beside), append(f.classes, words+1)
	if numbers < 2 {
		f.places = nil
		return f
	}
	for level := range f.places {
		f.order = append(f.order, level)
	}
	slices.SortStableFunc(f.order, func(a, b int) int { return cmp.Compare(f.places[a], f.places[b]) })
	return f
}

// branch is a node of a tree: a leaf, whose feature is -1, or a question.
type branch struct {
	feature        int
	left           []bool // by level of the feature
	kid            int    // the place of the left child in the tree; the right one follows it
	mean, variance float64
	count          float64
}

// forestSettings are how a forest grows.
type forestSettings struct {
	trees int
	// share is the share of the features that are looked at for a split, so that trees differ.
	share float64
	// leaf is how many observations a leaf has at least.
	leaf int
}

// grow makes a forest of points, each a level for every feature, and their values; there is at least one.
func (s forestSettings) grow(features []feature, of sample, r *rand.Rand) forest {
	var f forest
	for range s.trees {
		g := &grower{forestSettings: s, features: features, sample: of, random: r}
		drawn := make([]int, len(of.points)) // with replacement
		for i := range drawn {
			drawn[i] = r.IntN(len(of.points))
		}
		g.tree = []branch{g.leafOf(drawn)}
		g.split(0, drawn)
		f.trees = append(f.trees, g.tree)
	}
	return f
}

// predict gives the mean of the trees' means, and the variance of a random tree's leaf: the mean of the variances within the leaves, and that
// between the trees.
func (f forest) predict(point []int) (mean, variance float64) {
	squares := 0.0
	for _, t := range f.trees {
		b := descend(t, point)
		mean += b.mean
		squares += b.variance + b.mean*b.mean
	}
	n := float64(len(f.trees))
	mean /= n
	return mean, max(0, squares/n-mean*mean)
}

// probability is the mean of the leaves' shares of ones, each with half a one and half a zero more than it has seen: a pure leaf is not certain.
func (f forest) probability(point []int) float64 {
	sum := 0.0
	for _, t := range f.trees {
		b := descend(t, point)
		sum += (b.mean*b.count + 0.5) / (b.count + 1)
	}
	return sum / float64(len(f.trees))
}

func descend(tree []branch, point []int) *branch {
	b := &tree[0]
	for b.feature >= 0 {
		if b.left[point[b.feature]] {
			b = &tree[b.kid]
		} else {
			b = &tree[b.kid+1]
		}
	}
	return b
}

// grower grows one tree.
type grower struct {
	forestSettings
	sample
	features []feature
	random   *rand.Rand
	tree     []branch
}

func (g *grower) leafOf(drawn []int) branch {
	b := branch{feature: -1, count: float64(len(drawn))}
	for _, i := range drawn {
		b.mean += g.values[i]
	}
	b.mean /= b.count
	for _, i := range drawn {
		d := g.values[i] - b.mean
		b.variance += d * d
	}
	b.variance /= b.count
	return b
}

// split asks at a node the question that leaves the least variance, and goes on below.
func (g *grower) split(at int, drawn []int) {
	if len(drawn) < 2*g.leaf || g.tree[at].variance <= 0 {
		return
	}
	looked := max(1, int(math.Round(g.share*float64(len(g.features)))))
	best := question{gain: 1e-12 * g.tree[at].variance * float64(len(drawn))}
	tried := 0
	for _, i := range g.random.Perm(len(g.features)) {
		if tried == looked {
			break
		}
		if g.ask(i, drawn, &best) {
			tried++ // a feature in which all are alike does not count
		}
	}
	if best.left == nil {
		return
	}
	var left, right []int
	for _, i := range drawn {
		if best.left[g.points[i][best.feature]] {
			left = append(left, i)
		} else {
			right = append(right, i)
		}
	}
	kid := len(g.tree)
	g.tree[at].feature, g.tree[at].left, g.tree[at].kid = best.feature, best.left, kid
	g.tree = append(g.tree, g.leafOf(left), g.leafOf(right))
	g.split(kid, left)
	g.split(kid+1, right)
}
