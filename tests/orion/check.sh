#!/usr/bin/env bash
# Orion's evaluator runs the committed networks in Lattigo, and must have our results: witness.py, in a
# virtual environment; or says why it cannot. With --required that is an error. With BLESS=1, compile.py
# trains and compiles the networks first: Orion's compiler needs PyTorch, 4 GB of packages.
set -euo pipefail
cd "$(dirname "$0")"

skip() {
    echo "SKIPPED, NOT TESTED: the networks against Orion: $*" >&2
    [[ $required != --required ]] || exit 1
    exit 0
}

# environment NAME REQUIREMENTS: a virtual environment with some packages.
environment() {
    local venv=../../target/$1
    if ! cmp -s "$2" "$venv/requirements.txt"; then
        rm -rf "$venv"
        python3 -m venv "$venv" || skip "python3 has no venv"
        "$venv/bin/pip" install --quiet --disable-pip-version-check -r "$2" || skip "pip cannot install from PyPI"
        cp "$2" "$venv/requirements.txt"
    fi
}

required=${1:-}
samples=../../he/programs/tests/orion
digits=../../he/test-client/data/digits.txt
command -v python3 > /dev/null || skip "there is no python3"
python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' || skip "orion-v2-evaluator needs Python 3.11 or later"
if [[ ${BLESS:-} ]]; then
    environment orion-compiler compiler.txt
    ../../target/orion-compiler/bin/python compile.py "$digits" "$samples"
fi
environment orion requirements.txt
# The program that the tests have built; `cargo build` would build all dependencies again, since their
# features differ.
example='
import json, sys
messages = [message for message in map(json.loads, sys.stdin) if message.get("executable")]
print(*(message["executable"] for message in messages if message["target"]["name"] == "orion"))
'
example=$(cargo test --quiet --workspace --locked --example orion --no-run --message-format json | python3 -c "$example")
for name in perceptron convolution; do
    ../../target/orion/bin/python -W error witness.py "$example" "$samples/$name.orion" "$digits"
done
