#!/bin/bash
MODEL=${MODEL:-Qwen/Qwen3-30B-A3B}
ARGS=(--trust-remote-code --max-num-seqs "${SEQS:-128}")
if [ -n "$DEBUG" ]; then
  ARGS+=(--enforce-eager)
fi
ARGS+=(--chat-template "my templates/chat.jinja")
exec vllm serve "$MODEL" "${ARGS[@]}" --dtype bfloat16 "$@"
