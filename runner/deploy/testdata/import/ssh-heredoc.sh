ssh gpu-node-1 'bash -s' <<'REMOTE'
cd /opt/serve
source .venv/bin/activate
nohup vllm serve Qwen/Qwen3-32B --tensor-parallel-size 4 --max-num-seqs 256 > vllm.log 2>&1 &
REMOTE
