#!/usr/bin/env bash

source "$(dirname "$0")/benchmark_lib.sh"

check_env_vars MODEL TP CONC ISL OSL RANDOM_RANGE_RATIO RESULT_FILENAME

if [[ -n "$SLURM_JOB_ID" ]]; then
  echo "JOB $SLURM_JOB_ID running on $SLURMD_NODENAME"
fi

nvidia-smi
hf download "$MODEL"

SERVER_LOG=server.log
PORT=${PORT:-8888}
MEM_FRAC_STATIC=${MEM_FRAC_STATIC:-0.9}

set -x
pip install -U transformers
python3 -m sglang.launch_server \
    --model-path $MODEL \
    --host=0.0.0.0 \
    --port $PORT \
    --tensor-parallel-size $TP \
    --mem-fraction-static $MEM_FRAC_STATIC > $SERVER_LOG 2>&1 &

SERVER_PID=$!

# Wait for server to be ready
wait_for_server_ready --port "$PORT" --server-log "$SERVER_LOG" --server-pid "$SERVER_PID"

export PYTHONDONTWRITEBYTECODE=1
run_benchmark_serving --model "$MODEL" --port "$PORT" --backend vllm --num-prompts "$((CONC * 10))"
