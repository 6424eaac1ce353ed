#!/usr/bin/env bash
# Lattigo encrypts, the simulated RPU bootstraps with Lattigo's keys, Lattigo decrypts: witness.py, in a virtual environment;
# or says why it cannot. With --required that is an error. A second argument is log2 of the ring degree, 11 by default.
set -euo pipefail
cd "$(dirname "$0")"

what="the bootstrap against Lattigo"
required=${1:-}
. ../environment.sh
environment lattigo requirements.txt orion-v2-lattigo
venv=../../target/lattigo
# The programs that the tests have built; `cargo build` would build all dependencies again, since their features differ.
programs='
import json, sys
messages = [message for message in map(json.loads, sys.stdin) if message.get("executable")]
paths = {message["target"]["name"]: message["executable"] for message in messages}
print(paths["rpu"], paths["bootstrap"], sep="\n")
'
programs=$(cargo test --quiet --workspace --locked --test cli --example bootstrap --no-run --message-format json-render-diagnostics |
    python3 -c "$programs")
mapfile -t programs <<< "$programs"
"$venv/bin/python" -W error witness.py "${programs[@]}" ${2:+"$2"}
