"""Assembler, code generator and cycle-level simulator for the Ring Processing Unit.

>>> import rpu
>>> program = rpu.generate("ntt", n=1024, modulus_bits=60)
>>> run = rpu.run(program, rpu.Machine(set={"hple.count": 64}), check=True)
>>> run.cycles, run.outputs["y"][:4]

Coefficients are Python integers, since moduli have up to 128 bits. Inputs may be any sequence of integers, or a NumPy
array; an array of unsigned 64-bit integers with a last axis of two has the low and the high half of each coefficient.
"""

from __future__ import annotations

from ._api import (
    Chart,
    Machine,
    Program,
    RingProgram,
    RingRun,
    Run,
    Sweep,
    assemble,
    explore,
    generate,
    load,
    operations,
    plot,
    read_coefficients,
    ring_program,
    ring_programs,
    run,
    sweep,
)
from ._circuit import Ciphertext, Circuit, Plaintext, Test
from ._rpu import CheckError, Diagnostic, RpuError, __version__
from ._tools import Diff, Plan, Schedule, diff, prove, schedule, tune

__all__ = [
    "Chart",
    "CheckError",
    "Ciphertext",
    "Circuit",
    "Diagnostic",
    "Diff",
    "Machine",
    "Plaintext",
    "Plan",
    "Program",
    "RingProgram",
    "RingRun",
    "RpuError",
    "Run",
    "Schedule",
    "Sweep",
    "Test",
    "__version__",
    "assemble",
    "diff",
    "explore",
    "generate",
    "load",
    "operations",
    "plot",
    "prove",
    "read_coefficients",
    "ring_program",
    "ring_programs",
    "run",
    "schedule",
    "sweep",
    "tune",
]
