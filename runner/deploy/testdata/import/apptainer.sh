apptainer exec --nv --bind /data:/data vllm-openai_v0.11.0.sif \
    python3 -m vllm.entrypoints.openai.api_server --model /data/models/Qwen3-32B -tp 4 --disable-log-requests 2>&1 | tee server.log
