vllm serve Qwen/Qwen3-8B --speculative-config ‘{"method":"ngram","num_speculative_tokens":3}’ --max-num-seqs 64
