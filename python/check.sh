#!/usr/bin/env bash
# Builds the Python package and tests it, with its notebooks, in a virtual environment; or says why it cannot.
# With --required that is an error. With BLESS=1, the outputs of the notebooks are written.
set -euo pipefail
cd "$(dirname "$0")"

what="the Python package"
required=${1:-}
. ../tests/environment.sh
environment python requirements.txt pandas
venv=../target/python
# `maturin develop` would build all dependencies again, since their features differ from those of the tests.
library='
import json, sys
for message in map(json.loads, sys.stdin):
    if message.get("target", {}).get("name") == "_rpu":
        print(*(name for name in message["filenames"] if name.endswith(".so")))
'
library=$(cargo test --quiet --workspace --locked --features rpu-python/extension --example extension --no-run \
    --message-format json-render-diagnostics | python3 -c "$library")
install "$library" rpu/_rpu.abi3.so
export PYTHONPATH=$PWD
"$venv/bin/python" -W error -m unittest discover --quiet --start-directory tests
"$venv/bin/python" tests/notebooks.py
