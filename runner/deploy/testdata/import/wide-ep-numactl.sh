export HF_TOKEN=hf_aaaaaaaaaaaaaaaaaaaaaaaa  # of the team
export VLLM_LOGGING_LEVEL="INFO"
numactl --cpunodebind=0 --membind=0 vllm serve deepseek-ai/DeepSeek-V3 \
  -dp 8 -ep -dpl=8 \
  --api-server-count=4 \
  --all2all-backend deepep_low_latency --enable-dbo   --async-scheduling \
  --kv-transfer-config '{"kv_connector":"NixlConnector","kv_role":"kv_both"}' \
  $'--served-model-name=deep\'seek'
