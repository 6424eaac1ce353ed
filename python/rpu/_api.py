"""The public classes and functions."""

from __future__ import annotations

import csv
import difflib
import functools
import json
import math
import os
import re
import shutil
import tempfile
import warnings
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Union

from . import _arguments, _rpu
from ._parameters import Parameters

if TYPE_CHECKING:
    import numpy
    import pandas
    import pyarrow
    from typing_extensions import Unpack

Value = Union[int, float, bool, str]
"""The value of a machine key."""


def _array(words: list[Any]) -> numpy.ndarray:
    """Words, or limbs of words, as `uint64`; if one needs more bits, with the low and the high half in a last axis."""
    import numpy

    halves = lambda item: [*map(halves, item)] if isinstance(item, list) else (item & 2**64 - 1, item >> 64)
    array = numpy.array(halves(words), dtype=numpy.uint64)
    return array if array[..., 1].any() else array[..., 0]


def _near(name: str, names: Iterable[str]) -> str:
    """The name that was probably meant, as the end of a message."""
    near = difflib.get_close_matches(name, list(names), n=1)
    return f"; did you mean `{near[0]}`?" if near else ""


class Machine:
    """A machine: every key has a value.

    `name` is a built-in machine or the path of a `.toml` file; `set` changes keys, such as `{"hple.count": 64}`.
    """

    def __init__(self, name: str | os.PathLike[str] = "rpu-128x128", *, set: Mapping[str, Value] = {}) -> None:
        self._machine = _rpu.Machine(_arguments.path("name", name), _arguments.overrides(set))

    @property
    def name(self) -> str:
        """The name in results."""
        return self._machine.name

    @property
    def area_mm2(self) -> float:
        """The modelled area."""
        return self._machine.area_mm2

    @property
    def frequency_ghz(self) -> float:
        """The modelled clock."""
        return self._machine.frequency_ghz

    @functools.cached_property
    def keys(self) -> dict[str, Any]:
        """Every key with its value: `keys["hple.count"]`."""
        keys: dict[str, Any] = {}

        def add(prefix: str, table: Mapping[str, Any]) -> None:
            for name, value in table.items():
                if isinstance(value, dict):
                    add(f"{prefix}{name}.", value)
                else:
                    keys[prefix + name] = value

        add("", json.loads(self._machine.json()))
        return keys

    def __getitem__(self, key: str) -> Any:
        if key not in self.keys:
            raise KeyError(f"unknown key `{key}`{_near(str(key), self.keys)}")
        return self.keys[key]

    def __repr__(self) -> str:
        return f"<Machine {self.name}: {self.area_mm2:.2f} mm2, {self.frequency_ghz} GHz>"


MachineLike = Union[Machine, str, "os.PathLike[str]", None]
"""A machine, the name or the path of one, or `None` for the paper's."""


def _machine(machine: MachineLike) -> _rpu.Machine:
    if machine is None:
        machine = Machine()
    elif isinstance(machine, (str, os.PathLike)):
        machine = Machine(machine)
    elif not isinstance(machine, Machine):
        raise TypeError(f"expected a Machine, or the name of one, found {type(machine).__name__}")
    return machine._machine


@dataclass(frozen=True)
class Symbol:
    """A named range of a memory."""

    name: str
    memory: str
    """`vdm` or `sdm`."""
    start: int
    """The address of the first word."""
    words: int
    role: str
    """`input`, `output`, `table` or `scratch`."""


class Program:
    """A program. `assemble`, `generate` and `load` make one."""

    def __init__(self, program: _rpu.Program) -> None:
        self._program = program

    @property
    def name(self) -> str:
        """The kernel's name."""
        return self._program.name

    @property
    def text(self) -> str:
        """Assembly text."""
        return self._program.text

    @property
    def intrinsics(self) -> str:
        """C with SPIRAL's intrinsics."""
        return self._program.intrinsics

    @property
    def instructions(self) -> list[str]:
        """The instructions, with symbols in place of addresses."""
        return self._program.instructions

    @property
    def claims(self) -> list[str]:
        """What the program claims to compute, such as `y = ntt(x), n=1024, ..`."""
        return self._program.claims

    @property
    def symbols(self) -> dict[str, Symbol]:
        """The symbols by name."""
        return {fields[0]: Symbol(*fields) for fields in self._program.symbols}

    @property
    def origin(self) -> str | None:
        """The origin of a generated program's recipe: the library, a search, a named plan."""
        return self._program.origin

    @property
    def blake3(self) -> str:
        """The hash of the object file, as in results."""
        return self._program.blake3

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes an object file if the name ends in `.o` or `.elf`, else assembly text."""
        path = Path(_arguments.path("path", path))
        path.write_bytes(bytes(self._program.object) if path.suffix in (".o", ".elf") else self.text.encode())

    def lint(self, machine: MachineLike = None) -> list[_rpu.Diagnostic]:
        """Faults of the program, results that nothing reads, bank conflicts."""
        return self._program.lint(_machine(machine))

    def __len__(self) -> int:
        return len(self._program.instructions)

    def __repr__(self) -> str:
        return f"<Program {self.name}: {len(self)} instructions>"


def _program(program: Program) -> _rpu.Program:
    if not isinstance(program, Program):
        message = f"expected a Program, found {type(program).__name__}"
        raise TypeError(f"{message}: `assemble` makes one of text, `load` of a file")
    return program._program


def assemble(text: str, name: str = "<text>") -> Program:
    """Assembles B512 text, or C with SPIRAL's intrinsics. `name` is its name in errors."""
    return Program(_rpu.Program.assemble(text, name))


def load(path: str | os.PathLike[str]) -> Program:
    """Reads assembly text or an object file. `RingProgram.load` reads `.fhetch` text."""
    return Program(_rpu.Program.load(_arguments.path("path", path)))


def generate(
    operation: str, n: int, *, machine: MachineLike = None, **parameters: Unpack[Parameters]
) -> Program:
    """Generates a program for a machine. `operations()` lists what there is.

    Parameters:
    """
    given = _arguments.parameters({"n": n, **parameters})
    return Program(_rpu.generate(operation, given, _machine(machine)))


generate.__doc__ = (generate.__doc__ or "") + (Parameters.__doc__ or "")


def operations() -> dict[str, str]:
    """The operations that `generate` knows, with their definitions."""
    return dict(_rpu.operations())


class _Run:
    """What all runs have."""

    def __init__(self, run: Any) -> None:
        self._run = run

    @functools.cached_property
    def report(self) -> dict[str, Any]:
        """The document of the run, as `rpu run --format json` prints it."""
        return json.loads(self._run.report)

    def _check_timed(self, name: str) -> None:
        """Refuses a result that a run without timing does not have."""
        if self.report.get("time_us") is None:
            raise _rpu.RpuError(f"the run has no `{name}`, since it was not timed: run with `timing=True`")

    @property
    def time_us(self) -> float:
        """The time: of a kernel, of its cycles at the machine's clock; of a ring program, with all transfers."""
        self._check_timed("time_us")
        return self.report["time_us"]

    @property
    def area_mm2(self) -> float:
        """The area of the machine, with what the run uses beside it."""
        return self.report["area_mm2"]

    @property
    def energy_uj(self) -> float:
        """The energy of the run. Without timing, the `report` has the part that is not static."""
        self._check_timed("energy_uj")
        return self.report["energy_uj"]

    @property
    def checked(self) -> bool:
        """Whether every output was compared with big integers and agreed."""
        return self.report["checked"]

    @functools.cached_property
    def arrays(self) -> dict[str, numpy.ndarray]:
        """`outputs` as NumPy's `uint64`. If a coefficient has more than 64 bits, a last axis of two holds the low and the
        high halves, as in inputs and in `.npy` files."""
        return {name: _array(words) for name, words in self._run.outputs.items()}

    def __str__(self) -> str:
        return self._run.table


class Run(_Run):
    """The result of `run`."""

    @functools.cached_property
    def outputs(self) -> dict[str, list[int]]:
        """The coefficients of each output; empty without execution."""
        return self._run.outputs

    @property
    def cycles(self) -> int:
        """Cycles from the start command to the last completion."""
        self._check_timed("cycles")
        return self.report["cycles"]

    @property
    def stalls(self) -> dict[str, int]:
        """Cycles by cause. They add up to `cycles`."""
        self._check_timed("stalls")
        return self.report["stalls"]

    @property
    def timeline(self) -> pandas.DataFrame:
        """The cycles of each instruction. `free` is one past its last cycle in the pipe."""
        import pandas

        self._check_timed("timeline")
        columns = ["instruction", "pipe", "dispatch", "issue", "free", "complete", "wait"]
        frame = pandas.DataFrame(self._run.timeline, columns=columns)
        return frame.rename_axis("index")

    def save_page(self, path: str | os.PathLike[str]) -> None:
        """Writes a page with causes, pipeline timeline, area and energy: one HTML file."""
        self._check_timed("page")
        Path(_arguments.path("path", path)).write_text(self._run.page, encoding="utf-8")

    def __repr__(self) -> str:
        cycles = f"{self.cycles} cycles, {self.time_us:.3f} us" if self.report.get("cycles") is not None else "not timed"
        return f"<Run {self.report['program']}: {cycles}{', checked' if self.checked else ''}>"


def run(
    program: Program,
    machine: MachineLike = None,
    *,
    inputs: Mapping[str, Iterable[int]] = {},
    seed: int = 0,
    check: bool = False,
    execute: bool = True,
    timing: bool = True,
    stream: int | None = None,
    lenient: bool = False,
) -> Run:
    """Runs a program on a machine, on data and in time.

    Inputs that are not given keep the program's initial data, or are drawn from `seed`. With `check`, every output is
    compared with the golden model, also on random data: `CheckError` if one differs. `stream` is a number of consecutive
    runs that overlap with off-chip transfers. Without `timing`, a run has data only: no cycles, time, energy and timeline.
    """
    words = {name: _arguments.words(name, values) for name, values in _arguments.mapping("inputs", inputs).items()}
    seed, stream = _arguments.whole("seed", seed), _arguments.whole_or_none("stream", stream, 1, 100_000)
    return Run(_rpu.run(_program(program), _machine(machine), words, seed, check, execute, timing, stream, lenient))


def _warn_of_scales(worst_sum: float) -> None:
    """Warns of sums whose summands differ in scale, at the line that imports them."""
    if worst_sum > 0:
        bits = -math.log2(worst_sum)
        warnings.warn(f"scales of summands differ: one may be wrong by 2^-{bits:.1f} of its size", stacklevel=3)


class RingProgram:
    """A program of homomorphic encryption: one operation on one residue polynomial, a limb, per line. `ring_program`
    generates one."""

    def __init__(self, program: _rpu.RingProgram) -> None:
        self._program = program

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        *,
        manifest: str | os.PathLike[str] | None = None,
        n: int | None = None,
    ) -> RingProgram:
        """Reads `.fhetch` text with its manifest, by default `P.manifest.json` or `P.json` beside it, or for the degree `n`."""
        manifest = _arguments.path_or_none("manifest", manifest)
        n = _arguments.whole_or_none("n", n)
        return cls(_rpu.RingProgram.load(_arguments.path("path", path), manifest, n))

    @classmethod
    def import_heir(
        cls,
        path: str | os.PathLike[str],
        *,
        n: int | None = None,
        arguments: Mapping[str, Any] | None = None,
    ) -> RingProgram:
        """Reads a program of HEIR: the output of `heir-opt --mlir-to-ckks` in the generic form. `arguments` has the
        numbers of clear arguments, such as weights; plaintexts that depend on others are inputs of the program. An `n`
        below that of the file is for tests. Warns of plaintexts that are inputs, and of summands whose scales differ."""
        arguments = _arguments.mapping("arguments", {} if arguments is None else arguments)
        numbers = {name: _arguments.numbers(name, values) for name, values in arguments.items()}
        path, n = _arguments.path("path", path), _arguments.whole_or_none("n", n)
        program, given, worst_sum = _rpu.RingProgram.import_heir(path, n, numbers)
        if given:
            plaintexts = "plaintext is an input" if len(given) == 1 else "plaintexts are inputs"
            message = f"{len(given)} {plaintexts}, since the file does not have their numbers, such as `{given[0]}`"
            warnings.warn(message, stacklevel=2)
        _warn_of_scales(worst_sum)
        return cls(program)

    @classmethod
    def import_orion(cls, path: str | os.PathLike[str]) -> RingProgram:
        """Reads a network of Orion: what its compiler writes in version 2, for the standard ring. Its input is `input`, its
        output `output`. Warns of summands whose scales differ."""
        program, worst_sum = _rpu.RingProgram.import_orion(_arguments.path("path", path))
        _warn_of_scales(worst_sum)
        return cls(program)

    @property
    def title(self) -> str:
        """What the program computes, with its parameters."""
        return self._program.title

    @property
    def summary(self) -> str:
        """Transforms, key switches and keys by stage; empty for a program from a file."""
        return self._program.summary

    @property
    def n(self) -> int:
        """The ring degree."""
        return self._program.n

    @property
    def text(self) -> str:
        """The program as `.fhetch` text."""
        return self._program.text

    @property
    def inputs(self) -> dict[str, list[int]]:
        """The modulus of each limb of each input; 0 if no operation reads it."""
        return dict(self._program.inputs)

    @property
    def outputs(self) -> dict[str, int]:
        """The number of limbs of each output."""
        return dict(self._program.outputs)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the text, and the manifest beside it: `P.manifest.json`."""
        path = Path(_arguments.path("path", path))
        if path.suffix != ".fhetch":
            raise ValueError(f"invalid file name `{path}` of a ring program: it must end in `.fhetch`")
        path.write_text(self.text, encoding="utf-8")
        path.with_suffix(".manifest.json").write_text(self._program.manifest, encoding="utf-8")

    def run(
        self,
        machine: MachineLike = None,
        *,
        inputs: Mapping[str, Iterable[Iterable[int]]] = {},
        keys: str = "streamed",
        optimise: str = "cycles",
        seed: int = 0,
        check: bool = False,
        execute: bool = True,
        page: str | os.PathLike[str] | None = None,
    ) -> RingRun:
        """Runs the program on a machine, in time and, unless `execute` is false, on data.

        An input is a sequence of limbs, such as an array of as many rows; those that are not given are drawn from `seed`.
        `keys` are `streamed`, `seeded` or `resident`; kernels `optimise` `cycles`, `energy` or `energy-delay`. With `check`,
        every output is compared with an executor on big integers: `CheckError` if one differs. `page` is a file for a page of the run.
        """
        if check and not execute:
            raise ValueError("a check needs execution")
        limbs = {name: _arguments.limbs(name, values) for name, values in _arguments.mapping("inputs", inputs).items()}
        seed, page = _arguments.whole("seed", seed), _arguments.path_or_none("page", page)
        return RingRun(self._program.run(_machine(machine), limbs, keys, optimise, seed, check, execute, page))

    def __len__(self) -> int:
        return self._program.operations

    def __repr__(self) -> str:
        return f"<RingProgram {self.title}: {len(self)} operations>"


def ring_program(name: str, set: str | os.PathLike[str], n: int | None = None, **options: Any) -> RingProgram:
    """Generates a ring program for a parameter set: a built-in name, or a TOML file. `ring_programs()` lists the names.

    The options are those of `rpu gen program`, such as `dataflow="ocs"` or `rotations=[1, 2]`; `n` replaces the set's
    degree.
    """
    given = [(option.replace("_", "-"), value) for option, value in _arguments.parameters(options)]
    set, n = _arguments.path("set", set), _arguments.whole_or_none("n", n)
    return RingProgram(_rpu.RingProgram.generate(name, set, n, given))


def ring_programs() -> dict[str, str]:
    """The programs that `ring_program` knows, with their definitions."""
    return dict(_rpu.ring_programs())


class RingRun(_Run):
    """The result of `RingProgram.run`."""

    @functools.cached_property
    def outputs(self) -> dict[str, list[list[int]]]:
        """The limbs of each output; empty without execution."""
        return self._run.outputs

    @property
    def power_w(self) -> float:
        """The energy by the time."""
        return self.report["power_w"]

    @property
    def stages(self) -> list[dict[str, Any]]:
        """Name, time, energy and bytes of each stage, in order; none if the document has no stages."""
        return self.report.get("stages", [])

    @property
    def binds(self) -> dict[str, float]:
        """The share of the time that each resource limits."""
        return self.report["binds"]

    def __repr__(self) -> str:
        checked = ", checked" if self.checked else ""
        return f"<RingRun {self.report['program']}: {self.time_us:.3f} us{checked}>"


def read_coefficients(path: str | os.PathLike[str]) -> list[int]:
    """Reads a file of coefficients: `.bin`, `.json` or `.npy`."""
    return _rpu.read_coefficients(_arguments.path("path", path))


class Sweep:
    """The results of a sweep in a folder: of `sweep`, or of the command line."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(_arguments.path("folder", folder))
        if not (self.folder / "results.csv").is_file():
            raise _rpu.RpuError(f"`{self.folder}` has no results: run the sweep, or merge its shards")

    @functools.cached_property
    def frame(self) -> pandas.DataFrame:
        """One row per point. The columns of `results.csv`."""
        import pandas

        # A key may look like a number.
        return pandas.read_csv(self.folder / "results.csv", dtype={"key": str})

    def arrow(self) -> pyarrow.Table:
        """The same as an Arrow table."""
        import pyarrow

        return pyarrow.Table.from_pandas(self.frame)

    def front(self, x: str | None = None, y: str | None = None, *, where: str | None = None) -> pandas.DataFrame:
        """The Pareto front of each task: the points that no other of the task beats, with those that are equal.

        Without arguments, it is the sweep's own: the rows with `pareto`, which keep the constraints of an exploration, each front
        from the smallest first objective on. With columns, it is the front of a chart of these, `where` a condition as of `plot`,
        from the smallest `x` on.
        """
        if x is None and y is None and where is None:
            places = _rpu.tasks(self.folder)
            own = self.frame[self.frame["pareto"].astype(bool)]

            def place(row: Any) -> tuple[int, float]:
                task, objective = places[own.at[row, "key"]]
                return task, own.at[row, objective]

            return own.loc[sorted(own.index, key=place)]
        given = {"x": x, "y": y, "where": where}
        keys = _rpu.front(self.folder, *(_arguments.text_or_none(name, value) for name, value in given.items()))
        rows = {key: row for row, key in self.frame["key"].items()}
        if not rows.keys() >= {*keys}:
            raise _rpu.RpuError(f"`{self.folder}` has points that `results.csv` lacks: run the sweep, or merge its shards")
        return self.frame.loc[[rows[key] for key in keys]]

    def plot(self, **arguments: Any) -> Chart:
        """A chart of these results; `plot` has the arguments."""
        return plot(self, **arguments)

    @property
    def page(self) -> Path:
        """The page with an interactive chart."""
        return self.folder / "report.html"

    @property
    def chart(self) -> str:
        """Area against latency as an SVG, or the first two objectives of an exploration; of the first task, if there are
        several."""
        # 512 comes before 1024.
        order = lambda path: [int(part) if part.isdigit() else part for part in re.split("([0-9]+)", path.stem)]
        charts = sorted(self.folder.glob("pareto*.svg"), key=order)
        if not charts or all(row["status"] != "ok" for row in self._rows()):
            raise _rpu.RpuError("no point of the sweep succeeded, so it has no chart")
        return charts[0].read_text(encoding="utf-8")

    def _repr_html_(self) -> str:
        return self.chart

    def _rows(self) -> Iterator[dict[str, str]]:
        """The rows of `frame`, without pandas, which is an extra."""
        with open(self.folder / "results.csv", newline="", encoding="utf-8") as file:
            yield from csv.DictReader(file)

    def __len__(self) -> int:
        return sum(1 for _ in self._rows())

    def __repr__(self) -> str:
        return f"<Sweep {self.folder}: {len(self)} points>"


def sweep(
    definition: str | os.PathLike[str] | Mapping[str, Any] | None = None,
    folder: str | os.PathLike[str] | None = None,
    *,
    set: Mapping[str, Value] = {},
    threads: int | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> Sweep:
    """Simulates the points of a sweep, and resumes one in the folder.

    `definition` is the path of a TOML file or its content as a dictionary, whose lists may be ranges or arrays; without it, the 28 machines of the paper's
    Fig. 4. Without `folder`, results live as long as the returned object. `set` changes keys of all points. `progress` is
    called with the number of points done and their total. An interruption leaves what is done in the folder.
    """
    text, name = (None, "sweep") if definition is None else _definition(definition)
    keys, threads, progress = _arguments.overrides(set), _threads(threads), _arguments.callback("progress", progress)
    return _results(folder, lambda path: _rpu.sweep(text, name, keys, path, threads, progress))


def explore(
    definition: str | os.PathLike[str] | Mapping[str, Any],
    folder: str | os.PathLike[str] | None = None,
    *,
    evaluations: int = 500,
    seed: int = 0,
    set: Mapping[str, Value] = {},
    threads: int | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> Sweep:
    """Searches a space of designs for its Pareto front, and goes on with a search in the folder.

    `definition` is a sweep's, whose axes are the decisions; its table `explore` has objectives and constraints. The result has the
    `evaluations` designs that were evaluated; `front()` of it is the front. The other arguments are those of `sweep`.
    """
    text, name = _definition(definition)
    keys, threads, progress = _arguments.overrides(set), _threads(threads), _arguments.callback("progress", progress)
    evaluations = _arguments.whole("evaluations", evaluations, 1, 10_000_000)
    seed = _arguments.whole("seed", seed)
    return _results(
        folder, lambda path: _rpu.explore(text, name, keys, path, evaluations, seed, threads, progress)
    )


def _threads(threads: int | None) -> int:
    """The number of threads; 0 for one for each core."""
    return _arguments.whole_or_none("threads", threads, 1, 1024) or 0


def _definition(definition: str | os.PathLike[str] | Mapping[str, Any]) -> tuple[str, str]:
    """The TOML text of a definition, and its name in errors."""
    if isinstance(definition, Mapping):
        return _arguments.toml_document(definition), "sweep"
    name = _arguments.path("definition", definition, "a dictionary or the path of a file")
    if Path(name).is_dir():
        raise _rpu.RpuError(f"`{name}` is a folder: `rpu.Sweep` reads the results in one")
    try:
        return Path(name).read_text(encoding="utf-8"), name
    except (OSError, UnicodeDecodeError) as error:
        raise _rpu.RpuError(f"cannot read `{name}`: {error}") from error


def _results(folder: str | os.PathLike[str] | None, work: Callable[[Path], int]) -> Sweep:
    """The results of work in the folder, or in one that lives as long as they. It returns the number of failures."""
    path = Path(tempfile.mkdtemp(prefix="rpu-") if folder is None else _arguments.path("folder", folder))
    try:
        failed = work(path)
        result = Sweep(path)
    except BaseException:
        if folder is None:
            shutil.rmtree(path, ignore_errors=True)
        raise
    if folder is None:
        weakref.finalize(result, shutil.rmtree, path, ignore_errors=True)
    if failed:
        first = result.frame["error"].dropna().iloc[0]
        raise _rpu.RpuError(f"{failed} of {len(result)} points failed; the first: {first}")
    return result


class Chart:
    """A chart of `plot`. A notebook shows it at the end of a cell."""

    def __init__(self, draw: Callable[..., bytes], results: Sequence[object]) -> None:
        self._draw = draw
        # A temporary folder lives as long as its sweep.
        self._results = results
        self.svg: str = draw("svg").decode()
        """The content of an SVG file."""

    @property
    def png(self) -> bytes:
        """The content of a PNG file."""
        return self._draw("png")

    def save(
        self,
        path: str | os.PathLike[str],
        *,
        width: str | None = None,
        font_size: float | None = None,
        title: bool = True,
        legend: Literal["outside", "inside", "none"] | None = None,
    ) -> None:
        """Writes a file that ends in `.svg`, `.png` or `.pdf`.

        With a `width` such as `8.5cm` or `3.3in`, the figure has this width on paper, and labels of `font_size` points, by
        default 8. A PDF has a width always, by default 17 cm. The legend of a scatter chart is `outside` by default.
        """
        path = Path(_arguments.path("path", path))
        if path.suffix not in (".svg", ".png", ".pdf"):
            raise ValueError(f"invalid file name `{path}` of a chart: it must end in `.svg`, `.png` or `.pdf`")
        path.write_bytes(self._draw(path.suffix[1:], width, font_size, title, legend))

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"<Chart: {len(self.svg)} characters of SVG>"


def plot(
    *results: Sweep | str | os.PathLike[str],
    form: str = "scatter",
    x: str | None = None,
    y: str | None = None,
    colour: str | None = None,
    label: str | None = None,
    facet: str | None = None,
    where: str | None = None,
    front: bool | None = None,
    marks: str | Sequence[str] = (),
    limits: str | Sequence[str] = (),
) -> Chart:
    """Draws any columns of sweeps and explorations: of their results, or of folders and tables with such.

    The arguments are those of `rpu plot`: `form` is `scatter`, `parallel` or `tornado`, `where` has conditions such as
    `area < 25 mm2`, and a mark is `LABEL: CONDITIONS`. Without `front`, fronts are drawn where less or more is better in both columns.
    An argument that has no effect on the form is an error.
    """
    folders = [result.folder if isinstance(result, Sweep) else _arguments.path("results", result) for result in results]
    if not folders:
        raise TypeError("`plot` needs results: a Sweep, a folder, or a table")
    given = {"x": x, "y": y, "colour": colour, "label": label, "facet": facet, "where": where}
    columns = [_arguments.text_or_none(name, value) for name, value in given.items()]
    lists = _arguments.texts("marks", marks), _arguments.texts("limits", limits)

    def draw(
        format: str,
        width: str | None = None,
        font_size: float | None = None,
        title: bool = True,
        legend: str | None = None,
    ) -> bytes:
        return bytes(_rpu.plot(folders, form, *columns, front, *lists, format, width, font_size, title, legend))

    return Chart(draw, results)
