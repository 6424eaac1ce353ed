#!/usr/bin/env bash
# Compiles every kernel of this crate for sm_90 with nvcc. Warnings are errors. If $NVCC is unset and
# nvcc is not in the path, installs NVIDIA's wheels from PyPI under target/. If that fails, prints the
# reason and succeeds.
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
find "$kernels" -name '*.cu' -print0 | xargs -0 -P "$(nproc)" -I{} "$nvcc" -arch=sm_90 -std=c++20 \
    -Werror all-warnings -cubin -o {}.cubin {}
printf '%d files compiled for sm_90 by %s\n' "$(find "$kernels" -name '*.cubin' | wc -l)" \
    "$("$nvcc" --version | grep release)"
