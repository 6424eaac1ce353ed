#!/usr/bin/env bash
# Installs what tests/slurm/run.sh needs. Where that is not possible it says so and succeeds: the test
# itself is then skipped.
set -euo pipefail

skip() {
    printf 'SKIPPED, SLURM is not installed: %s\n' "$*"
    exit 0
}
present() {
    local command
    for command in munged slurmctld slurmd sbatch; do
        command -v "$command" >/dev/null || return
    done
}
! present || exit 0
((EUID == 0)) || skip "that takes root"
command -v apt-get >/dev/null || skip "there is no apt-get"
export DEBIAN_FRONTEND=noninteractive
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! { apt-get update && apt-get install --yes --no-install-recommends slurm-wlm munge; } >"$log" 2>&1; then
    tail -n 5 "$log"
    skip "apt-get failed"
fi
