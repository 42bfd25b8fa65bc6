#!/usr/bin/env bash
# Makes a Python environment in which SGLang resolves its arguments without a GPU: install.sh FOLDER (2 GB, some three minutes)
# Needs python3 (3.10 to 3.13) with venv, gcc, binutils, flock. torch's GPU libraries are left out: small stubs stand in for them.
set -euo pipefail
venv=$1
here=$(cd "$(dirname "$0")" && pwd)
[ -e "$venv/ready" ] && exit 0
for tool in python3 gcc readelf flock; do
	command -v "$tool" >/dev/null || { echo "$tool is missing (Debian: apt-get install python3-venv gcc binutils util-linux)" >&2; exit 1; }
done
mkdir -p "$(dirname "$venv")"
exec 9>"$venv.lock" # two checkouts may install at once
flock 9
[ -e "$venv/ready" ] && exit 0
rm -rf "$venv"
python3 -m venv "$venv"
"$venv/bin/python" -m pip --disable-pip-version-check install -q --no-deps -r "$here/requirements.txt"
site=$("$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])')
"$venv/bin/python" "$here/../cpu-vllm/make_cuda_stubs.py" "$site" >/dev/null
touch "$venv/ready"
