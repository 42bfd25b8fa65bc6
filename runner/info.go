package runner

import (
	"context"
	"encoding/json"
	"strings"
)

// readInfo reads the engine's version and its effective configuration. What it does not tell is left empty.
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
	if run.EngineVersion == "" {
		run.EngineVersion = a.news.fact("version")
	}
}
