package load

import (
	"net/http"

	"autotune/tuner/workload"
)

// For is the target as a workload is sent to it: with its headers, and with its API key where it names one. Values of variables reach the server and
// nothing else: they are hidden, should the server repeat them.
func (t Target) For(w workload.Spec, getenv func(name string) string) Target {
	if w.APIKeyEnv != "" {
		t.APIKey = getenv(w.APIKeyEnv)
	}
	t.Headers, t.Secrets = t.Headers.Clone(), append([]string(nil), t.Secrets...)
	for _, h := range w.Headers {
		if t.Headers == nil {
			t.Headers = http.Header{}
		}
		t.Headers.Set(h.Name, workload.HeaderVariable.ReplaceAllStringFunc(h.Value, func(name string) string {
			value := getenv(name[1:])
			t.Secrets = append(t.Secrets, value)
			return value
		}))
	}
	return t
}
