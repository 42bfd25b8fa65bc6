#!/usr/bin/env bash
set -euo pipefail
MODEL_REPO="${1:-Qwen/Qwen2.5-7B-Instruct}"
TPORT="${2:-8008}"

if ! command -v docker >/dev/null 2>&1; then
  echo "Docker not found"
  exit 1
fi

if ! docker info | grep -q "Runtimes: nvidia"; then
  echo "NVIDIA Container Toolkit not detected in Docker info. Make sure it is installed."
fi

echo "Launching vLLM for $MODEL_REPO on port $TPORT ..."
docker run -d --restart unless-stopped \
  --gpus all \
  -p ${TPORT}:8000 \
  -e HF_TOKEN="${HF_TOKEN:-}" \
  -e VLLM_WORKER_USE_NCCL=0 \
  --name vllm \
  vllm/vllm-openai:latest \
  --model "$MODEL_REPO" \
  --dtype auto
