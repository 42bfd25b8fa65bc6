python3 -m dynamo.frontend --http-port=8000 &
python3 -m dynamo.vllm --model Qwen/Qwen3-0.6B --enforce-eager
