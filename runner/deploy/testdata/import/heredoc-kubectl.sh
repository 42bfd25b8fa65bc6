NAMESPACE=serving
MODEL=meta-llama/Llama-3.1-8B-Instruct
kubectl -n $NAMESPACE apply -f - <<EOF
apiVersion: apps/v1
kind: Deployment
metadata:
  name: vllm
spec:
  template:
    spec:
      containers:
      - name: vllm
        image: vllm/vllm-openai:v0.11.0
        command: ["/bin/sh", "-c"]
        args:
        - "vllm serve $MODEL --max-model-len 16384 --gpu-memory-utilization 0.92 --port \$PORT"
        env:
        - {name: PORT, value: "8000"}
EOF
kubectl -n $NAMESPACE rollout status deploy/vllm
