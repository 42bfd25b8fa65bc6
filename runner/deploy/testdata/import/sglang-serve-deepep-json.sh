export SGLANG_ENABLE_SPEC_V2=1
sglang serve --model-path "$MODEL" --host 0.0.0.0 --port "${PORT:=30000}" \
--trust-remote-code --tp 8 --dp 8 --enable-dp-attention \
--moe-a2a-backend deepep --deepep-config '{"normal_dispatch":{"num_sms":96},"normal_combine":{"num_sms":96}}' \
--speculative-algo EAGLE --speculative-num-steps 1 --speculative-eagle-topk 1 --speculative-num-draft-tokens 2 \
--cuda-graph-max-bs 64 --max-running-requests 128 $EVAL_CONTEXT_ARGS > $SERVER_LOG 2>&1 &
SERVER_PID=$!
