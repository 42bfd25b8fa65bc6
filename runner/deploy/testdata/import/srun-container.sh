#!/bin/bash
#SBATCH --nodes=1
#SBATCH --gres=gpu:4
module load cuda/12.8
srun --nodes=1 --ntasks=1 --container-image=nvcr.io/x/vllm:25.09 --container-mounts=/scratch:/scratch \
  vllm serve /scratch/models/Llama-3.3-70B-Instruct \
    --tensor-parallel-size ${SLURM_GPUS_ON_NODE:-4} --max-model-len 32k --enable-chunked-prefill &
wait
