package load

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"autotune/tuner/metric"
	"autotune/tuner/workload"
)

// Headers and key of a workload are sent, stay with that workload, and stand in no record.
func TestTargetForAWorkload(t *testing.T) {
	var got http.Header
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r.Header
		http.Error(w, "no access with "+r.Header.Get("X-Route")+" and "+r.Header.Get("Authorization"), http.StatusUnauthorized)
	}))
	defer server.Close()
	plain := Target{URL: server.URL, Model: "m", APIKey: "own"}
	s := workload.Spec{Dataset: workload.Random, InputTokens: 2, OutputTokens: 2, Requests: 1, Endpoint: workload.Completions,
		APIKeyEnv: "OPENAI_API_KEY", Headers: []workload.Header{{Name: "x-route", Value: "to $MY_TOKEN"}, {Name: "X-Plain", Value: "fast"}}}
	target := plain.For(s, func(name string) string {
		return map[string]string{"OPENAI_API_KEY": "k3y-k3y", "MY_TOKEN": "s3cret"}[name]
	})
	result, err := Run(context.Background(), target, Options{Spec: s})
	if err != nil {
		t.Fatal(err)
	}
	if got.Get("Authorization") != "Bearer k3y-k3y" || got.Get("X-Route") != "to s3cret" || got.Get("X-Plain") != "fast" {
		t.Errorf("sent: %v", got)
	}
	rec := result.Records[0]
	if rec.Error != metric.ErrRefused || !strings.Contains(rec.Detail, "no access") || strings.Contains(rec.Detail, "s3cret") || strings.Contains(rec.Detail, "k3y") {
		t.Errorf("the record says %q", rec.Detail)
	}
	if next := plain.For(workload.Spec{}, nil); next.APIKey != "own" || next.Headers != nil || len(next.Secrets) != 0 || plain.Headers != nil {
		t.Errorf("left over: %+v", next)
	}
}
