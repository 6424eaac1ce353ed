#!/usr/bin/env bash
# Installs the requirements of tests/slurm/run.sh. If this is not possible, it prints the reason and
# succeeds; the test is then skipped.
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
((EUID == 0)) || skip "it requires root"
command -v apt-get >/dev/null || skip "there is no apt-get"
export DEBIAN_FRONTEND=noninteractive
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! { apt-get update && apt-get install --yes --no-install-recommends slurm-wlm munge; } >"$log" 2>&1; then
    tail -n 5 "$log"
    skip "apt-get failed"
fi
