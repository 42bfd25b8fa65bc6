package gaussian

import "math"

// Mixture is the average of Gaussian processes whose hyper-parameters are draws from their posterior, so that what few observations leave open of them widens its
// predictions (Snoek et al., Practical Bayesian Optimization of Machine Learning Algorithms, NIPS 2012, section 3.2). The Regression at its head has those that are
// likeliest.
type Mixture struct {
	*Regression
	members []*Regression
}

// How many members a mixture has: enough that another few would not change which point is asked, none where it would say nothing or cost too much.
const (
	mixtureMembers = 6
	mixtureLeast   = 5   // observations, below which there is the likeliest alone
	mixtureMost    = 120 // observations, above which the hyper-parameters are known well enough
)

// Mix fits the kernel's hyper-parameters as Regress does, and draws others that may as well be.
func Mix(dims []Dim, data []Observation) (*Mixture, error) {
	if len(data) == 0 {
		return nil, ErrNoData
	}
	f := newFitter(dims, telling(data))
	mode := f.mode()
	kernel, noise := f.unpack(mode)
	head, err := condition(dims, data, kernel, noise)
	if err != nil {
		return nil, err
	}
	m := &Mixture{Regression: head}
	if len(data) < mixtureLeast || len(data) > mixtureMost {
		return m, nil
	}
	for _, theta := range f.draw(mode, mixtureMembers) {
		kernel, noise := f.unpack(theta)
		if g, err := condition(dims, data, kernel, noise); err == nil {
			m.members = append(m.members, g)
		}
	}
	return m, nil
}

// With returns the mixture conditioned on further observations, under the same hyper-parameters.
func (m *Mixture) With(data []Observation) (*Mixture, error) {
	head, err := m.Regression.With(data)
	if err != nil {
		return nil, err
	}
	out := &Mixture{Regression: head}
	for _, g := range m.members {
		if g, err := g.With(data); err == nil {
			out.members = append(out.members, g)
		}
	}
	return out, nil
}

// Predict gives the mean and the variance of the mixture's noise-free value at a point: the members' means averaged, and the average of their variances and the
// variance of their means.
func (m *Mixture) Predict(point []int) (mean, variance float64) { return m.Predictor()(point) }

// Predictor predicts many points without allocating for each. Not for use by several goroutines.
func (m *Mixture) Predictor() func(point []int) (mean, variance float64) {
	if len(m.members) == 0 {
		return m.Regression.Predictor()
	}
	row, n := make([]float64, m.x.n), float64(len(m.members))
	return func(point []int) (mean, variance float64) {
		squares := 0.0
		for _, g := range m.members {
			mu, v := g.predict(point, row)
			mean += mu / n
			variance += v / n
			squares += mu * mu / n
		}
		return mean, variance + math.Max(0, squares-mean*mean)
	}
}
