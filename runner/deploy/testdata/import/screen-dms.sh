screen -dmS vllm bash -c 'source .venv/bin/activate && vllm serve openai/gpt-oss-20b --port 8000 --gpu-memory-utilization 0.92 --max-num-seqs 64'
