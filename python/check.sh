#!/usr/bin/env bash
# Builds the Python package and tests it, with its notebooks, in a virtual environment; or says why it cannot.
# With BLESS=1, the outputs of the notebooks are written.
set -euo pipefail
cd "$(dirname "$0")"

skip() {
    echo "NOT TESTED: the Python package: $*" >&2
    exit 0
}

command -v python3 > /dev/null || skip "there is no python3"
python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' || skip "the pinned packages need Python 3.11 or later"
venv=../target/python
if ! cmp -s requirements.txt "$venv/requirements.txt"; then
    rm -rf "$venv"
    python3 -m venv "$venv" || skip "python3 has no venv"
    # Python compiles what is imported, a small part.
    "$venv/bin/pip" install --quiet --no-compile --disable-pip-version-check -r requirements.txt || skip "pip cannot install from PyPI"
    cp requirements.txt "$venv/requirements.txt"
fi
# `maturin develop` would build all dependencies again, since their features differ from those of the tests.
library='
import json, sys
for message in map(json.loads, sys.stdin):
    if message.get("target", {}).get("name") == "_rpu":
        print(*(name for name in message["filenames"] if name.endswith(".so")))
'
library=$(cargo test --quiet --workspace --locked --features rpu-python/extension --example extension --no-run \
    --message-format json | python3 -c "$library")
install "$library" rpu/_rpu.abi3.so
export PYTHONPATH=$PWD
"$venv/bin/python" -W error -m unittest discover --quiet --start-directory tests
"$venv/bin/python" tests/notebooks.py
