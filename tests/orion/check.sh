#!/usr/bin/env bash
# Orion's evaluator runs the committed networks in Lattigo, and must have our results: witness.py, in a
# virtual environment; or says why it cannot. With --required that is an error. With BLESS=1, compile.py
# trains and compiles the networks first: Orion's compiler needs PyTorch, 4 GB of packages.
set -euo pipefail
cd "$(dirname "$0")"

what="the networks against Orion"
required=${1:-}
. ../environment.sh
samples=../../he/programs/tests/orion
digits=../../he/test-client/data/digits.txt
if [[ ${BLESS:-} ]]; then
    environment orion-compiler compiler.txt orion-v2-compiler
    ../../target/orion-compiler/bin/python compile.py "$digits" "$samples"
fi
environment orion requirements.txt orion-v2-evaluator
# The program that the tests have built; `cargo build` would build all dependencies again, since their
# features differ.
example='
import json, sys
messages = [message for message in map(json.loads, sys.stdin) if message.get("executable")]
print(*(message["executable"] for message in messages if message["target"]["name"] == "orion"))
'
example=$(cargo test --quiet --workspace --locked --example orion --no-run --message-format json-render-diagnostics | python3 -c "$example")
for name in perceptron convolution; do
    ../../target/orion/bin/python -W error witness.py "$example" "$samples/$name.orion" "$digits"
done
