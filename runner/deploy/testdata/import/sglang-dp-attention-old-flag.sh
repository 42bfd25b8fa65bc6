python3 -m sglang.launch_server --model-path deepseek-ai/DeepSeek-V3 --trust-remote-code \
  --tp 8 --dp 8 --host 0.0.0.0 --port 30000 \
  --enable-dp-attention --enable-deepep-moe \
  --disable-cuda-graph
