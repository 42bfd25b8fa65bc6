#!/usr/bin/env bash
# Makes a Python environment with a benchmark tool: install.sh aiperf|sglang-bench FOLDER (1.2 GB and 2.8 GB). Needs python3 (3.10 to 3.13) with venv, gcc, binutils.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
[ -e "$2/ready" ] && exit 0
rm -rf "$2"
mkdir -p "$(dirname "$2")"
python3 -m venv "$2"
"$2/bin/python" -m pip --disable-pip-version-check install -q --no-deps -r "$here/$1.txt"
if [ "$1" = sglang-bench ]; then
	"$2/bin/python" "$here/../cpu-vllm/make_cuda_stubs.py" "$("$2/bin/python" -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])')" >/dev/null
	"$2/bin/python" -m sglang.bench_serving --help >/dev/null
fi
touch "$2/ready"
