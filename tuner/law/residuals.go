package law

// Residual compares one published measurement with what the law gives.
type Residual struct {
	Study, Model, Engine, Workload string
	Args                           []string
	Status                         string  // as published: ok, oom, low_success
	Published                      float64 // (input + output tokens) / duration, tokens/s; 0 for a failure
	Law                            float64 // the same under the law; 0 for a failure
	Error                          float64 // Law/Published - 1
	Bar                            float64 // the largest |Error| allowed: 0.10 on the study's target workload, 0.25 elsewhere
	LawStatus                      string  // ok, oom, low_success
	OK                             bool    // within the bar, or the same failure
}

// Residuals runs every published configuration under the law.
func Residuals() []Residual { return nil }
