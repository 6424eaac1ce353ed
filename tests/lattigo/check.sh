#!/usr/bin/env bash
# Lattigo encrypts, the simulated RPU bootstraps with Lattigo's keys, Lattigo decrypts: witness.py, in a virtual environment;
# or says why it cannot. With --required that is an error. A second argument is log2 of the ring degree, 11 by default.
set -euo pipefail
cd "$(dirname "$0")"

skip() {
    echo "SKIPPED, NOT TESTED: the bootstrap against Lattigo: $*" >&2
    [[ $required != --required ]] || exit 1
    exit 0
}

required=${1:-}
command -v python3 > /dev/null || skip "there is no python3"
python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' || skip "orion-v2-lattigo needs Python 3.11 or later"
venv=../../target/lattigo
if ! cmp -s requirements.txt "$venv/requirements.txt"; then
    rm -rf "$venv"
    python3 -m venv "$venv" || skip "python3 has no venv"
    "$venv/bin/pip" install --quiet --disable-pip-version-check -r requirements.txt || skip "pip cannot install from PyPI"
    cp requirements.txt "$venv/requirements.txt"
fi
# The programs that the tests have built; `cargo build` would build all dependencies again, since their features differ.
programs='
import json, sys
messages = [message for message in map(json.loads, sys.stdin) if message.get("executable")]
paths = {message["target"]["name"]: message["executable"] for message in messages}
print(paths["rpu"], paths["bootstrap"], sep="\n")
'
programs=$(cargo test --quiet --workspace --locked --test cli --example bootstrap --no-run --message-format json |
    python3 -c "$programs")
mapfile -t programs <<< "$programs"
"$venv/bin/python" -W error witness.py "${programs[@]}" ${2:+"$2"}
