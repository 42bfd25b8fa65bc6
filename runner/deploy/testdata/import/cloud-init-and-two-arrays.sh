#!/bin/bash
set -euo pipefail
COMMON_ARGS=(
  --dtype bfloat16                 # weights
  --max-model-len "${MAX_LEN:-32768}"
  --gpu-memory-utilization 0.92
)
SPEC='{"method": "eagle3", "model": "yuhuili/EAGLE3-LLaMA3.1-Instruct-8B", "num_speculative_tokens": 3}'
[[ "${ENABLE_SPEC:-1}" == "1" ]] && COMMON_ARGS+=(--speculative-config "$SPEC")
exec vllm serve meta-llama/Llama-3.1-8B-Instruct "${COMMON_ARGS[@]}" --override-generation-config '{"temperature":0.6}' "$@"
