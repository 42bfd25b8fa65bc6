hash -r && export VLLM_ATTENTION_BACKEND=FLASHINFER && \
  uv run --active vllm serve Qwen/Qwen3-30B-A3B-Instruct-2507 --quantization fp8 --kv_cache_dtype fp8 --max_num_batched_tokens=16_384 --rope-scaling '{"rope_type":"yarn","factor":4.0,"original_max_position_embeddings":32768}' --served-model-name qwen3 qwen3-30b --port 8000 | ts '[%H:%M:%S]' > run.log
