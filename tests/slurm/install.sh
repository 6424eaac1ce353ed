#!/usr/bin/env bash
# Installs the requirements of tests/slurm/run.sh. If this is not possible, it prints the reason and
# succeeds; the test is then skipped.
set -euo pipefail

skip() {
    printf 'SKIPPED, NOT TESTED: a job array on SLURM: %s\n' "$*" >&2
    exit 0
}
present() {
    local command
    for command in munged slurmctld slurmd sbatch; do
        command -v "$command" >/dev/null || return
    done
}
# The test needs it too, so that an installed SLURM does not help others.
((EUID == 0)) || skip "needs root"
! present || exit 0
command -v apt-get >/dev/null || skip "there is no apt-get"
export DEBIAN_FRONTEND=noninteractive
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! { apt-get update && apt-get install --yes --no-install-recommends slurm-wlm munge; } >"$log" 2>&1; then
    tail -n 5 "$log"
    skip "apt-get failed"
fi
