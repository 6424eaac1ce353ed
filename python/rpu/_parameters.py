"""The parameters of `generate`, from lab/sweep/src/parameter.rs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypedDict


class Parameters(TypedDict, total=False):
    """
        modulus_bits: The modulus is the largest prime of this size that is 1 mod 2n; by default 128.
        modulus: The modulus, in place of its size; or several with commas between them, for as many rings with symbols x0, x1, ... in place of x.
        root: A primitive 2n-th root of unity for the modulus, or one for each; by default the smallest.
        towers: Rings with moduli of their own in one program; by default 1.
        plan: `best`, `kl`, `pease`, `paper`, `unoptimised`, or a plan's file; by default best.
        tune: The search for plan `best`; by default quick.
        optimise: What plan `best` minimises, or what the kernels of a ring program do together; by default cycles.
        by: scalar k, reduced modulo q. Of `adds`, `subs`, `muls`, `rotate`.
        g: exponent g, odd and below 2n. Of `automorphism`.
        order: `evaluation`, values in bit-reversed order, or `coefficients`, in natural order. Of `automorphism`.
    """

    modulus_bits: int
    modulus: int | str | Sequence[int]
    root: int | str | Sequence[int]
    towers: int
    plan: str
    tune: Literal["off", "quick", "full"]
    optimise: Literal["cycles", "energy", "energy-delay"]
    by: int | str | Sequence[int]
    g: int | str | Sequence[int]
    order: Literal["evaluation", "coefficients"]
