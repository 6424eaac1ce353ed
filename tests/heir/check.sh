#!/usr/bin/env bash
# HEIR compiles our sources, and must write the committed samples; `rpu import` reads what it has written. In a virtual
# environment, or says why it cannot. With --required that is an error. With BLESS=1 the samples are written.
set -euo pipefail
cd "$(dirname "$0")"

what="the programs of HEIR"
required=${1:-}
. ../environment.sh
rpu=${CARGO_TARGET_DIR:-$PWD/../../target}/debug/rpu
samples=$PWD/../../he/programs/tests/heir
environment heir requirements.txt heir_py
venv=$PWD/../../target/heir
heir=$venv/bin/heir-opt
"$heir" --version > /dev/null || skip "heir-opt does not run here"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# HEIR names functions of layouts by a hash that differs from run to run: numbers in their place.
numbered() {
    python3 -c '
import re, sys
names = {}
number = lambda name: names.setdefault(name[0], f"_assign_layout_{len(names)}")
sys.stdout.write(re.sub(r"_assign_layout_[0-9]+", number, sys.stdin.read()))
'
}

# compile NAME BACKEND OPTIONS: a source to the generic form.
compile() {
    local name=$1
    "$heir" --annotate-module="backend=$2 scheme=ckks" --mlir-to-ckks="$3" "source/$name.mlir" |
        "$heir" --mlir-print-op-generic | numbered > "$folder/$name.mlir"
    if [[ ${BLESS:-} ]]; then
        cp "$folder/$name.mlir" "$samples/$name.mlir"
    fi
    cmp "$folder/$name.mlir" "$samples/$name.mlir"
}

# import NAME [OPTIONS]: what HEIR has written to a ring program.
import() {
    local name=$1
    shift
    "$rpu" import "$folder/$name.mlir" -o "$folder/$name.fhetch" "$@" 2> "$folder/notes"
    grep -q "^# operations of HEIR" "$folder/$name.fhetch"
}

compile dot_product lattigo "min-slot-count=8"
compile powers lattigo "min-slot-count=16 greedy-level-budget=3"
compile box_blur openfhe "min-slot-count=64"
compile differences lattigo "min-slot-count=16"
compile mlp lattigo "min-slot-count=64"
compile mnist openfhe "min-slot-count=1024"
import dot_product
import powers
import box_blur
import differences
# Matrices need their numbers.
python3 - "$folder" << 'END'
import json, random, sys
for index, count in enumerate([16 * 64, 16, 10 * 16, 10], 1):
    numbers = [random.uniform(-0.1, 0.1) for _ in range(count)]
    json.dump(numbers, open(f"{sys.argv[1]}/arg{index}.json", "w"))
END
arguments=()
for index in 1 2 3 4; do
    arguments+=(--argument "arg$index=$folder/arg$index.json")
done
import mlp "${arguments[@]}"
"$rpu" run "$folder/dot_product.fhetch" --timing-only > /dev/null
# The function of the server alone, without the numbers of constants.
"$heir" --symbol-privatize="exclude=powers__preprocessed" --symbol-dce "$folder/powers.mlir" |
    "$heir" --mlir-print-op-generic --mlir-elide-elementsattrs-if-larger=8 > "$folder/server.mlir"
import server
grep -q "^3 plaintexts are inputs" "$folder/notes"
echo "HEIR wrote the committed samples, and rpu imported them"
