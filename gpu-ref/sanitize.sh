#!/usr/bin/env bash
# Runs the kernels of these crates on a GPU under memcheck, racecheck and synccheck of compute-sanitizer, on
# small sizes, and prints a line for each tool and test: `tool,binary,test,seconds,result`. Fails if a result
# is not `clean`. With a folder as argument, runs the test binaries in it (transforms, variants, schemes,
# multi) instead of building them. SECONDS_EACH (300) limits each test, JOBS (8) run at once.
#
# racecheck cannot track launches by several threads beside graphs, so each test is a process of its own.
set -euo pipefail
cd "$(dirname "$0")/.."
each=${SECONDS_EACH:-300} jobs=${JOBS:-8}
export each
command -v compute-sanitizer >/dev/null || { printf 'compute-sanitizer not found\n' >&2; exit 2; }

folder=${1:-}
binaries=$(mktemp -d)
trap 'rm -rf "$binaries"' EXIT
for test in transforms variants schemes multi; do
    if [ -n "$folder" ]; then
        cp "$folder/$test" "$binaries/$test"
    else
        case $test in
        transforms | schemes) package=gpu-ref/reference ;;
        *) package=gpu-ref/experiments ;;
        esac
        built=$(cd $package && cargo test --quiet --locked --test "$test" --no-run --message-format=json-render-diagnostics |
            sed -n 's/.*"executable":"\([^"]*\)".*/\1/p' | tail -n 1)
        cp "$built" "$binaries/$test"
    fi
done

# Tests of small sizes: all but those of every size, whose kernels are the same.
tests() {
    for test in transforms variants schemes multi; do
        "$binaries/$test" gpu:: --list 2>/dev/null | sed -n "s/: test\$//; s/^gpu::/$test gpu::/p"
    done | grep -Ev 'transforms gpu::(wide|cheddar|shivdikar|caramel|he_booster|best|all_lengths|more_than|low_latency)' |
        sed 's/: .*//'
}
# The kernels in the cache, so that the tools see no compiler.
list=$(tests)
[ -n "$list" ] || { printf 'no GPU\n' >&2; exit 2; }
printf '%s\n' "$list" | xargs -P "$jobs" -L 1 bash -c '"$0/$1" --exact "$2" --test-threads 1 >/dev/null 2>&1 || true' "$binaries"

check() {
    local binaries=$1 tool=$2 binary=$3 test=$4 begin=$SECONDS log result
    log=$(mktemp)
    # Calls of the driver return their errors as values.
    if timeout "$each" compute-sanitizer --tool "$tool" --report-api-errors no --error-exitcode 9 --print-limit 3 \
        "$binaries/$binary" --exact "$test" --test-threads 1 >"$log" 2>&1; then
        # A test that did not run is not clean.
        grep -q '1 passed' "$log" && result=clean || result='not run'
    elif [ $? -eq 124 ]; then
        result="unfinished after $each s"
    else
        result=$(grep -m 1 -E 'ERROR SUMMARY: [1-9]|RACECHECK SUMMARY: [1-9]|Internal Sanitizer|panicked' "$log" |
            tr ',' ';' || echo failed)
        cat "$log" >&2
    fi
    printf '%s,%s,%s,%d,%s\n' "$tool" "$binary" "$test" $((SECONDS - begin)) "$result"
    rm -f "$log"
}
export -f check
printf 'tool,binary,test,seconds,result\n'
results=$(for tool in memcheck racecheck synccheck; do
    printf '%s\n' "$list" | sed "s/^/$tool /"
done | xargs -P "$jobs" -L 1 bash -c 'check "$0" "$@"' "$binaries" | sort)
printf '%s\n' "$results"
! grep -v ',clean$' <<<"$results" >&2
