import json
import subprocess

MODEL_NAME = "google/gemma-4-26B-A4B-it"
N_GPU = 1

def serve():
    cmd = [
        "vllm",
        "serve",
        MODEL_NAME,
        "--served-model-name",
        MODEL_NAME,
        "llm",
        "--host",
        "0.0.0.0",
        "--port",
        "8000",
        "--uvicorn-log-level=info",
        "--async-scheduling",
    ]
    cmd += ["--tensor-parallel-size", str(N_GPU)]
    subprocess.Popen(" ".join(cmd), shell=True)
