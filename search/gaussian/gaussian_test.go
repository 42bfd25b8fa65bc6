package gaussian

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
)

// reference is what testdata/make.py worked out with numpy and scipy.
type reference struct {
	Places               [][]float64
	Levels               []int
	X, Ask               [][]int
	Y, Noise, Ran, Prior []float64
	Scale, Variance      float64
	Additive             float64
	Weight, Length       []float64
	Regression           struct {
		Mean, Variance []float64
		Likelihood     float64
	}
	Classification classified
	Trend          []float64
	WithTrend      classified
}

type classified struct {
	Weight, Scale, Evidence float64
	Probability             []float64
}

func (r reference) kernel() Kernel {
	return Kernel{Scale: r.Scale, Additive: r.Additive, Weight: r.Weight, Length: r.Length}
}

func load(t *testing.T) (reference, []Dim, []Observation) {
	t.Helper()
	text, err := os.ReadFile("testdata/reference.json")
	if err != nil {
		t.Fatal(err)
	}
	var ref reference
	if err := json.Unmarshal(text, &ref); err != nil {
		t.Fatal(err)
	}
	var dims []Dim
	for i, n := range ref.Levels {
		dims = append(dims, Dim{Levels: n, Place: ref.Places[i]})
	}
	var data []Observation
	for i, p := range ref.X {
		data = append(data, Observation{Point: p, Value: ref.Y[i], Noise: ref.Noise[i]})
	}
	return ref, dims, data
}

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s is %.9g, want %.9g", what, got, want)
	}
}

func TestPosteriorAgreesWithTheReference(t *testing.T) {
	ref, dims, data := load(t)
	g, err := condition(dims, data, ref.kernel(), ref.Variance)
	if err != nil {
		t.Fatal(err)
	}
	predict := g.Predictor()
	for i, p := range ref.Ask {
		mean, variance := predict(p)
		near(t, "mean", mean, ref.Regression.Mean[i], 1e-8)
		near(t, "variance", variance, ref.Regression.Variance[i], 1e-8)
	}
}

func TestLikelihoodAgreesWithTheReference(t *testing.T) {
	ref, dims, data := load(t)
	f := newFitter(dims, data)
	theta := thetaOf(f, ref.kernel(), ref.Variance)
	prior := 0.0
	for i, p := range f.priors {
		c, _ := p.cost(theta[i])
		prior += c
	}
	near(t, "log likelihood", prior-f.cost(theta, make([]float64, len(theta))), ref.Regression.Likelihood, 1e-8)
}

func thetaOf(f *fitter, k Kernel, noise float64) []float64 {
	theta := []float64{math.Log(k.Scale), math.Log(noise), math.Log(k.Additive)}
	for _, a := range k.Weight {
		theta = append(theta, math.Log(a))
	}
	for _, d := range f.lengths {
		theta = append(theta, math.Log(k.Length[d]))
	}
	return theta
}

// TestGradient compares the gradient with central differences at many hyper-parameters.
func TestGradient(t *testing.T) {
	_, dims, data := load(t)
	f := newFitter(dims, data)
	r := rand.New(rand.NewPCG(1, 1))
	gradient, ignored := make([]float64, len(f.priors)), make([]float64, len(f.priors))
	for range 20 {
		theta := make([]float64, len(f.priors))
		for i, p := range f.priors {
			theta[i] = p.Mean + p.SD*r.NormFloat64()
		}
		f.cost(theta, gradient)
		for i := range theta {
			const h = 1e-5
			up, down := slices.Clone(theta), slices.Clone(theta)
			up[i], down[i] = up[i]+h, down[i]-h
			want := (f.cost(up, ignored) - f.cost(down, ignored)) / (2 * h)
			near(t, "gradient", gradient[i], want, 1e-4*(1+math.Abs(want)))
		}
	}
}

// TestFitIsAMaximum: from the fit no single hyper-parameter can be moved to a better one.
func TestFitIsAMaximum(t *testing.T) {
	_, dims, data := load(t)
	f := newFitter(dims, data)
	k, noise := f.best()
	theta, ignored := thetaOf(f, k, noise), make([]float64, len(f.priors))
	at := f.cost(theta, ignored)
	for i := range theta {
		for _, step := range []float64{-0.1, 0.1} {
			moved := slices.Clone(theta)
			moved[i] += step
			if c := f.cost(moved, ignored); c < at-1e-3 {
				t.Errorf("hyper-parameter %d moved by %g costs %g, the fit %g", i, step, c, at)
			}
		}
	}
}

// TestClassificationAgreesWithTheReference compares without linear effects and with some.
func TestClassificationAgreesWithTheReference(t *testing.T) {
	ref, dims, _ := load(t)
	var labels []Label
	for i, p := range ref.X {
		labels = append(labels, Label{Point: p, Ran: ref.Ran[i] == 1, Prior: ref.Prior[i]})
	}
	check := func(dims []Dim, want classified) {
		t.Helper()
		c := Classify(dims, labels)
		near(t, "chosen weight", c.Kernel.Weight[0], want.Weight, 0)
		near(t, "chosen scale", c.Kernel.Scale, want.Scale, 0)
		near(t, "log evidence", c.Evidence, want.Evidence, 1e-5)
		probability := c.Predictor()
		for i, p := range ref.Ask {
			near(t, "probability", probability(p, 1), want.Probability[i], 1e-5)
		}
	}
	check(dims, ref.Classification)
	for i, size := range ref.Trend {
		dims[i].Trend = size
	}
	check(dims, ref.WithTrend)
}

func TestNothingSeenIsThePrior(t *testing.T) {
	_, dims, _ := load(t)
	p := Classify(dims, nil).Predictor()
	near(t, "probability", p([]int{0, 0, 0}, 2.2), 1/(1+math.Exp(-2.2/math.Sqrt(1+math.Pi*4/8))), 1e-12)
	if _, err := Regress(dims, nil); err != ErrNoData {
		t.Errorf("a regression on nothing: %v, want %v", err, ErrNoData)
	}
}

// TestAwkwardData: equal points, equal values, one value a thousand times the rest, and more observations than are fitted give finite predictions.
func TestAwkwardData(t *testing.T) {
	_, dims, _ := load(t)
	r := rand.New(rand.NewPCG(2, 2))
	for name, value := range map[string]func(i int) float64{
		"constant":  func(int) float64 { return 7 },
		"one large": func(i int) float64 { return math.Log(map[bool]float64{true: 1000, false: 1}[i == 3]) },
		"random":    func(int) float64 { return r.NormFloat64() },
	} {
		for _, n := range []int{1, 2, 30, fitMost + 50} {
			var data []Observation
			for i := range n {
				data = append(data, Observation{Point: []int{r.IntN(3), r.IntN(4), r.IntN(2)}, Value: value(i)})
			}
			g, err := Regress(dims, data)
			if err != nil {
				t.Fatalf("%s, %d: %v", name, n, err)
			}
			mean, variance := g.Predict([]int{1, 2, 1})
			if math.IsNaN(mean) || math.IsNaN(variance) || variance < 0 || math.Abs(mean) > 10 {
				t.Errorf("%s, %d observations: mean %g, variance %g", name, n, mean, variance)
			}
		}
	}
}

func TestFitTakesTheBestAndTheLatest(t *testing.T) {
	var data []Observation
	for i := range fitMost + 40 {
		data = append(data, Observation{Point: []int{i}, Value: float64((i * 7) % 50)})
	}
	got := telling(data)
	if len(got) != fitMost {
		t.Fatalf("%d observations, want %d", len(got), fitMost)
	}
	for i := range fitMost / 2 {
		if want := len(data) - fitMost/2 + i; got[fitMost/2+i].Point[0] != want {
			t.Errorf("late observation %d is %d, want %d", i, got[fitMost/2+i].Point[0], want)
		}
	}
	worst := math.Inf(1)
	for _, o := range got[:fitMost/2] {
		worst = math.Min(worst, o.Value)
	}
	left := 0
	for _, o := range data[:len(data)-fitMost/2] {
		if o.Value > worst {
			left++
		}
	}
	if left >= fitMost/2 {
		t.Errorf("%d earlier observations are better than the worst that was taken", left)
	}
}
