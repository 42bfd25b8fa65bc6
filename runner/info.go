package runner

import (
	"context"
	"encoding/json"
	"strings"
)

// readInfo reads the engine's version, its effective configuration, and the sizes that came of it. What it does not tell is left empty.
func (a *attempt) readInfo(ctx context.Context) {
	run := &a.out.Run
	for _, path := range a.plan.Engine.InfoPaths() {
		text, err := a.get(ctx, path)
		if err != nil {
			continue
		}
		text = []byte(a.hidden.redact(string(text)))
		var info map[string]json.RawMessage
		if json.Unmarshal(text, &info) != nil {
			continue
		}
		var version string
		if json.Unmarshal(info["version"], &version) == nil && version != "" {
			run.EngineVersion = version
		}
		if run.Resolved == nil && !strings.HasSuffix(path, "/version") {
			run.Resolved = text
		}
	}
	a.readSizes(ctx)
	if run.EngineVersion == "" {
		run.EngineVersion = a.news.fact("version")
	}
}

// readSizes adds to what the log has told what the server tells of its sizes: in its configuration, or else in its metrics' labels.
func (a *attempt) readSizes(ctx context.Context) {
	a.news.add(a.plan.Engine.InfoFacts(a.out.Run.Resolved))
	if a.news.fact("kv_tokens") != "" {
		return
	}
	if text, err := a.get(ctx, a.plan.Engine.MetricsPath()); err == nil {
		a.news.add(a.plan.Engine.MetricFacts(string(text)))
	}
}
