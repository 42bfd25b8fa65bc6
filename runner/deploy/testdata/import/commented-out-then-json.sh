#!/usr/bin/env bash
#cat > config.yaml << EOF
#compilation-config: '{"compile_sizes":[1,2,4,6,8,10,12,14,16]}'
#EOF
#set -x
#vllm serve $MODEL --port $PORT \
#--tensor-parallel-size=$TP \
#--config config.yaml \
#--async-scheduling

export VLLM_USE_AITER_TRITON_GEMM=1
export VLLM_ROCM_USE_AITER=1
export VLLM_ROCM_USE_AITER_MHA=0
export TRITON_HIP_PRESHUFFLE_SCALES=1

set -x

vllm serve openai/gpt-oss-120b --compilation-config '{"compile_sizes": [1, 2, 4, 8, 16, 24, 32, 64, 128, 256, 4096, 8192], "full_cuda_graph": true}' --block-size 64
