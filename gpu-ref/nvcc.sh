#!/usr/bin/env bash
# Compiles every kernel of this crate with nvcc, for each supported architecture, and the default
# kernels of all sizes for sm_90. Warnings are errors, and so are default kernels that spill more
# than a few registers. If $NVCC is unset and nvcc is not in the path, installs NVIDIA's wheels from
# PyPI under target/. If that fails, prints the reason and succeeds.
set -euo pipefail
cd "$(dirname "$0")/.."

skip() {
    printf 'SKIPPED, nothing was compiled with nvcc: %s\n' "$*"
    exit 0
}

# These versions belong together. The driver of the tested cards loads the machine code of this release.
wheels=(nvidia-cuda-nvcc==13.0.88 nvidia-nvvm==13.0.88 nvidia-cuda-crt==13.0.88
    nvidia-cuda-runtime==13.0.96 nvidia-cuda-cccl==13.0.85)
folder=target/nvcc
if ! nvcc=${NVCC:-$(command -v nvcc)}; then
    if ! nvcc=$(find "$folder" -path '*/bin/nvcc' 2>/dev/null | grep .); then
        command -v python3 >/dev/null || skip "python3 not found"
        log=$(mktemp)
        trap 'rm -f "$log"' EXIT
        if ! { python3 -m venv "$folder" && "$folder/bin/pip" install "${wheels[@]}"; } >"$log" 2>&1; then
            tail -n 5 "$log"
            rm -rf "$folder"
            skip "pip failed"
        fi
        nvcc=$(find "$folder" -path '*/bin/nvcc')
    fi
fi

kernels=$(mktemp -d)
trap 'rm -rf "$kernels"' EXIT
cargo run --quiet -p gpu-ref --locked --example kernels -- all "$kernels"
compile=("$nvcc" -std=c++20 -Werror all-warnings -cubin)
for architecture in sm_80 sm_89 sm_90 sm_100; do
    find "$kernels" -maxdepth 1 -name '*.cu' -print0 |
        xargs -0 -P "$(nproc)" -I{} "${compile[@]}" -arch=$architecture -o {}.$architecture.cubin {}
    printf '%d files compiled for %s\n' "$(find "$kernels" -name "*.$architecture.cubin" | wc -l)" $architecture
done

# A few spilled registers can pay for another resident block; more are a mistake in a recipe.
limit=40
find "$kernels/default" -name '*.cu' -print0 |
    xargs -0 -P "$(nproc)" -I{} sh -c '"$@" -arch=sm_90 -Xptxas -v -o {}.cubin {} 2>{}.log || { cat {}.log; exit 255; }' \
        sh "${compile[@]}"
spills=$(awk -v limit=$limit '
    /Compiling entry function/ { split($0, quoted, "\047"); kernel = quoted[2] }
    match($0, /[0-9]+ bytes spill stores/) && substr($0, RSTART) + 0 > limit {
        printf "%s: %s: %s\n", FILENAME, kernel, substr($0, RSTART, RLENGTH)
    }' "$kernels"/default/*.log)
if [ -n "$spills" ]; then
    printf 'default kernels that spill more than %d bytes:\n%s\n' $limit "$spills"
    exit 1
fi
printf '%d files of default kernels spill at most %d bytes, by %s\n' \
    "$(find "$kernels/default" -name '*.cubin' | wc -l)" $limit "$("$nvcc" --version | grep release)"
