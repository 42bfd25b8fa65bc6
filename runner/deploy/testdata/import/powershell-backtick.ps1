docker run --rm --gpus all `
  -v "$env:USERPROFILE\.cache\huggingface:/root/.cache/huggingface" `
  -p 8000:8000 --ipc=host `
  vllm/vllm-openai:latest `
  --model Qwen/Qwen2.5-7B-Instruct `
  --max-model-len 8192 `
  --gpu-memory-utilization 0.85
