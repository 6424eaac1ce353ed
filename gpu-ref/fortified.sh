#!/usr/bin/env bash
# A C++ compiler that defines _FORTIFY_SOURCE, as stock Ubuntu's does. Without arguments, runs the
# emulated kernels that it compiles; with arguments, compiles.
set -euo pipefail
if [ $# -gt 0 ]; then
    exec g++ -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3 "$@"
fi
cd "$(dirname "$0")/.."
if ! command -v g++ >/dev/null; then
    printf 'SKIPPED, no kernel was emulated: g++ not found\n'
    exit 0
fi
for test in emulated::wide emulated::best emulated::caramel; do
    # Of the workspace: with `-p`, all dependencies would be built again, since their features differ.
    CXX=$PWD/gpu-ref/fortified.sh cargo test --quiet --workspace --locked --test transforms -- $test
done
