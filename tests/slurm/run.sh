#!/usr/bin/env bash
# Runs a sweep of 2,000 points as a job array on a real SLURM, whose daemons all run on this machine. One
# task is killed half-way, and the array is submitted again. The merged results must equal those of a
# single process, byte for byte.
#
#     tests/slurm/run.sh RPU         # RPU: the binary
#
# Requires root and Debian's packages slurm-wlm and munge, which tests/slurm/install.sh installs. Without
# them, it prints the reason and exits with status 77. All files are in a temporary folder. The daemons
# listen on the loopback interface and end with the test.
set -euo pipefail

skip() {
    printf 'SKIPPED, no job array has run on a real SLURM: %s\n' "$*"
    exit 77
}
((EUID == 0)) || skip "needs root, to start its daemons"
for command in munged slurmctld slurmd sbatch; do
    command -v "$command" >/dev/null || skip "there is no $command; tests/slurm/install.sh installs it on Debian"
done

rpu=$(realpath "$1")
work=$(mktemp -d --tmpdir rpu-slurm.XXXXXX)
pids=()

finish() {
    local status=$?
    trap - EXIT
    set +e
    # The youngest first. slurmstepd ends with its job.
    scancel --user=root 2>"$work/scancel.log"
    for ((i = ${#pids[@]} - 1; i >= 0; i--)); do
        kill "${pids[i]}" 2>/dev/null
        for _ in $(seq 50); do
            kill -0 "${pids[i]}" 2>/dev/null || break
            sleep 0.1
        done
        kill -9 "${pids[i]}" 2>/dev/null
    done
    if ((status != 0)); then
        for log in "$work"/*.log "$work"/sweep/array/slurm-*.log; do
            [[ -s $log ]] && printf -- '--- %s\n' "$log" && tail -n 25 "$log"
        done
    fi
    rm -rf "$work"
    exit "$status"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

fail() {
    printf 'slurm test: %s\n' "$*" >&2
    exit 1
}

# Starts a daemon in the foreground. It dies with this script, even if that is killed.
daemon() {
    setpriv --pdeathsig KILL "$@" >"$work/$1.out.log" 2>&1 &
    pids+=($!)
}

# Waits until a command succeeds: until SECONDS COMMAND...
until_true() {
    local end=$((SECONDS + $1))
    shift
    until "$@" >"$work/until.log" 2>&1; do
        ((SECONDS < end)) || fail "gave up waiting for: $*"
        sleep 0.02
    done
}

# Ports that nobody listens on.
free_port() {
    local port
    while :; do
        port=$((20000 + RANDOM))
        (: >"/dev/tcp/127.0.0.1/$port") 2>/dev/null || { echo "$port" && return; }
    done
}

# --- the cluster: a node with all cores of this machine ---------------------------------------------

mkdir -m 711 "$work/munge" "$work/state" "$work/spool"
chmod 711 "$work"
dd if=/dev/urandom of="$work/munge/key" bs=1024 count=1 status=none
chmod 600 "$work/munge/key"
host=$(hostname -s)
export SLURM_CONF=$work/slurm.conf
cat >"$SLURM_CONF" <<EOF
ClusterName=rpu
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$(free_port)
SlurmdPort=$(free_port)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$work/munge/socket
CryptoType=crypto/munge
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/slurmd.pid
SlurmctldLogFile=$work/slurmctld.log
SlurmdLogFile=$work/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=batch_sched_delay=0,sched_interval=1,sched_min_interval=0,bf_interval=1
ReturnToService=2
KillWait=2
MailProg=/bin/true
NodeName=$host NodeAddr=127.0.0.1 CPUs=$(nproc) State=UNKNOWN
PartitionName=all Nodes=$host Default=YES MaxTime=INFINITE State=UP
EOF

daemon munged --foreground --force --key-file="$work/munge/key" --socket="$work/munge/socket" \
    --pid-file="$work/munge/pid" --seed-file="$work/munge/seed" --log-file="$work/munge.log"
until_true 60 munge --socket="$work/munge/socket" --no-input
daemon slurmctld -D
until_true 60 scontrol ping
daemon slurmd -D -N "$host"
idle() { sinfo --noheader --format=%T | grep -qx idle; }
until_true 60 idle

# --- the sweep ---------------------------------------------------------------------------------------

mkdir "$work/sweep"
cd "$work/sweep"
cat >sweep.toml <<'EOF'
name = "on-a-cluster"
title = "2,000 points"
n = 4096
plan = "kl"

[grid]
hple.multiplier_latency_cycles = [2, 3, 4, 5, 6, 7, 8, 9, 10, 11]
hple.initiation_interval = [1, 2, 3, 4, 5]
vbar.latency_cycles = [4, 5, 6, 7, 8, 9, 10, 11]
sbar.latency_cycles = [3, 4, 5, 6, 7]
EOF
points=2000
tasks=4
"$rpu" sweep sweep.toml --out single -j "$(nproc)" --progress none >single.log 2>&1
[[ $(wc -l <single/results.jsonl) -eq $points ]] || fail "the sweep has not $points points"

submit() {
    "$rpu" sweep slurm sweep.toml --out array --tasks "$tasks" --time 10 --least 0 --submit 2>>submit.log
}
halfway() { [[ -f $journal ]] && (($(wc -l <"$journal") >= points / tasks / 2)); }
ended() { [[ -z $(squeue --noheader --jobs="$1" 2>/dev/null) ]]; }

IFS=' ,' read -r _ array _ merge < <(submit)
[[ $array =~ ^[0-9]+$ && $merge =~ ^[0-9]+$ ]] || fail "no job numbers"

# A task dies in the midst of its part: the first one that does not end before it can be killed. A part
# lacks the points that were timed beforehand, 32 at most.
killed=
for task in $(seq "$tasks"); do
    journal=array/journal-$task-of-$tasks.jsonl
    until_true 60 halfway
    scancel --signal=KILL "${array}_$task"
    until_true 60 ended "${array}_$task"
    killed=$(wc -l <"$journal")
    ((killed < points / tasks - 32)) && break
    killed=
done
[[ $killed ]] || fail "every task ended before it was killed"
until_true 60 ended "$array,$merge"

# The merge has run nevertheless, and has said what lacks.
grep -q "of $points points have not run yet" array/slurm-"$merge"-merge.log || fail "the merge does not say what lacks"

IFS=' ,' read -r _ array _ merge < <(submit)
until_true 60 ended "$array,$merge"
for file in results.jsonl results.csv report.html pareto.svg pareto.png; do
    cmp "single/$file" "array/$file" || fail "$file differs from that of a single process"
done
printf 'slurm test: %s points in %s tasks, one killed after %s records: the same bytes, in %s s\n' \
    "$points" "$tasks" "$killed" "$SECONDS"
