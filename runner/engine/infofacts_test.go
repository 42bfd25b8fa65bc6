package engine_test

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFactsOfLinesAndAnswers(t *testing.T) {
	v, s := find(t, "vllm"), find(t, "sglang")
	for _, c := range []struct {
		got, want map[string]string
	}{
		{v.Facts("(EngineCore_DP0 pid=1) INFO 10-22 [cuda.py:1] Using FLASH_ATTN attention backend out of potential backends: ['FLASH_ATTN']"), map[string]string{"attention_backend": "FLASH_ATTN"}},
		{v.Facts("INFO [cuda.py:1] Using AttentionBackendEnum.FLASHINFER backend."), map[string]string{"attention_backend": "FLASHINFER"}},
		{v.Facts("INFO [unquantized.py:529] Using CPUUnquantizedExperts MoE backend"), nil},
		{v.Facts("INFO [executor_base.py:112] # GPU blocks: 12,345, # CPU blocks: 0"), map[string]string{"kv_blocks": "12345"}},
		{s.Facts("Attention backend not specified. Use fa3 backend by default."), map[string]string{"attention_backend": "fa3"}},
		{s.Facts("[2025-11-30 12:50:10] KV Cache is allocated. #tokens: 2243474, K size: 59.91 GB, V size: 59.91 GB"), map[string]string{"kv_tokens_allocated": "2243474", "kv_k_gib": "59.91", "kv_v_gib": "59.91"}},
		{s.InfoFacts([]byte(`{"max_total_num_tokens": 5, "internal_states": [{"memory_usage": {"weight": 87.5, "kvcache": 38, "graph": 1.25, "token_capacity": 405000}, "effective_max_running_requests_per_dp": 32}]}`)),
			map[string]string{"weights_gib": "87.5", "kv_gib": "38", "graphs_gib": "1.25", "kv_tokens": "405000", "max_running_requests_rank": "32"}},
		{s.InfoFacts([]byte(`{"max_total_num_tokens": 5, "internal_states": []}`)), map[string]string{"kv_tokens": "5"}},
		{v.InfoFacts([]byte(`{"vllm_config": "model=x"}`)), map[string]string{}},
		{v.MetricFacts("vllm:cache_config_info{_block_size_resolved=\"True\",block_size=\"128\",cache_dtype=\"auto\",kv_cache_size_tokens=\"1048576\",num_gpu_blocks=\"8192\",num_gpu_blocks_override=\"None\"} 1.0\nvllm:cache_config_info{block_size=\"1\"} 1\n"),
			map[string]string{"block_size": "128", "kv_tokens": "1048576", "kv_blocks": "8192"}},
	} {
		if diff := cmp.Diff(c.want, c.got); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	}
	raw, err := os.ReadFile("testdata/vllm/server_info.json")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"kv_tokens": "1048576", "kv_blocks": "8192", "block_size": "128", "max_concurrency": "256"}, v.InfoFacts(raw)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
