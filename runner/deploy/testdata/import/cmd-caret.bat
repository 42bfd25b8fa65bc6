@echo off
set MODEL=Qwen/Qwen2.5-7B-Instruct
docker run --rm --gpus all ^
  -p 8000:8000 --ipc=host ^
  vllm/vllm-openai:latest ^
  --model %MODEL% ^
  --max-model-len 8192
