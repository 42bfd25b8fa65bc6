export LORA_PATH=/home/ubuntu/models/loras/qsq
vllm serve /home/ubuntu/models/Llama-3.3-70B-Instruct-FP8-dynamic-mlp-only \
    --trust-remote-code \
    -tp 8 \
    --enable-lora \
    --max-loras 16 \
    --lora-modules  \
        adapter0=$LORA_PATH \
        adapter1=$LORA_PATH \
        adapter2=$LORA_PATH \
        adapter3=$LORA_PATH
