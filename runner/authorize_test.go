package runner

import (
	"testing"

	"autotune/runner/load"
	"autotune/tuner/workload"
)

func TestAuthorize(t *testing.T) {
	a := &attempt{Runner: &Runner{Config: Config{Environ: []string{"MY_TOKEN=old", "MY_TOKEN=s3cret", "OPENAI_API_KEY=k3y"}}}, hidden: secrets{apiKey: "own"}}
	target := load.Target{URL: "u"}
	a.authorize(&target, workload.Spec{APIKeyEnv: "OPENAI_API_KEY", Headers: []workload.Header{{Name: "x-route", Value: "Bearer $MY_TOKEN"}, {Name: "X-Plain", Value: "fast"}}})
	if target.APIKey != "k3y" || target.Headers.Get("X-Route") != "Bearer s3cret" || target.Headers.Get("X-Plain") != "fast" {
		t.Errorf("%+v", target)
	}
	if len(target.Secrets) != 1 || target.Secrets[0] != "s3cret" {
		t.Errorf("the value of a header is not hidden: %q", target.Secrets)
	}
	a.authorize(&target, workload.Spec{}) // the next workload has none of them
	if target.APIKey != "own" || target.Headers != nil || target.Secrets != nil {
		t.Errorf("left over: %+v", target)
	}
}
