python3 -m sglang.launch_server --model-path Qwen/Qwen3-32B \
  --tp 2 \
  # --mem-fraction-static 0.9 \
  --chunked-prefill-size 4096 \
  --host 0.0.0.0
  --port 30000
