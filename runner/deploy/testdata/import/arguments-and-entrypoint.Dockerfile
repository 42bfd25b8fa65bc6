# syntax=docker/dockerfile:1
ARG BASE_IMAGE=vllm/vllm-openai:latest
FROM ${BASE_IMAGE}

# Default configuration values (can be overridden at runtime)
ENV MODEL_NAME="Qwen/Qwen3-0.6B" \
    TENSOR_PARALLEL_SIZE="1" \
    HF_HOME="/root/.cache/huggingface" \
    HF_HUB_ENABLE_HF_TRANSFER="1"
RUN <<EOF
vllm --version
EOF
ENTRYPOINT ["vllm", "serve"]
CMD ["Qwen/Qwen3-0.6B", \
     "--max-model-len", "4096"]
