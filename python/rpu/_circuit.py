"""Circuits: programs of homomorphic encryption by operations on ciphertexts."""

from __future__ import annotations

import functools
import linecache
import operator
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Union

from . import _arguments, _rpu
from ._api import MachineLike, RingProgram, _machine

if TYPE_CHECKING:
    import numpy

Slots = Any
"""Numbers for slots: a sequence or an array, of n/2 numbers or of a divisor of n/2, which repeat; or one number."""

_PACKAGE = str(Path(__file__).parent)


def _of_user(operation: Callable[..., Any]) -> Callable[..., Any]:
    """Errors of the operation name the line of the user's code."""

    @functools.wraps(operation)
    def named(*args: Any, **keywords: Any) -> Any:
        try:
            return operation(*args, **keywords)
        except (_rpu.RpuError, TypeError, ValueError) as error:
            frame = sys._getframe(1)
            while frame.f_back and frame.f_code.co_filename.startswith(_PACKAGE):
                frame = frame.f_back
            name, line = frame.f_code.co_filename, frame.f_lineno
            place = f"{name}:{line}"
            if place not in str(error):
                text = linecache.getline(name, line).strip()
                error.args = (f"{error}\n  at {place}" + (f": {text}" if text else ""), *error.args[1:])
            raise

    return named


def _numbers(name: str, values: Any) -> numpy.ndarray:
    """Numbers as an array."""
    import numpy

    try:
        array = numpy.asarray(values)
    except ValueError as error:
        raise ValueError(f"`{name}` needs numbers in rows of one length: {error}") from None
    if array.dtype.kind not in "biufc":
        raise TypeError(f"`{name}` needs numbers, found {array.dtype}")
    return array.astype(complex)


def _slots(name: str, values: Slots, count: int) -> numpy.ndarray:
    """Numbers for all slots; fewer repeat."""
    import numpy

    array = numpy.atleast_1d(_numbers(name, values))
    if array.ndim != 1 or len(array) == 0 or count % len(array):
        found = f"{len(array)} numbers" if array.ndim == 1 else f"the shape {array.shape}"
        raise ValueError(f"`{name}` has {found}: a ciphertext has {count} slots; give {count} numbers, or a divisor of them, which repeat")
    if not numpy.isfinite(array).all():
        raise ValueError(f"`{name}` has a number that is not finite")
    return numpy.tile(array, count // len(array))


def _pairs(array: numpy.ndarray) -> list[tuple[float, float]]:
    return list(zip(array.real.tolist(), array.imag.tolist()))


@dataclass(frozen=True)
class Plaintext:
    """Slots in the clear: of a name that `Circuit.test` gives, or with values. `Circuit.plaintext` makes it."""

    circuit: Circuit
    name: str
    values: Any = None

    def _clear(self, given: Mapping[str, numpy.ndarray]) -> numpy.ndarray:
        return given[self.name] if self.values is None else self.values


class Ciphertext:
    """A ciphertext of a circuit: its operators are operations on encrypted slots.

    `+` and `-` take ciphertexts, plaintexts, arrays and numbers. `*` does too; a product with anything but a whole number needs a
    `rescale()` to get the operand's scale back. A product of ciphertexts is relinearised when something else needs it than `rescale()`,
    unless it is `lazy()`.
    """

    # NumPy leaves operators to this class.
    __array_ufunc__ = None

    def __init__(
        self,
        circuit: Circuit,
        handle: _rpu.Ciphertext,
        clear: Callable[[dict[int, Any], Mapping[str, Any]], Any],
        is_lazy: bool = False,
    ) -> None:
        self._circuit = circuit
        self._handle = handle
        self._compute = clear
        self._is_lazy = is_lazy

    @property
    def level(self) -> int:
        """Its level, from 1: a rescale takes one. It is the number of its moduli, unless the set states its levels."""
        return self._handle.level

    @property
    def scale_bits(self) -> float:
        """log2 of its scale."""
        return self._handle.scale_bits

    def _clear(self, memo: dict[int, Any], given: Mapping[str, Any]) -> Any:
        """The slots in the clear. Each ciphertext is computed once."""
        if id(self) not in memo:
            memo[id(self)] = self._compute(memo, given)
        return memo[id(self)]

    def _settled(self) -> _rpu.Ciphertext:
        """The ciphertext with two components, unless it is lazy."""
        if self._handle.is_product and not self._is_lazy:
            self._handle = self._circuit._circuit.relinearise(self._handle)
        return self._handle

    def _new(self, handle: _rpu.Ciphertext, clear: Callable[..., Any], is_lazy: bool = False) -> Ciphertext:
        return Ciphertext(self._circuit, handle, clear, is_lazy)

    def _operand(self, other: Any) -> Any:
        """The other operand: a ciphertext, a plaintext or a number; `None` if it is none of them."""
        if isinstance(other, (Ciphertext, Plaintext)):
            circuit = other._circuit if isinstance(other, Ciphertext) else other.circuit
            if circuit is not self._circuit:
                raise ValueError("the operands are of two circuits")
            return other
        if isinstance(other, (bool, str, bytes)) or other is None:
            return None
        if isinstance(other, (int, float)):
            return other
        if hasattr(other, "__index__"):
            return operator.index(other)
        if hasattr(other, "__len__") or hasattr(other, "__complex__") or isinstance(other, complex):
            return self._circuit._constant(other)
        return None

    def _sum(self, other: Any, sign: int) -> Any:
        other = self._operand(other)
        circuit = self._circuit._circuit
        if other is None:
            return NotImplemented
        if isinstance(other, Ciphertext):
            operation = circuit.add if sign > 0 else circuit.subtract
            handle = operation(self._settled(), other._settled())
            return self._new(
                handle,
                lambda memo, given: self._clear(memo, given) + sign * other._clear(memo, given),
                self._is_lazy or other._is_lazy,
            )
        if isinstance(other, Plaintext):
            if sign < 0:
                return -(-self + other)
            handle = circuit.add_plaintext(self._settled(), other.name, self._circuit._values(other))
            return self._new(handle, lambda memo, given: self._clear(memo, given) + other._clear(given), self._is_lazy)
        number = sign * other
        if number == 0:
            return self
        handle = circuit.add_real(self._settled(), float(number))
        return self._new(handle, lambda memo, given: self._clear(memo, given) + number, self._is_lazy)

    @_of_user
    def __add__(self, other: Any) -> Any:
        return self._sum(other, 1)

    __radd__ = __add__

    @_of_user
    def __sub__(self, other: Any) -> Any:
        return self._sum(other, -1)

    @_of_user
    def __rsub__(self, other: Any) -> Any:
        negative = -self
        return negative._sum(other, 1)

    @_of_user
    def __neg__(self) -> Ciphertext:
        handle = self._circuit._circuit.multiply_integer(self._settled(), -1)
        return self._new(handle, lambda memo, given: -self._clear(memo, given), self._is_lazy)

    @_of_user
    def __mul__(self, other: Any) -> Any:
        other = self._operand(other)
        circuit = self._circuit._circuit
        if other is None:
            return NotImplemented
        if isinstance(other, Ciphertext):
            handle = circuit.multiply(self._settled(), other._settled())
            return self._new(handle, lambda memo, given: self._clear(memo, given) * other._clear(memo, given))
        if isinstance(other, Plaintext):
            handle = circuit.multiply_plaintext(self._settled(), other.name, self._circuit._values(other))
            return self._new(handle, lambda memo, given: self._clear(memo, given) * other._clear(given), self._is_lazy)
        if isinstance(other, int):
            if abs(other) >= 1 << 62:
                raise ValueError(f"the factor {other} is beyond 2^62: a modulus has no room for it")
            handle = circuit.multiply_integer(self._settled(), other)
        else:
            handle = circuit.multiply_real(self._settled(), other)
        return self._new(handle, lambda memo, given: self._clear(memo, given) * other, self._is_lazy)

    __rmul__ = __mul__

    @_of_user
    def lazy(self) -> Ciphertext:
        """The product without its relinearisation: sums of such products need one key switch in all."""
        return self._new(self._handle, self._clear, True)

    @_of_user
    def relinearise(self) -> Ciphertext:
        """The ciphertext with two components, now."""
        return self._new(self._circuit._circuit.relinearise(self._handle), self._clear)

    @_of_user
    def rescale(self) -> Ciphertext:
        """The division of the scale by the last modulus, which the result lacks. A product is relinearised in the same step."""
        return self._new(self._circuit._circuit.rescale(self._handle), self._clear)

    @_of_user
    def rotate(self, slots: int) -> Ciphertext:
        """The slots rotated to the left, or by a negative number to the right."""
        return self.rotations([slots])[0]

    @_of_user
    def rotations(self, slots: Iterable[int]) -> list[Ciphertext]:
        """Several rotations, which share the first part of their key switches."""
        by = [_arguments.signed("slots", one) for one in _arguments.sequence("slots", slots, "whole numbers")]
        handles = self._circuit._circuit.rotations(self._settled(), by)

        def rotated(one: int) -> Callable[..., Any]:
            import numpy

            return lambda memo, given: numpy.roll(self._clear(memo, given), -one)

        return [self._new(handle, rotated(one)) for handle, one in zip(handles, by)]

    @_of_user
    def conjugate(self) -> Ciphertext:
        """The complex conjugates of the slots."""
        handle = self._circuit._circuit.conjugate(self._settled())
        return self._new(handle, lambda memo, given: self._clear(memo, given).conjugate())

    @_of_user
    def chebyshev(self, coefficients: Sequence[float]) -> Ciphertext:
        """The sum of p_i T_i of the slots, T_i the Chebyshev polynomials, for slots from -1 to 1. A bit of the degree takes a level."""
        coefficients = _arguments.sequence("coefficients", coefficients, "numbers")
        numbers = [_arguments.number("coefficients", one) for one in coefficients]
        handle = self._circuit._circuit.chebyshev(self._settled(), numbers)

        def clear(memo: dict[int, Any], given: Mapping[str, Any]) -> Any:
            import numpy

            return numpy.polynomial.chebyshev.chebval(self._clear(memo, given), numbers)

        return self._new(handle, clear)

    @_of_user
    def linear_transform(self, matrix: Slots, *, name: str | None = None, hoisting: str = "double") -> Ciphertext:
        """The product of a matrix and the slots, rescaled. The side of the matrix is n/2 or a divisor of it, of slots that repeat.

        A dictionary has diagonals in place of a matrix: slot k of the diagonal d is the entry of row k and column k + d. Diagonals of
        zeros cost nothing. `hoisting` is one of `rpu gen program bootstrap`.
        """
        import numpy

        name = self._circuit._name("matrix") if name is None else name
        if isinstance(matrix, Mapping):
            slots_of = lambda slots: numpy.atleast_1d(_numbers(name, slots))
            diagonals = {_arguments.signed(name, d): slots_of(slots) for d, slots in matrix.items()}
        else:
            entries = _numbers(name, matrix)
            if entries.ndim != 2 or entries.shape[0] != entries.shape[1]:
                raise ValueError(f"the matrix `{name}` has the shape {entries.shape}: it must be square")
            rows = numpy.arange(len(entries))
            all_diagonals = {d: entries[rows, (rows + d) % len(rows)] for d in range(len(rows))}
            diagonals = {d: slots for d, slots in all_diagonals.items() if numpy.any(slots)}
        pairs = {d: _pairs(slots) for d, slots in diagonals.items()}
        handle = self._circuit._circuit.linear_transform(name, self._settled(), pairs, hoisting)

        def clear(memo: dict[int, Any], given: Mapping[str, Any]) -> Any:
            x = self._clear(memo, given)
            tiled = {d: numpy.tile(slots, len(x) // len(slots)) for d, slots in diagonals.items()}
            return sum(slots * numpy.roll(x, -d) for d, slots in tiled.items())

        return self._new(handle, clear)

    @_of_user
    def bootstrap(self, **options: Any) -> Ciphertext:
        """The same message with more levels. The options are those of `rpu gen program bootstrap`, such as `slots=256`,
        `hoisting="min-ks"` or `slot_to_coeff="first"`."""
        given = _arguments.parameters(options)
        return self._new(self._circuit._circuit.bootstrap(self._settled(), given), self._clear)

    @_of_user
    def at(self, level: int) -> Ciphertext:
        """The ciphertext at a lower level."""
        level = _arguments.whole("level", level)
        return self._new(self._circuit._circuit.at(self._settled(), level), self._clear, self._is_lazy)

    @_of_user
    def scaled_like(self, other: Ciphertext) -> Ciphertext:
        """The ciphertext with the scale of another one, at a lower level, so that both can be added."""
        if not isinstance(other, Ciphertext):
            raise TypeError(f"`other` needs a ciphertext, found {type(other).__name__}")
        return self._new(self._circuit._circuit.scaled_like(self._settled(), other._settled()), self._clear)

    def __repr__(self) -> str:
        return f"<Ciphertext of {self._circuit.name}: level {self.level}, scale 2^{self.scale_bits:.2f}>"


@dataclass(frozen=True)
class Test:
    """The results of `Circuit.test`, by output. Its keys come from a seed: not secure."""

    slots: dict[str, Any]
    """The decrypted slots, as arrays."""
    clear: dict[str, Any]
    """The slots of the same computation in the clear."""
    error_bits: dict[str, float]
    """log2 of the largest distance of a slot to its clear one: -20 is an error of about a millionth."""

    def __repr__(self) -> str:
        errors = ", ".join(f"{name} 2^{bits:.1f}" for name, bits in self.error_bits.items())
        return f"<Test, not secure: errors {errors}>"


class Circuit:
    """A program of homomorphic encryption (CKKS) under construction.

    >>> c = rpu.Circuit("lattigo-n16qp1546", n=4096)   # a set's name or file; n for tests
    >>> x, w = c.input("x"), c.plaintext("w")
    >>> y = (x * w).rescale()
    >>> s = y + y.rotate(1)
    >>> c.output("s", (s * s).rescale().bootstrap())
    >>> p = c.program()
    >>> r = c.test(p, x=xs, w=ws)                       # test keys, not secure
    >>> r.slots["s"], r.error_bits["s"]

    Scales are exact: the sum of ciphertexts of one level and different scales is an error, whose text names the line. `level` is the
    highest level of the circuit, that of the set by default; bootstraps leave `levels_out` levels; `dataflow` is the order of
    key switches.
    """

    @_of_user
    def __init__(
        self,
        set: str | os.PathLike[str],
        n: int | None = None,
        *,
        level: int | None = None,
        levels_out: int | None = None,
        dataflow: str = "oc",
        name: str = "circuit",
    ) -> None:
        n, level = _arguments.whole_or_none("n", n), _arguments.whole_or_none("level", level)
        levels_out = _arguments.whole_or_none("levels_out", levels_out)
        self._circuit = _rpu.Circuit(_arguments.path("set", set), n, level, levels_out, dataflow, name)
        self.name = name
        self._inputs: dict[str, Any] = {}
        self._outputs: dict[str, Ciphertext] = {}
        self._names = 0
        self._programs: dict[int, tuple[Any, dict[str, Ciphertext]]] = {}

    @property
    def slots(self) -> int:
        """The slots of a ciphertext, n/2."""
        return self._circuit.slots

    @property
    def level(self) -> int:
        """The level of messages: the levels that are left to compute with."""
        return self._circuit.message_level

    def _name(self, kind: str) -> str:
        self._names += 1
        return f"{kind}{self._names - 1}"

    def _values(self, plaintext: Plaintext) -> list[tuple[float, float]] | None:
        return None if plaintext.values is None else _pairs(plaintext.values)

    def _constant(self, values: Slots) -> Plaintext:
        name = self._name("constant")
        return Plaintext(self, name, _slots(name, values, self.slots))

    def _take(self, name: str, what: Any) -> None:
        if not isinstance(name, str) or not name.isidentifier():
            raise ValueError(f"invalid name {name!r}: it is the name of an argument of `test`")
        if name in ("machine", "seed", "progress"):
            raise ValueError(f"the name `{name}` is an argument of `test`: choose another one")
        if name in self._inputs:
            raise ValueError(f"a second input or plaintext `{name}`: choose another name")
        self._inputs[name] = what

    @_of_user
    def input(self, name: str, *, level: int | None = None, scale_bits: int | None = None) -> Ciphertext:
        """A ciphertext that the user encrypts: by default at the level and with the scale of messages."""
        level = _arguments.whole_or_none("level", level)
        scale_bits = _arguments.whole_or_none("scale_bits", scale_bits, 0, 2**32 - 1)
        self._take(name, "ciphertext")
        handle = self._circuit.input(name, level, scale_bits)
        return Ciphertext(self, handle, lambda memo, given: given[name])

    @_of_user
    def plaintext(self, name: str, values: Slots | None = None) -> Plaintext:
        """Slots in the clear: those that `test` gives under the name, or `values`."""
        self._take(name, "plaintext" if values is None else "constant")
        return Plaintext(self, name, None if values is None else _slots(name, values, self.slots))

    @_of_user
    def output(self, name: str, ciphertext: Ciphertext) -> None:
        """Makes a ciphertext a result of the program."""
        if not isinstance(ciphertext, Ciphertext):
            raise TypeError(f"the output `{name}` needs a ciphertext, found {type(ciphertext).__name__}")
        if ciphertext._circuit is not self:
            raise ValueError(f"the output `{name}` is of another circuit")
        self._circuit.output(name, ciphertext._handle)
        self._outputs[name] = ciphertext

    @_of_user
    def program(self) -> RingProgram:
        """The program so far: save it, run it, sweep it."""
        if not self._outputs:
            raise ValueError("the circuit has no output: call `output(NAME, CIPHERTEXT)`")
        program = RingProgram(self._circuit.program())
        # The object keeps its identity.
        self._programs[id(program)] = (program, dict(self._outputs))
        return program

    @_of_user
    def test(
        self,
        program: RingProgram | None = None,
        /,
        *,
        machine: MachineLike = None,
        seed: int = 1,
        progress: Callable[[int, int], object] | None = None,
        **slots: Slots,
    ) -> Test:
        """Makes keys from `seed`, encrypts `slots`, runs the program, decrypts, and compares with the computation in the clear.

        **Not secure**: keys follow from the seed, and random numbers are not cryptographic. It runs on big integers, or with `machine` on
        that machine's functional model, which is faster. `progress` is called with the lines done and their number; a terminal
        shows them. Ctrl-C ends the run.
        """
        import numpy

        seed, progress = _arguments.whole("seed", seed), _arguments.callback("progress", progress)
        program = self.program() if program is None else program
        _, outputs = self._programs.get(id(program), (None, None))
        if outputs is None:
            raise ValueError("the program is of another circuit: give what `program()` of this one returned")
        wanted = {name for name, kind in self._inputs.items() if kind != "constant"}
        if unknown := sorted(slots.keys() - wanted):
            raise ValueError(f"no input or plaintext is named `{unknown[0]}`: there are {', '.join(sorted(wanted))}")
        given = {name: _slots(name, values, self.slots) for name, values in slots.items()}
        names = {name.rsplit(".", 1)[0] for name in program.inputs}
        for name in sorted(wanted - given.keys()):
            if self._inputs[name] == "ciphertext" and name in names:
                raise ValueError(f"the input `{name}` has no slots: give `{name}=..`")
            if self._inputs[name] == "plaintext" and (name in program.inputs or name in names):
                raise ValueError(f"the plaintext `{name}` has no slots: give `{name}=..`")
        on = None if machine is None else _machine(machine)
        pairs = {name: _pairs(array) for name, array in given.items()}
        bar = _bar if progress is None and sys.stderr.isatty() else progress
        found = _rpu.test_circuit(program._program, pairs, on, seed, bar)
        if bar is _bar:
            print("\r\033[K", end="", file=sys.stderr)
        memo: dict[int, Any] = {}
        clear = {name: ciphertext._clear(memo, given) for name, ciphertext in outputs.items()}
        results, errors = {}, {}
        for name, expected in clear.items():
            results[name] = numpy.array([complex(re, im) for re, im in found[name]])
            error = numpy.abs(results[name] - expected).max()
            errors[name] = float(numpy.log2(error)) if error > 0 else float("-inf")
        return Test(results, clear, errors)

    def __repr__(self) -> str:
        return f"<Circuit {self.name} of the set {self._circuit.set}: {self.slots} slots, level {self.level}>"


def _bar(done: int, lines: int) -> None:
    """The progress of a test, in a terminal."""
    width = 30
    full = width * done // max(lines, 1)
    print(f"\rtest (not secure) [{'#' * full}{'.' * (width - full)}] {done} of {lines} lines", end="", file=sys.stderr)
