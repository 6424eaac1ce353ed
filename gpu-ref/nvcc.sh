#!/usr/bin/env bash
# Compiles the kernels of these crates with nvcc and checks them with NVRTC, which compiles them at run time:
#
# * every kernel for sm_90, with little optimisation: only errors and warnings matter, and a warning is an
#   error.
#
# With `--all`, which takes many times as long, also
#
# * the kernels of gpu-ref/experiments;
# * for other supported architectures a sample of the kernels (`SAMPLE` of reference/examples/kernels.rs says
#   what may differ between them), and the default kernels that cross memory once: chains for sm_80 and sm_100,
#   clusters for sm_100;
# * every default kernel for sm_90, fully optimised. It must not spill more than a few registers.
#
# What was compiled before by the same compiler is in $XDG_CACHE_HOME/gpu-ref or ~/.cache/gpu-ref. If $NVCC
# is unset and nvcc is not in the path, installs NVIDIA's wheels from PyPI under target/. If that fails,
# prints the reason and succeeds.
set -euo pipefail
cd "$(dirname "$0")/.."

case ${1:-} in
'') all= ;;
--all) all=yes ;;
*) printf 'unknown option %s; expected --all\n' "$1" >&2 && exit 2 ;;
esac

skip() {
    printf 'SKIPPED, nothing was compiled with nvcc: %s\n' "$*"
    exit 0
}

# These versions belong together. The driver of the tested cards loads the machine code of this release.
wheels=(nvidia-cuda-nvcc==13.0.88 nvidia-nvvm==13.0.88 nvidia-cuda-crt==13.0.88
    nvidia-cuda-runtime==13.0.96 nvidia-cuda-cccl==13.0.85 nvidia-cuda-nvrtc==13.0.88)
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
# Of the workspace: with `-p`, all dependencies would be built again, since their features differ.
cargo build --quiet --workspace --locked --example kernels
examples=${CARGO_TARGET_DIR:-target}/debug/examples
"$examples/kernels" all "$kernels"
if [ "$all" ]; then
    (cd gpu-ref/experiments && cargo run --quiet --locked --example multi_kernels -- "$kernels")
fi
# The folder is missing if $NVCC is set.
nvrtc=$(find "$folder" -name 'libnvrtc.so.*' -print -quit 2>/dev/null || true)
if [ -n "$nvrtc" ]; then
    for files in "$kernels" "$kernels/tight"; do
        LD_LIBRARY_PATH=$(dirname "$nvrtc") "$examples/kernels" check "$files"
    done
else
    printf 'SKIPPED, nothing was checked with NVRTC: it is not under %s\n' "$folder"
fi

# compile FILE ARCHITECTURE OPTION..: the report of the assembler in FILE.ARCHITECTURE, from the cache if it
# is there.
compile() {
    local file=$1 options=(-std=c++20 -Werror all-warnings -cubin -Xptxas -v -arch="$2" "${@:3}")
    local report=$file.$2 known
    known=$cache/$( (printf '%s\n' "$version" "${options[@]}" && cat "$file") | sha256sum | cut -d ' ' -f 1).nvcc
    if ! cp "$known" "$report" 2>/dev/null; then
        "$nvcc" "${options[@]}" -o "$report.cubin" "$file" >"$report" 2>&1 || { cat "$report"; return 255; }
        mkdir -p "$cache" && cp "$report" "$known.$$" && mv "$known.$$" "$known"
    fi
}
export -f compile
version=$("$nvcc" --version | grep release)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/gpu-ref
export nvcc version cache
quick='-Xcicc -O1 -Xptxas -O1'
only_with_all() {
    # The slowest first: 128-bit words.
    find "$kernels/default" -name '*.cu' -printf '%p sm_90\n' | sort -t- -k2,2 -r
    for architecture in sm_80 sm_89 sm_100; do
        find "$kernels/sample" -name '*.cu' -printf "%p $architecture $quick\n"
    done
    for architecture in sm_80 sm_100; do
        find "$kernels/tight" -name '*-chained.cu' -printf "%p $architecture $quick\n"
    done
    find "$kernels/tight" -name '*-once.cu' -printf "%p sm_100 $quick\n"
}
{
    if [ "$all" ]; then only_with_all; fi
    find "$kernels" -maxdepth 1 -name '*.cu' -printf "%p sm_90 $quick\n"
} | xargs -P "$(nproc)" -L 1 bash -c 'compile "$@"' compile

count() { find "$@" -name '*.cu' | wc -l; }
printf '%d files compiled for sm_90 by %s\n' "$(count "$kernels" -maxdepth 1)" "$version"
if [ -z "$all" ]; then
    exit
fi

# A few registers can pay for another resident block; more are a mistake in a recipe. These kernels spill more
# and are the fastest all the same: reports/gpu/h200-tune.csv and h100-chains.csv have them beside others without spills.
limit=16
# The heart of a chained product spills for what it passes to the rare function that does the work of other
# blocks, and a block alone of 2^15 words for its ticket: reports/gpu/README.md has their times beside those
# without.
known='32-14-512 product 56
32-15-512 forward_0 88
64-14-512 product 40
64-15-512 product 44
64-16-64 product 48
128-16-64 forward_0 20
128-17-64 forward_0 20'
spills=$(awk -v limit=$limit -v known="$known" '
    BEGIN {
        count = split(known, lines, "\n")
        for (i = 1; i <= count; i++) { split(lines[i], parts, " "); most[parts[1] " " parts[2]] = parts[3] }
    }
    /Compiling entry function/ { split($0, quoted, "\047"); kernel = quoted[2]; inside = 1 }
    # Functions that a kernel calls, but hardly ever.
    /Function properties for _Z/ { inside = 0 }
    inside && match($0, /[0-9]+ bytes spill stores/) {
        file = FILENAME
        sub(/.*\//, "", file)
        size = file
        sub(/^[0-9]+-/, "", size)
        sub(/(-chained|-once)?\.cu.*/, "", size)
        allowed = (size " " kernel) in most ? most[size " " kernel] : limit
        if (substr($0, RSTART) + 0 > allowed) printf "%s: %s: %s\n", file, kernel, substr($0, RSTART, RLENGTH)
    }' "$kernels/default"/*.sm_90)
if [ -n "$spills" ]; then
    printf 'default kernels that spill more than %d bytes, or more than is known:\n%s\n' $limit "$spills"
    exit 1
fi
printf '%d of them compiled for three other architectures, and %d files of default kernels, which spill at most %d bytes but for the known ones\n' \
    "$(count "$kernels/sample")" "$(count "$kernels/default")" $limit
