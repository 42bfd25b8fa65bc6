#!/usr/bin/env bash
# The published workloads by every benchmark tool that can send them, in a small form, against the fake engine in real time: e2e-workloads.sh AUTOTUNE.
# Tools are installed once into a cache folder, as e2e-bench.sh of examples/cpu-vllm does; guidellm is taken from there (make bench-load) or from PATH.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cpu=$here/../cpu-vllm
autotune=$(realpath "$1")
cache=${XDG_CACHE_HOME:-$HOME/.cache}/autotune
vllm=$cache/vllm-cpu-$(cat "$cpu"/{install.sh,requirements.txt,make_cuda_stubs.py} | sha256sum | cut -c1-12)
work=$(mktemp -d "${TMPDIR:-/tmp}/autotune-e2e-workloads.XXXXXX")
trap 'rm -rf "$work"' EXIT
programs=(builtin=)

"$cpu/install.sh" "$vllm"
programs+=("vllm-bench=$vllm/bin/vllm")
for tool in aiperf sglang-bench; do
	"$here/install.sh" $tool "$cache/$tool"
done
programs+=("aiperf=$cache/aiperf/bin/aiperf" "sglang-bench=$cache/sglang-bench/bin/python, -m, sglang.bench_serving")
guidellm=$cache/guidellm/bin/guidellm
[ -x "$guidellm" ] || guidellm=$(command -v guidellm || true)
if [ -n "$guidellm" ]; then programs+=("guidellm=$guidellm"); else echo "guidellm: not here; make bench-load installs it"; fi
# The tools count prompts by their tokenizer, the fake engine by four characters: a run is only believed where both agree.
"$vllm/bin/python" "$cpu/make_even_tokenizer.py" "$work/even"
python3 "$here/e2e_workloads.py" "$autotune" "$work" "${programs[@]}"
