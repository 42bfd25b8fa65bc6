package fake

import (
	"encoding/json"
	"net/http"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// metric reads one sample of an exposition; labels is a part of what stands in the braces.
func (p *process) metric(name, labels string) float64 {
	p.t.Helper()
	_, text := p.get("/metrics")
	m := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(name) + `\{[^}]*` + labels + `[^}]*\} (\S+)$`).FindStringSubmatch(text)
	if m == nil {
		p.t.Fatalf("no %s{%s} in:\n%s", name, labels, text)
	}
	x, err := strconv.ParseFloat(m[1], 64)
	if err != nil {
		p.t.Fatal(err)
	}
	return x
}

// object decodes a JSON answer.
func (p *process) object(path string) map[string]any {
	p.t.Helper()
	status, text := p.get(path)
	var v map[string]any
	if err := json.Unmarshal([]byte(text), &v); err != nil || status != http.StatusOK {
		p.t.Fatalf("%s: %d %q", path, status, text)
	}
	return v
}

func TestVLLMEndpoints(t *testing.T) {
	p := ready(t, "--engine-version 0.99.1 vllm serve demo/tiny --served-model-name trial-7 --max-num-seqs=48 --tensor-parallel-size 2 --kv-cache-dtype fp8", "VLLM_SERVER_DEV_MODE=1")
	model := p.object("/v1/models")["data"].([]any)[0].(map[string]any)
	if model["id"] != "trial-7" || model["root"] != "demo/tiny" || model["max_model_len"] != 8192.0 {
		t.Errorf("/v1/models: %v", model)
	}
	if v := p.object("/version")["version"]; v != "0.99.1" {
		t.Errorf("/version: %v", v)
	}
	config := p.object("/server_info?config_format=json")["vllm_config"].(map[string]any)
	for path, want := range map[string]any{
		"scheduler_config.max_num_seqs": 48.0, "scheduler_config.max_num_batched_tokens": 8192.0, "scheduler_config.enable_chunked_prefill": true,
		"parallel_config.tensor_parallel_size": 2.0, "cache_config.cache_dtype": "fp8", "cache_config.gpu_memory_utilization": 0.92,
		"model_config.max_model_len": 8192.0, "model_config.served_model_name": "trial-7",
	} {
		section, key, _ := strings.Cut(path, ".")
		if got := config[section].(map[string]any)[key]; got != want {
			t.Errorf("server_info %s: %v, want %v", path, got, want)
		}
	}
	if status, _ := p.get("/get_server_info"); status != http.StatusNotFound {
		t.Errorf("an endpoint of the other engine: %d", status)
	}
	p.logged(`vLLM API server version 0\.99\.1`)
	p.logged(`non-default args: \{.*'max_num_seqs': 48, 'tensor_parallel_size': 2, 'kv_cache_dtype': 'fp8'`)
	p.logged(`"GET /v1/models HTTP/1.1" 200 OK`)
}

func TestDevEndpointsNeedTheVariable(t *testing.T) {
	p := ready(t, "vllm serve demo/tiny", "VLLM_SERVER_DEV_MODE=0")
	if status, _ := p.get("/server_info"); status != http.StatusNotFound {
		t.Errorf("/server_info: %d", status)
	}
	if status, _ := p.post("/reset_prefix_cache", ""); status != http.StatusNotFound {
		t.Errorf("/reset_prefix_cache: %d", status)
	}
}

func TestSGLangEndpoints(t *testing.T) {
	p := ready(t, "sglang --model-path demo/tiny --served-model-name trial-8 --tp 2 --max-running-requests 96 --enable-metrics")
	if model := p.object("/v1/models")["data"].([]any)[0].(map[string]any); model["id"] != "trial-8" || model["owned_by"] != "sglang" {
		t.Errorf("/v1/models: %v", model)
	}
	for _, path := range []string{"/server_info", "/get_server_info"} {
		info := p.object(path)
		for key, want := range map[string]any{"model_path": "demo/tiny", "tp_size": 2.0, "max_running_requests": 96.0, "chunked_prefill_size": 8192.0,
			"enable_metrics": true, "version": "0.5.17", "schedule_policy": "fcfs", "kv_cache_dtype": "auto"} {
			if info[key] != want {
				t.Errorf("%s %s: %v, want %v", path, key, info[key], want)
			}
		}
		if info["internal_states"].([]any)[0].(map[string]any)["effective_max_running_requests_per_dp"] != 96.0 {
			t.Errorf("%s: internal_states: %v", path, info["internal_states"])
		}
	}
	if status, _ := p.get("/version"); status != http.StatusNotFound {
		t.Errorf("an endpoint of the other engine: %d", status)
	}
	p.logged(`server_args=ServerArgs\(model_path='demo/tiny', .*tp_size=2`)
	p.logged(`Uvicorn running on`)
	if status, text := p.post("/v1/completions", `{"model":"other","prompt":"x"}`); status != 404 || !strings.Contains(text, `"object":"error"`) {
		t.Errorf("a wrong model: %d %s", status, text)
	}
}

func TestMetricsOfSGLangNeedTheFlag(t *testing.T) {
	p := ready(t, "sglang --model-path demo/tiny")
	if status, _ := p.get("/metrics"); status != http.StatusNotFound {
		t.Errorf("/metrics: %d", status)
	}
}

func TestMetricsCountWhatIsServed(t *testing.T) {
	names := map[string][]string{
		"vllm serve demo/tiny": {"vllm:prompt_tokens_total", "vllm:generation_tokens_total", `vllm:num_requests_running`, `vllm:num_requests_waiting`,
			"vllm:kv_cache_usage_perc", "vllm:num_preemptions_total", "vllm:prefix_cache_queries_total", "vllm:prefix_cache_hits_total"},
		"sglang --model-path demo/tiny --enable-metrics": {"sglang:prompt_tokens_total", "sglang:generation_tokens_total", "sglang:num_running_reqs", "sglang:num_queue_reqs",
			"sglang:token_usage", "sglang:num_retracted_requests_total", "sglang:max_total_num_tokens", "sglang:cached_tokens_total"},
	}
	for words, names := range names {
		p := ready(t, words)
		p.ask("/v1/completions", completion("demo/tiny", 100, 7))
		p.ask("/v1/completions", completion("demo/tiny", 11, 3))
		if in, out := p.metric(names[0], `model_name="demo/tiny"`), p.metric(names[1], `model_name="demo/tiny"`); in != 111 || out != 10 {
			t.Errorf("%s: %v prompt tokens and %v generated, want 111 and 10", words, in, out)
		}
		for _, name := range names {
			p.metric(name, "")
		}
		p.poll("the requests to leave", func() bool { return p.metric(names[2], "") == 0 && p.metric(names[3], "") == 0 })
		if p.terminate() != 0 {
			t.Error("it did not end well")
		}
	}
}

func TestPrefixCacheIsCountedAndFlushed(t *testing.T) {
	p := ready(t, "vllm serve demo/tiny", "VLLM_SERVER_DEV_MODE=1")
	hits := func() float64 { return p.metric("vllm:prefix_cache_hits_total", "") }
	p.ask("/v1/completions", completion("demo/tiny", 100, 2))
	if hits() != 0 {
		t.Error("a new prompt hit the cache")
	}
	p.ask("/v1/completions", completion("demo/tiny", 100, 2))
	if hits() != 100 || p.metric("vllm:prefix_cache_queries_total", "") != 200 {
		t.Errorf("the same prompt again: %v hits", hits())
	}
	p.poll("the cache to be flushed", func() bool { _, text := p.post("/reset_prefix_cache", ""); return text == `{"success":true}` })
	p.ask("/v1/completions", completion("demo/tiny", 100, 2))
	if hits() != 100 {
		t.Errorf("after a flush: %v hits", hits())
	}
	q := ready(t, "sglang --model-path demo/tiny")
	q.poll("the cache to be flushed", func() bool { status, _ := q.post("/flush_cache", ""); return status == http.StatusOK })
}

func TestStreamsOfBothEndpoints(t *testing.T) {
	for _, words := range []string{"vllm serve demo/tiny", "sglang --model-path demo/tiny"} {
		p := ready(t, words)
		a := p.ask("/v1/completions", completion("demo/tiny", 50, 12))
		if a.Status != 200 || a.Events != 12 || a.Usage != 12 || a.Prompt != 50 || a.Finish != "length" || !a.Done || a.Error != "" || a.Broken || a.End != -1 {
			t.Errorf("%s, completion: %+v", words, a)
		}
		a = p.ask("/v1/chat/completions", `{"model":"demo/tiny","messages":[{"role":"user","content":"ban cor"}],"max_completion_tokens":4,"ignore_eos":true,"stream":true,"stream_options":{"include_usage":true}}`)
		if a.Status != 200 || a.Events != 4 || a.Usage != 4 || a.Prompt != templateTokens+2 || a.Finish != "length" || !a.Done {
			t.Errorf("%s, chat: %+v", words, a)
		}
		a = p.ask("/v1/completions", `{"model":"demo/tiny","prompt":"ban cor dis","max_tokens":5,"ignore_eos":true,"stream":true}`)
		if a.Events != 5 || a.Usage != -1 || !a.Done {
			t.Errorf("%s, without usage: %+v", words, a)
		}
	}
}

func TestAnswersWithoutStream(t *testing.T) {
	p := ready(t, "vllm serve demo/tiny")
	for path, body := range map[string]string{
		"/v1/completions":      `{"model":"demo/tiny","prompt":[5,6,7],"max_tokens":4,"ignore_eos":true}`,
		"/v1/chat/completions": `{"model":"demo/tiny","messages":[{"role":"user","content":[{"type":"text","text":"ban"}]}],"max_tokens":4,"ignore_eos":true}`,
	} {
		status, text := p.post(path, body)
		var v struct {
			Object  string
			Choices []struct {
				Text    string
				Message struct{ Role, Content string }
				Finish  string `json:"finish_reason"`
			}
			Usage struct {
				Prompt     int `json:"prompt_tokens"`
				Completion int `json:"completion_tokens"`
				Total      int `json:"total_tokens"`
			}
		}
		if err := json.Unmarshal([]byte(text), &v); err != nil || status != 200 || len(v.Choices) != 1 {
			t.Fatalf("%s: %d %s", path, status, text)
		}
		c := v.Choices[0]
		if len(c.Text+c.Message.Content) != 4*wordLength || c.Finish != "length" || v.Usage.Completion != 4 || v.Usage.Total != v.Usage.Prompt+4 || v.Usage.Prompt < 3 {
			t.Errorf("%s: %s", path, text)
		}
	}
}

func TestRequestsThatEnginesRefuse(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger")
	p := ready(t, "--ledger "+path+" vllm serve demo/tiny --max-model-len 4096")
	for body, want := range map[string]struct {
		status int
		text   string
	}{
		`{"model":`:                                                              {400, "JSON decode error"},
		`{"model":"other","prompt":"x"}`:                                         {404, "The model `other` does not exist."},
		`{"model":"demo/tiny"}`:                                                  {400, "prompt"},
		`{"model":"demo/tiny","prompt":7}`:                                       {400, "prompt"},
		`{"model":"demo/tiny","prompt":"x","max_tokens":0}`:                      {400, "max_tokens must be at least 1"},
		`{"model":"demo/tiny","prompt":` + ids(4090) + `,"max_tokens":100}`:      {400, "This model's maximum context length is 4096 tokens. However, you requested 100 output tokens"},
		`{"model":"demo/tiny","prompt":` + ids(5000) + `,"max_tokens":1}`:        {400, "your prompt contains 5000 input tokens"},
		`{"model":"demo/tiny","prompt":"x","max_tokens":5000,"ignore_eos":true}`: {400, "maximum context length is 4096"},
	} {
		if status, text := p.post("/v1/completions", body); status != want.status || !strings.Contains(text, want.text) {
			t.Errorf("%.80s: %d %s; want %v", body, status, text, want)
		}
	}
	if status, _ := p.post("/v1/chat/completions", `{"model":"demo/tiny"}`); status != 400 {
		t.Errorf("a chat without messages: %d", status)
	}
	if status, _ := p.get("/nowhere"); status != 404 {
		t.Errorf("an unknown path: %d", status)
	}
	p.terminate()
	ledger, err := ReadLedger(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range ledger.Entries {
		if e.Status == 200 || e.Output != 0 || e.OK() {
			t.Errorf("the ledger has a refused request as served: %+v", e)
		}
	}
}

func TestModelEndsByItself(t *testing.T) {
	p := ready(t, "vllm serve demo/tiny")
	short := 0
	for range 8 {
		a := p.ask("/v1/completions", `{"model":"demo/tiny","prompt":"x","max_tokens":12,"stream":true,"stream_options":{"include_usage":true}}`)
		if a.Usage < 1 || a.Usage > 12 || (a.Usage < 12) != (a.Finish == "stop") {
			t.Errorf("%+v", a)
		}
		if a.Usage < 12 {
			short++
		}
	}
	if short == 0 {
		t.Error("without ignore_eos no answer ended early")
	}
}
