package runner

import (
	"cmp"
	"net/http"
	"strings"

	"autotune/runner/load"
	"autotune/tuner/workload"
)

// authorize makes the target one for this workload: with its headers, and with its API key where it names one, else the server's own. Values of
// variables reach the server and nothing else: the load generator hides them, should the server repeat them.
func (a *attempt) authorize(t *load.Target, w workload.Spec) {
	t.Headers, t.APIKey, t.Secrets = nil, a.hidden.apiKey, nil
	if w.APIKeyEnv != "" {
		t.APIKey = cmp.Or(variable(a.Environ, w.APIKeyEnv), t.APIKey)
	}
	for _, h := range w.Headers {
		if t.Headers == nil {
			t.Headers = http.Header{}
		}
		t.Headers.Set(h.Name, workload.HeaderVariable.ReplaceAllStringFunc(h.Value, func(name string) string {
			value := variable(a.Environ, name[1:])
			t.Secrets = append(t.Secrets, value)
			return value
		}))
	}
}

// variable is the value of an environment's variable; the last one counts.
func variable(environ []string, name string) (value string) {
	for _, e := range environ {
		if v, ok := strings.CutPrefix(e, name+"="); ok {
			value = v
		}
	}
	return value
}
