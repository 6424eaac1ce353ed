"""The extension module. `rpu` is its public face."""

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import Any, final

__version__: str

class RpuError(Exception):
    """Invalid input. The text shows each error with its line and a remedy."""

    diagnostics: Sequence[Diagnostic]
    """The errors one by one; empty if the error has no place in a file."""

class CheckError(RpuError):
    """A result that differs from the golden model, or a claim that is not proven."""

@final
class Diagnostic:
    """One error or warning. `str` of it is what a terminal shows."""

    severity: str
    """`error` or `warning`."""
    code: str | None
    """A code such as `B004`, which `rpu explain` explains."""
    file: str | None
    line: int | None
    """From 1."""
    column: int | None
    """From 1, in characters."""
    marked: str | None
    """The text at this position."""
    message: str
    help: str | None
    """The remedy."""
    text: str

@final
class Machine:
    def __new__(cls, name: str, overrides: list[str]) -> Machine: ...
    @property
    def name(self) -> str: ...
    @property
    def area_mm2(self) -> float: ...
    @property
    def frequency_ghz(self) -> float: ...
    def json(self) -> str: ...

@final
class Program:
    origin: str | None
    @staticmethod
    def assemble(text: str, name: str) -> Program: ...
    @staticmethod
    def load(path: str | PathLike[str]) -> Program: ...
    @property
    def name(self) -> str: ...
    @property
    def text(self) -> str: ...
    @property
    def intrinsics(self) -> str: ...
    @property
    def object(self) -> bytes: ...
    @property
    def instructions(self) -> list[str]: ...
    @property
    def claims(self) -> list[str]: ...
    @property
    def symbols(self) -> list[tuple[str, str, int, int, str]]: ...
    @property
    def blake3(self) -> str: ...
    def lint(self, machine: Machine) -> list[Diagnostic]: ...
    def schedule(self, machine: Machine) -> tuple[Program, int, int, int]: ...
    def prove(self, machine: Machine) -> list[str]: ...

@final
class Run:
    @property
    def report(self) -> str: ...
    @property
    def outputs(self) -> dict[str, list[int]]: ...
    @property
    def table(self) -> str: ...
    @property
    def page(self) -> str: ...
    @property
    def timeline(self) -> list[tuple[str, str, int, int, int, int, str | None]]: ...

@final
class RingProgram:
    title: str
    summary: str
    @staticmethod
    def generate(name: str, set: str, n: int | None, options: Sequence[tuple[str, str]]) -> RingProgram: ...
    @staticmethod
    def load(
        path: str | PathLike[str], manifest: str | PathLike[str] | None, n: int | None
    ) -> RingProgram: ...
    @staticmethod
    def import_heir(
        path: str | PathLike[str], n: int | None, arguments: Mapping[str, list[float]]
    ) -> tuple[RingProgram, list[str], float]: ...
    @staticmethod
    def import_orion(path: str | PathLike[str]) -> tuple[RingProgram, float]: ...
    @property
    def n(self) -> int: ...
    @property
    def operations(self) -> int: ...
    @property
    def text(self) -> str: ...
    @property
    def manifest(self) -> str: ...
    @property
    def inputs(self) -> list[tuple[str, list[int]]]: ...
    @property
    def outputs(self) -> list[tuple[str, int]]: ...
    def run(
        self,
        machine: Machine,
        inputs: Mapping[str, list[list[int]]],
        keys: str,
        optimise: str,
        seed: int,
        check: bool,
        execute: bool,
        page: str | PathLike[str] | None,
    ) -> RingRun: ...

@final
class Ciphertext:
    @property
    def level(self) -> int: ...
    @property
    def scale_bits(self) -> float: ...
    @property
    def is_product(self) -> bool: ...

@final
class Circuit:
    def __new__(
        cls, set: str, n: int | None, level: int | None, levels_out: int | None, dataflow: str, name: str
    ) -> Circuit: ...
    @property
    def slots(self) -> int: ...
    @property
    def set(self) -> str: ...
    @property
    def levels(self) -> int: ...
    @property
    def message_level(self) -> int: ...
    def input(self, name: str, level: int | None, scale_bits: int | None) -> Ciphertext: ...
    def output(self, name: str, a: Ciphertext) -> None: ...
    def add(self, a: Ciphertext, b: Ciphertext) -> Ciphertext: ...
    def subtract(self, a: Ciphertext, b: Ciphertext) -> Ciphertext: ...
    def multiply(self, a: Ciphertext, b: Ciphertext) -> Ciphertext: ...
    def multiply_integer(self, a: Ciphertext, factor: int) -> Ciphertext: ...
    def multiply_real(self, a: Ciphertext, factor: float) -> Ciphertext: ...
    def add_real(self, a: Ciphertext, addend: float) -> Ciphertext: ...
    def multiply_plaintext(
        self, a: Ciphertext, name: str, slots: Sequence[tuple[float, float]] | None
    ) -> Ciphertext: ...
    def add_plaintext(
        self, a: Ciphertext, name: str, slots: Sequence[tuple[float, float]] | None
    ) -> Ciphertext: ...
    def relinearise(self, a: Ciphertext) -> Ciphertext: ...
    def rescale(self, a: Ciphertext) -> Ciphertext: ...
    def rotations(self, a: Ciphertext, by: Sequence[int]) -> list[Ciphertext]: ...
    def conjugate(self, a: Ciphertext) -> Ciphertext: ...
    def at(self, a: Ciphertext, level: int) -> Ciphertext: ...
    def scaled_like(self, a: Ciphertext, b: Ciphertext) -> Ciphertext: ...
    def chebyshev(self, a: Ciphertext, coefficients: Sequence[float]) -> Ciphertext: ...
    def linear_transform(
        self,
        name: str,
        a: Ciphertext,
        diagonals: Mapping[int, Sequence[tuple[float, float]]],
        hoisting: str,
    ) -> Ciphertext: ...
    def bootstrap(self, a: Ciphertext, given: Sequence[tuple[str, str]]) -> Ciphertext: ...
    def program(self) -> RingProgram: ...

def test_circuit(
    program: RingProgram,
    slots: Mapping[str, Sequence[tuple[float, float]]],
    machine: Machine | None,
    seed: int,
    progress: Callable[[int, int], object] | None,
) -> dict[str, list[tuple[float, float]]]: ...

@final
class RingRun:
    report: str
    outputs: dict[str, list[list[int]]]
    table: str

def ring_programs() -> list[tuple[str, str]]: ...
def generate(operation: str, parameters: Sequence[tuple[str, str]], machine: Machine) -> Program: ...
def tune(
    operation: str,
    parameters: Sequence[tuple[str, str]],
    machine: Machine,
    effort: int,
    seed: int,
    cache: str | PathLike[str] | None,
) -> tuple[Program, str, int, int, int]: ...
def operations() -> list[tuple[str, str]]: ...
def run(
    program: Program,
    machine: Machine,
    inputs: Mapping[str, list[int]],
    seed: int,
    check: bool,
    execute: bool,
    timing: bool,
    stream: int | None,
    lenient: bool,
) -> Run: ...
def diff(a: tuple[str, str], b: tuple[str, str]) -> tuple[str, str]: ...
def read_coefficients(path: str | PathLike[str]) -> list[int]: ...
def sweep(
    text: str | None,
    name: str,
    overrides: list[str],
    folder: str | PathLike[str],
    threads: int,
    progress: Callable[[int, int], Any] | None,
) -> int: ...
def explore(
    text: str,
    name: str,
    overrides: list[str],
    folder: str | PathLike[str],
    evaluations: int,
    seed: int,
    threads: int,
    progress: Callable[[int, int], Any] | None,
) -> int: ...
def tasks(folder: str | PathLike[str]) -> dict[str, tuple[int, str]]: ...
def front(folder: str | PathLike[str], x: str | None, y: str | None, conditions: str | None) -> list[str]: ...
def plot(
    folders: list[Any],
    form: str,
    x: str | None,
    y: str | None,
    colour: str | None,
    label: str | None,
    facet: str | None,
    conditions: str | None,
    front: bool | None,
    marks: list[str],
    limits: list[str],
    format: str,
    width: str | None,
    font_size: float | None,
    title: bool,
    legend: str | None,
) -> bytes: ...
