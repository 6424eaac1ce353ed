#!/usr/bin/env python3
"""Runs CACTI 7 over SRAM macros and writes `sram.csv`, a row for each run.

    sram.py CACTI WORKDIR sram.csv --grid main|nodes|temperature

CACTI is the path of a built `cacti` (HewlettPackard/cacti); WORKDIR needs its `tech_params` beside the files of
configurations (a link is enough). Runs that the tool refuses have no row. Rows that the file has are kept, so a broken run
can go on.
"""
import csv
import os
import re
import subprocess
import sys

FIELDS = ("node_nm cell periphery temperature_k objective ports width_bits bytes "
          "access_ns cycle_ns read_pj write_pj area_um2").split()
KEY = FIELDS[:8]

# rw, extra reads, extra writes
PORTS = {"1rw": (1, 0, 0), "1r1w": (0, 1, 1), "2rw": (2, 0, 0)}
# Weights of delay, dynamic power, leakage, cycle time, area.
OBJECTIVE = {"dense": "0:100:0:0:100", "mixed": "50:100:0:50:100", "fast": "0:0:0:100:100"}


def config(r):
    rw, rd, wr = PORTS[r["ports"]]
    lines = [
        ("-size (bytes)", r["bytes"]),
        ("-block size (bytes)", int(r["width_bits"]) // 8),
        ("-associativity", 1),
        ("-read-write port", rw), ("-exclusive read port", rd), ("-exclusive write port", wr),
        ("-single ended read ports", 0),
        ("-UCA bank count", 1),
        ("-technology (u)", "%.3f" % (int(r["node_nm"]) / 1000)),
        ("-page size (bits)", 8192), ("-burst length", 8), ("-internal prefetch width", 8),
        ("-output/input bus width", r["width_bits"]),
        ("-operating temperature (K)", r["temperature_k"]),
        ("-cache type", '"ram"'), ("-tag size (b)", '"default"'),
        ("-access mode (normal, sequential, fast) -", '"normal"'),
        ("-design objective (weight delay, dynamic power, leakage power, cycle time, area)", OBJECTIVE[r["objective"]]),
        ("-deviate (delay, dynamic power, leakage power, cycle time, area)", "100000:100000:100000:100000:100000"),
        ("-NUCAdesign objective (weight delay, dynamic power, leakage power, cycle time, area)", "100:100:0:0:100"),
        ("-NUCAdeviate (delay, dynamic power, leakage power, cycle time, area)", "10:10000:10000:10000:10000"),
        ("-Optimize ED or ED^2 (ED, ED^2, NONE):", '"NONE"'),
        ("-Cache model (NUCA, UCA)  -", '"UCA"'), ("-NUCA bank count", 0),
        ("-Wire signaling (fullswing, lowswing, default) -", '"Global_30"'),
        ("-Wire inside mat -", '"semi-global"'), ("-Wire outside mat -", '"semi-global"'),
        ("-Interconnect projection -", '"conservative"'),
        ("-Core count", 8), ("-Cache level (L2/L3) -", '"L3"'), ("-Add ECC -", '"false"'),
        ("-Print level (DETAILED, CONCISE) -", '"DETAILED"'), ("-Print input parameters -", '"false"'),
        ("-Force cache config -", '"false"'),
        ("-Ndwl", 1), ("-Ndbl", 1), ("-Nspd", 0), ("-Ndcm", 1), ("-Ndsam1", 0), ("-Ndsam2", 0),
        # The off-chip part: read by the tool, without effect on an SRAM.
        ("-dram_type", '"DDR3"'), ("-io state", '"WRITE"'), ("-addr_timing", "1.0"), ("-mem_density", "4 Gb"),
        ("-bus_freq", "800 MHz"), ("-duty_cycle", "1.0"), ("-activity_dq", "1.0"), ("-activity_ca", "0.5"),
        ("-num_dq", 72), ("-num_dqs", 18), ("-num_ca", 25), ("-num_clk", 2), ("-num_mem_dq", 2), ("-mem_data_width", 8),
        ("-rtt_value", 10000), ("-ron_value", 34), ("-tflight_value", ""), ("-num_bobs", 1), ("-capacity", 80),
        ("-num_channels_per_bob", 1), ("-first metric", '"Cost"'), ("-second metric", '"Bandwidth"'),
        ("-third metric", '"Energy"'), ("-DIMM model", '"ALL"'), ("-mirror_in_bob", '"F"'),
    ]
    for gate in ("Array Power Gating -", "WL Power Gating -", "CL Power Gating -", "Bitline floating -",
                 "Interconnect Power Gating -"):
        lines.append(("-" + gate, '"false"'))
    lines.append(("-Power Gating Performance Loss", "0.01"))
    for array in ("Data", "Tag"):
        lines.append(("-%s array cell type -" % array, '"%s"' % r["cell"]))
        lines.append(("-%s array peripheral type -" % array, '"%s"' % r["periphery"]))
    return "".join("%s %s\n" % l for l in lines)


def run(cacti, work, r, limit=240):
    name = os.path.join(work, "_".join(str(r[k]) for k in KEY) + ".cfg")
    with open(name, "w") as f:
        f.write(config(r))
    try:
        p = subprocess.run(["nice", "-n", "15", cacti, "-infile", os.path.basename(name)], cwd=work, capture_output=True,
                           text=True, timeout=limit)
        text = p.stdout
    except subprocess.TimeoutExpired:
        text = ""

    def get(pattern):
        m = re.search(pattern + r"[^:]*: *([0-9.e+-]+)", text)
        return float(m[1]) if m else None
    acc, cyc = get(r"Access time \(ns\)"), get(r"Cycle time \(ns\)")
    if acc is not None:
        rd, wr = get(r"Total dynamic read energy per access"), get(r"Total dynamic write energy per access")
        hw = re.search(r"Cache height x width \(mm\): *([0-9.e+-]+) x ([0-9.e+-]+)", text)
        r.update(access_ns="%.4f" % acc, cycle_ns="%.4f" % cyc, read_pj="%.4f" % (rd * 1e3), write_pj="%.4f" % (wr * 1e3),
                 area_um2="%.1f" % (float(hw[1]) * float(hw[2]) * 1e6))
    for path in (name, name + ".out"):
        if os.path.exists(path):
            os.remove(path)
    return acc is not None


def grid(which):
    def point(node, cell, per, t, obj, ports, width, size):
        return dict(node_nm=node, cell=cell, periphery=per, temperature_k=t, objective=obj, ports=ports, width_bits=width, bytes=size)
    sizes = [256 << k for k in range(22)]
    hp, lop, lstp = "itrs-hp", "itrs-lop", "itrs-lstp"
    if which == "main":
        # By size first, so that a run that is cut has every variant of the smaller macros.
        for s in sizes:
            for cell, per in ((hp, hp), (lop, lop), (lstp, hp)):
                for obj in ("mixed", "dense", "fast"):
                    for ports in PORTS:
                        for w in (32, 64, 128):
                            full = (obj == "mixed" and cell != lstp) or (ports == "1rw" and w == 128)
                            if s > 4 << 20 and (ports != "1rw" or w == 32 or (w == 64 and cell != hp)):
                                full = False  # minutes a run, and no bank is that large
                            if full:
                                yield point(22, cell, per, 350, obj, ports, w, s)
    if which == "nodes":
        for node in (90, 65, 45, 32, 22):
            for s in sizes[1:18]:
                yield point(node, hp, hp, 350, "mixed", "1rw", 128, s)
    if which == "temperature":
        for t in (300, 330, 360, 390):
            for s in (512, 32768, 4 << 20):
                for cell, per in ((hp, hp), (lop, lop), (lstp, hp)):
                    yield point(22, cell, per, t, "mixed", "1rw", 128, s)


def main():
    args = [a for a in sys.argv[1:] if not a.startswith("--")]
    opt = dict(zip(sys.argv[1:], sys.argv[2:]))
    cacti, work, out = (os.path.abspath(a) for a in args[:3])
    which = opt.get("--grid", "main")
    done = set()
    if os.path.exists(out):
        with open(out) as f:
            done = {tuple(r[k] for k in KEY) for r in csv.DictReader(f)}
    new = not os.path.exists(out)
    with open(out, "a", newline="") as f:
        w = csv.DictWriter(f, FIELDS, lineterminator="\n")
        if new:
            w.writeheader()
        for r in grid(which):
            if tuple(str(r[k]) for k in KEY) in done:
                continue
            if run(cacti, work, r):
                w.writerow(r)
                f.flush()


main()
