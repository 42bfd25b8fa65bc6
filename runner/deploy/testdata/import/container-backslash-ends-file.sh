vllm serve \
    --model  HuggingFaceTB/SmolVLM2-2.2B-Instruct \
    --host 0.0.0.0 \
    --port 12000 \
    --api-key API_KEY \
    --gpu-memory-utilization 0.6 \
    --tensor-parallel-size 1 \
    --trust-remote-code \
    --max-batch-size 1 \
    --max-sequence-length 36000 \
