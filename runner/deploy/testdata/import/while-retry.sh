MODEL=Qwen/Qwen3-8B
while true; do
  vllm serve "$MODEL" --port 8000 --max-num-seqs 96 --enable-prefix-caching 2>&1 | tee -a serve.log
  echo "server died, restarting in 10s"
  sleep 10
done
