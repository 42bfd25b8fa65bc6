package engine_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"autotune/runner/engine"
	"autotune/space"
)

func TestCommands(t *testing.T) {
	set := flags("max-num-seqs", 16, "compilation-config.cudagraph_mode", "FULL", "speculative-config", `{"n": 4.0}`, "enable-prefix-caching", false, "port", 1, "future-flag", 3, "future-switch", true, "future-off", false, "optimization-level", 3, "served-model-name", "a b")
	d := find(t, "vllm")
	l := engine.Launch{Model: "org/m", Port: 8123, ServedName: "s-17", Settings: set}
	argv, additions := d.Command(l)
	want := []string{"vllm", "serve", "org/m", "--port=8123", "--served-model-name=s-17", "--max-num-seqs=16", "--compilation-config.cudagraph_mode=FULL", `--speculative-config={"n": 4.0}`, "--no-enable-prefix-caching", "--future-flag=3", "--future-switch", "-O3"}
	if diff := cmp.Diff(want, argv); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"--port=8123", "--served-model-name=s-17"}, additions); diff != "" {
		t.Error(diff)
	}
	want = []string{"vllm", "serve", "org/m", "--max-num-seqs=16", "--compilation-config.cudagraph_mode=FULL", `--speculative-config={"n": 4.0}`, "--no-enable-prefix-caching", "--port=1", "--future-flag=3", "--future-switch", "-O3", "--served-model-name", "a", "b"}
	if diff := cmp.Diff(want, d.Plain(l)); diff != "" {
		t.Error(diff)
	}

	s := find(t, "sglang")
	argv, additions = s.Command(engine.Launch{Executable: []string{"my python", "-m", "x"}, Model: "m", InternalPort: 900, Settings: flags("tp-size", 8, "enable-dp-attention", true, "mem-fraction-static", 0.85)})
	if diff := cmp.Diff([]string{"my python", "-m", "x", "--model-path=m", "--enable-metrics", "--nccl-port=900", "--tp-size=8", "--enable-dp-attention", "--mem-fraction-static=0.85"}, argv); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"--enable-metrics", "--nccl-port=900"}, additions); diff != "" {
		t.Error(diff)
	}
}

func TestEnvironment(t *testing.T) {
	env := find(t, "vllm").Env(engine.Launch{InternalPort: 901})
	for _, v := range []string{"SPT_NOENV=1", "VLLM_SERVER_DEV_MODE=1", "VLLM_PORT=901"} {
		if !slices.Contains(env, v) {
			t.Errorf("vLLM needs %s: %v", v, env)
		}
	}
	if env := find(t, "sglang").Env(engine.Launch{}); !slices.Contains(env, "SPT_NOENV=1") || strings.Contains(strings.Join(env, " "), "VLLM") {
		t.Errorf("SGLang's environment: %v", env)
	}
}

func TestDefaultsThatTheMachineDecides(t *testing.T) {
	for _, c := range []struct {
		engine, flag string
		host         engine.Host
		want         int64 // 0: unknown
	}{
		{"vllm", "max-num-seqs", h200, 1024}, {"vllm", "max-num-seqs", engine.Host{GPU: "A100-80GB", MemoryGiB: 80}, 256}, {"vllm", "max-num-seqs", engine.Host{}, 0},
		{"vllm", "max-num-batched-tokens", h200, 8192}, {"vllm", "max-num-batched-tokens", engine.Host{GPU: "B200", MemoryGiB: 180}, 16384}, {"vllm", "max-num-batched-tokens", engine.Host{GPU: "L4", MemoryGiB: 22}, 2048},
		{"sglang", "chunked-prefill-size", h200, 8192}, {"sglang", "chunked-prefill-size", engine.Host{MemoryGiB: 48}, 4096}, {"sglang", "chunked-prefill-size", engine.Host{MemoryGiB: 24}, 4096}, {"sglang", "chunked-prefill-size", engine.Host{MemoryGiB: 16}, 2048}, {"sglang", "tp-size", h200, 1},
	} {
		v, ok := find(t, c.engine).ResolvedDefault(c.flag, c.host)
		if ok != (c.want != 0) || ok && v != space.Int(c.want) {
			t.Errorf("%s %s on %+v: %v %v, want %d", c.engine, c.flag, c.host, v, ok, c.want)
		}
	}
}

// The phases of real start-ups come in order, and their sizes are read.
func TestStartupLogs(t *testing.T) {
	for _, c := range []struct {
		engine, file, phases string
		facts                map[string]string
	}{
		{"vllm", "testdata/vllm/start_cpu.log", "flags init load profile capture serve", map[string]string{"kv_tokens": "1048576", "max_concurrency": "256.00", "init_seconds": "71.26", "max_model_len": "4096", "version": "0.32.0"}},
		{"vllm", "testdata/vllm/start.log", "flags load profile capture serve", map[string]string{"weights_gib": "12.66", "kv_gib": "11.17", "kv_tokens": "162704", "graphs_gib": "0.48", "compile_seconds": "39.60"}},
		{"sglang", "testdata/sglang/start.log", "profile capture serve", map[string]string{"weights_gib": "7.21", "kv_tokens": "2243474", "graphs_gib": "1.44", "chunked_prefill_size": "16384", "max_running_requests": "4096", "max_model_len": "40960", "free_gib": "38.05"}},
	} {
		d := find(t, c.engine)
		text, err := os.ReadFile(c.file)
		if err != nil {
			t.Fatal(err)
		}
		var phases []string
		facts := map[string]string{}
		for _, line := range strings.Split(string(text), "\n") {
			if p, ok := d.Marker(line); ok && (len(phases) == 0 || phases[len(phases)-1] != string(p)) {
				phases = append(phases, string(p))
			}
			for name, value := range d.Facts(line) {
				facts[name] = value
			}
		}
		if got := strings.Join(phases, " "); got != c.phases {
			t.Errorf("%s: phases %s", c.file, got)
		}
		for name, want := range c.facts {
			if facts[name] != want {
				t.Errorf("%s: %s is %q, want %q", c.file, name, facts[name], want)
			}
		}
	}
}

func TestEndpoints(t *testing.T) {
	v, s := find(t, "vllm"), find(t, "sglang")
	got := []string{v.HealthPath(), v.ModelsPath(), v.FlushPath(), strings.Join(v.InfoPaths(), " "), s.FlushPath(), strings.Join(s.InfoPaths(), " ")}
	want := []string{"/health", "/v1/models", "/reset_prefix_cache", "/server_info?config_format=json /version", "/flush_cache", "/server_info /get_server_info"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
