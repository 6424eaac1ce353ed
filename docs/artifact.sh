#!/usr/bin/env bash
# Measures the experiments of artifact.md, and writes their table: the time of all processors, and the largest
# memory, of the last command of each. Linux only.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo build --quiet --release --locked --package rpu-toolchain
rpu=$(realpath "${CARGO_TARGET_DIR:-target}/release/rpu")
page=$PWD/docs/artifact.md
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
cd "$folder"
python3 - "$rpu" "$page" << 'END'
import os, platform, subprocess, sys

rpu, page = sys.argv[1:]
# What it shows, the commands that prepare it, and the command that is measured.
EXPERIMENTS = [
    ("64K-point transforms on the 28 machines of the paper's Fig. 4", [], "rpu sweep --out d"),
    ("Figs. 4 to 11 and all claims of the paper", [], "rpu reproduce --out r"),
    ("a transform on data, checked against the golden model",
     ["rpu gen ntt --n 65536 -o k.o"], "rpu run k.o --check"),
    ("a key switch on data, checked against big integers",
     ["rpu gen program keyswitch --set ark --n 4096 -o switch.fhetch"], "rpu run switch.fhetch --check"),
    ("a bootstrap of all slots at n = 65,536, in time",
     ["rpu gen program bootstrap --set lattigo-n16qp1546 -o boot.fhetch"],
     "rpu run boot.fhetch --timing-only -p hbm.stacks=3"),
]
rows = []
for text, before, command in EXPERIMENTS:
    words = lambda line: [rpu, *line.split()[1:]]
    for line in before:
        subprocess.run(words(line), check=True, capture_output=True)
    child = subprocess.Popen(words(command), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    assert status == 0, command
    seconds = usage.ru_utime + usage.ru_stime
    commands = "<br>".join(f"`{line}`" for line in [*before, command])
    rows.append(f"| {text} | {commands} | {seconds:.1f} s | {usage.ru_maxrss / 1024:.0f} MB |")
model = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), platform.machine())
table = [f"On {model}, {os.cpu_count()} threads:", "", "| experiment | command | time | memory |", "|---|---|--:|--:|", *rows]
before, rest = open(page).read().split("<!-- measured: begin -->\n")
after = rest.split("<!-- measured: end -->")[1]
content = before + "<!-- measured: begin -->\n" + "\n".join(table) + "\n<!-- measured: end -->" + after
with open(page, "w") as file:
    file.write(content)
END
