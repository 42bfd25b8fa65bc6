package engine

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
)

// infoFact is a figure in the answer of an info path.
type infoFact struct {
	name string
	path []string // to the number; through the first element of lists
}

var vllmInfoFacts = []infoFact{
	{"kv_tokens", []string{"vllm_config", "cache_config", "kv_cache_size_tokens"}},
	{"kv_blocks", []string{"vllm_config", "cache_config", "num_gpu_blocks"}},
	{"block_size", []string{"vllm_config", "cache_config", "block_size"}},
	{"max_concurrency", []string{"vllm_config", "cache_config", "kv_cache_max_concurrency"}},
}

// SGLang's scheduler tells its sizes in GB, which are GiB, for each data-parallel rank; the first one stands for all.
var sglangInfoFacts = []infoFact{
	{"weights_gib", []string{"internal_states", "memory_usage", "weight"}},
	{"kv_gib", []string{"internal_states", "memory_usage", "kvcache"}},
	{"graphs_gib", []string{"internal_states", "memory_usage", "graph"}},
	{"kv_tokens", []string{"internal_states", "memory_usage", "token_capacity"}},
	{"kv_tokens", []string{"max_total_num_tokens"}},
	{"max_running_requests_rank", []string{"internal_states", "effective_max_running_requests_per_dp"}},
}

// InfoFacts reads sizes from the answer of an info path, under the names that Facts gives those of the log.
func (d *Definition) InfoFacts(resolved json.RawMessage) map[string]string {
	var info any
	if json.Unmarshal(resolved, &info) != nil {
		return nil
	}
	facts := map[string]string{}
	for _, f := range d.infoFacts {
		if x, ok := follow(info, f.path).(float64); ok && x > 0 {
			if _, known := facts[f.name]; !known {
				facts[f.name] = strconv.FormatFloat(x, 'f', -1, 64)
			}
		}
	}
	return facts
}

// follow goes down a path of keys, and into the first element of each list.
func follow(v any, path []string) any {
	for {
		switch x := v.(type) {
		case []any:
			if len(x) == 0 {
				return nil
			}
			v = x[0]
			continue
		case map[string]any:
			if len(path) > 0 {
				v, path = x[path[0]], path[1:]
				continue
			}
		}
		if len(path) > 0 {
			return nil
		}
		return v
	}
}

// MetricsPath is where the engine's metrics are.
func (d *Definition) MetricsPath() string { return "/metrics" }

// metricLabel is a label of a metric with its value.
var metricLabel = regexp.MustCompile(`([a-z_]+)="([^"]*)"`)

// MetricFacts reads sizes from the labels of vLLM's metric cache_config_info, for a server that does not answer an info path.
func (d *Definition) MetricFacts(metrics string) map[string]string {
	facts := map[string]string{}
	names := map[string]string{"num_gpu_blocks": "kv_blocks", "block_size": "block_size", "kv_cache_size_tokens": "kv_tokens"}
	for line := range strings.Lines(metrics) {
		if !strings.HasPrefix(line, "vllm:cache_config_info{") {
			continue
		}
		for _, m := range metricLabel.FindAllStringSubmatch(line, -1) {
			name := names[m[1]]
			if _, err := strconv.ParseUint(m[2], 10, 63); err == nil && name != "" && facts[name] == "" {
				facts[name] = m[2]
			}
		}
	}
	return facts
}
