#!/bin/bash
MODEL="AgentFlow/agentflow-planner-7b"
GPU="0"
PORT=8000
TMUX_SESSION="vllm_agentflow"
TP=1

VENV_ACTIVATE="source .venv/bin/activate"

echo "Launching model: $MODEL"
echo "  Port: $PORT"

# Create tmux session and run vLLM
tmux new-session -d -s "$TMUX_SESSION"

CMD_START="
    $VENV_ACTIVATE;
    export CUDA_VISIBLE_DEVICES=$GPU;
    vllm serve \"$MODEL\" \
        --host 127.0.0.1 \
        --port $PORT \
        --tensor-parallel-size $TP
"
tmux send-keys -t "$TMUX_SESSION" "$CMD_START" C-m
