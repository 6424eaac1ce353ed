"""Better programs, proofs, and comparisons."""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Union

from . import _arguments, _rpu
from ._api import MachineLike, Program, RingRun, Run, _machine, _program
from ._parameters import Parameters

if TYPE_CHECKING:
    from typing_extensions import Unpack

    RunLike = Union[Run, RingRun, Mapping[str, Any], str, os.PathLike[str]]
    """A run, its document, or a file with it."""


@dataclass(frozen=True)
class Schedule:
    """A program in another order, which leaves the same words in every output; this is proven."""

    program: Program
    before: int
    """The cycles of the given program."""
    after: int
    """The cycles of the new one."""
    bound: int
    """The least cycles of any program with these vector instructions, by resources and by dependences."""


def schedule(program: Program, machine: MachineLike = None) -> Schedule:
    """Reorders a program for a machine and renames its registers. It stays as it is if no order is faster."""
    reordered, before, after, bound = _program(program).schedule(_machine(machine))
    return Schedule(Program(reordered), before, after, bound)


def prove(program: Program, machine: MachineLike = None) -> list[str]:
    """Proves that a program computes its claims for all data, and returns them: `CheckError` if it does not."""
    return _program(program).prove(_machine(machine))


@dataclass(frozen=True)
class Plan:
    """The result of `tune`."""

    program: Program
    """The program by this plan."""
    text: str
    """The plan, TOML."""
    cycles: int
    before: int
    """The cycles of plan `best`. The result is that plan if the search found nothing faster."""
    tried: int
    """The number of plans that were tried."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the plan. `generate(.., plan=path)` and `rpu gen --plan` read it."""
        Path(_arguments.path("path", path)).write_text(self.text, encoding="utf-8")


def tune(
    operation: str,
    n: int,
    *,
    machine: MachineLike = None,
    effort: int = 30,
    seed: int = 0,
    cache: str | os.PathLike[str] | None = None,
    **parameters: Unpack[Parameters],
) -> Plan:
    """Searches for a faster plan than `best`, with `effort` times the budget of a quick search. Equal seeds find equal plans.

    `cache` is a folder that keeps the cycles of every tried plan, so that a later search tries each only once. The
    parameters are those of `generate` that say what to compute: not `plan`, `tune` and `optimise`. By default, moduli have 60 bits.
    """
    given = _arguments.parameters({"n": n, **parameters})
    effort, seed = _arguments.whole("effort", effort, 0, 2**32 - 1), _arguments.whole("seed", seed)
    folder = _arguments.path_or_none("cache", cache)
    program, text, cycles, before, tried = _rpu.tune(operation, given, _machine(machine), effort, seed, folder)
    return Plan(Program(program), text, cycles, before, tried)


class Diff:
    """Two runs, number by number. `str` of it is a table."""

    def __init__(self, table: str, document: str) -> None:
        self._table = table
        self._document = document

    @functools.cached_property
    def report(self) -> dict[str, Any]:
        """The comparison as `rpu diff --format json` prints it: `machine` has the keys that differ, `values` the numbers."""
        return json.loads(self._document)

    def __str__(self) -> str:
        return self._table

    def __repr__(self) -> str:
        a, b = (self.report[side]["program"] for side in "ab")
        return f"<Diff {a}, {b}: {len(self.report['values'])} numbers>"


def diff(a: RunLike, b: RunLike) -> Diff:
    """Compares two runs: the keys of the machine that differ, and every number."""
    return Diff(*_rpu.diff(_document("a", a), _document("b", b)))


def _document(name: str, run: RunLike) -> tuple[str, str]:
    """The document of a run, and its name in messages."""
    if isinstance(run, (Run, RingRun)):
        return name, run._run.report
    if isinstance(run, Mapping):
        return name, json.dumps(run)
    path = _arguments.path(name, run)
    return path, Path(path).read_text(encoding="utf-8")
