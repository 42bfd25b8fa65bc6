start_server() {
  local model=$1 tp=${2:-1} port=$3
  echo "starting $model"
  CUDA_VISIBLE_DEVICES=0,1 vllm serve "$model" --tensor-parallel-size "$tp" --port "$port" --max-num-seqs 128 &
}
start_server Qwen/Qwen3-14B 2 8001
wait
