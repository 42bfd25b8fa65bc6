# Run vLLM with Llama 3.1 8B Instruct
docker run -d \
--name vllm-server \
--gpus '"device=0"' \
-v hf-cache:/root/.cache/huggingface \
-p 8000:8000 \
-e HF_TOKEN=${HF_TOKEN} \
vllm/vllm-openai:latest \
--model meta-llama/Llama-3.1-8B-Instruct \
--max-model-len 4096 \
--gpu-memory-utilization 0.90 \
--dtype auto
# Verify the server is running (may take 1-2 minutes to load)
curl http://localhost:8000/v1/models
