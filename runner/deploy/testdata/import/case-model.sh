case "${SIZE:-8b}" in
  8b)  MODEL=meta-llama/Llama-3.1-8B-Instruct; TP=1 ;;
  70b) MODEL=meta-llama/Llama-3.1-70B-Instruct; TP=4 ;;
esac
vllm serve $MODEL -tp $TP --max-num-seqs 200
