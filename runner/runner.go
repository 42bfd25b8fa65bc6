package runner

import (
	"context"
	"errors"
	"fmt"

	"autotune/tuner"
)

// Runner carries out trials, one at a time.
type Runner struct {
	Config
}

// New makes a runner; it starts nothing.
func New(c Config) (*Runner, error) {
	if err := c.validate(); err != nil {
		return nil, fmt.Errorf("making a runner: %w", err)
	}
	return &Runner{Config: c.clone()}, nil
}

// Run implements tuner.Runner.
func (r *Runner) Run(ctx context.Context, t tuner.Trial, observe func(tuner.Partial) tuner.Verdict) (tuner.Outcome, error) {
	return tuner.Outcome{}, errors.New("not yet")
}
