"""Arguments of the public functions, as the extension takes them. An error names the argument and says what it should be."""

from __future__ import annotations

import json
import operator
import os
import re
import reprlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any


def _plain(value: Any) -> Any:
    """The lists of arrays, and the numbers of NumPy's numbers."""
    return value.tolist() if hasattr(value, "tolist") else value


def _wrong(name: str, value: Any, expected: str) -> TypeError:
    return TypeError(f"`{name}` is {reprlib.repr(value)}: expected {expected}")


def _index(value: Any) -> int | None:
    """A whole number; `None` if it is none."""
    try:
        return operator.index(_plain(value))
    except TypeError:
        return None


def whole(name: str, value: Any, least: int = 0, most: int = 2**64 - 1) -> int:
    """A whole number in a range."""
    number = _index(value)
    if number is None:
        raise _wrong(name, value, "a whole number")
    if not least <= number <= most:
        raise ValueError(f"invalid value `{number}` of `{name}`: expected a whole number from {least} to {most}")
    return number


def whole_or_none(name: str, value: Any, least: int = 0, most: int = 2**64 - 1) -> int | None:
    """A whole number in a range, if there is one."""
    return None if value is None else whole(name, value, least, most)


def signed(name: str, value: Any) -> int:
    """A whole number of either sign."""
    return whole(name, value, -(2**63), 2**63 - 1)


def number(name: str, value: Any) -> float:
    """A number."""
    try:
        return float(value)
    except (TypeError, ValueError):
        raise _wrong(name, value, "a number") from None


def numbers(name: str, values: Any) -> list[float]:
    """The numbers of an array, or of lists in lists, in the order of rows."""
    values = _plain(values)
    if isinstance(values, Iterable) and not isinstance(values, (str, bytes, Mapping)):
        return [number for row in values for number in numbers(name, row)]
    return [number(name, values)]


def sequence(name: str, values: Any, of: str) -> list[Any]:
    """What a sequence or an array has. Rows of an array are lists."""
    values = _plain(values)
    if isinstance(values, (str, bytes, Mapping)) or not isinstance(values, Iterable):
        raise _wrong(name, values, f"a sequence of {of}")
    return [*map(_plain, values)]


def mapping(name: str, value: Any) -> Mapping[Any, Any]:
    """A dictionary."""
    if not isinstance(value, Mapping):
        raise _wrong(name, value, "a dictionary")
    return value


def callback(name: str, value: Any) -> Any:
    """A function, if there is one."""
    if value is not None and not callable(value):
        raise _wrong(name, value, "a function")
    return value


def text_or_none(name: str, value: Any) -> str | None:
    """A text, if there is one."""
    if not (value is None or isinstance(value, str)):
        raise _wrong(name, value, "a text")
    return value


def path(name: str, value: Any, expected: str = "a text or a path") -> str:
    """A path, or a name in its place."""
    found = os.fspath(value) if isinstance(value, os.PathLike) else value
    if not isinstance(found, str):
        raise _wrong(name, value, expected)
    return found


def path_or_none(name: str, value: Any) -> str | None:
    """A path, if there is one."""
    return None if value is None else path(name, value)


def texts(name: str, values: Any) -> list[str]:
    """A text, or several."""
    found = [values] if isinstance(values, str) else sequence(name, values, "texts")
    for text in found:
        if not isinstance(text, str):
            raise _wrong(name, values, "a text or a sequence of texts")
    return found


def parameters(given: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Parameters as the command line takes them, without those that are `None`."""
    return [(name, _parameter(name, value)) for name, value in given.items() if value is not None]


def _parameter(name: str, value: Any) -> str:
    value = _plain(value)
    if isinstance(value, (str, os.PathLike)):
        return path(name, value)
    several = isinstance(value, Iterable) and not isinstance(value, (bytes, Mapping))
    parts = [part if isinstance(part, str) else _index(part) for part in (value if several else [value])]
    if None in parts:
        raise _wrong(name, value, "a whole number, a text, or a sequence of these")
    return ",".join(map(str, parts))


def overrides(keys: Mapping[str, Any]) -> list[str]:
    """Keys as the command line takes them."""
    return [f"{key}={_override(key, value)}" for key, value in mapping("set", keys).items()]


def _override(key: str, value: Any) -> str:
    value = _plain(value)
    if isinstance(value, bool):
        return str(value).lower()
    if not isinstance(value, (int, float, str)):
        raise _wrong(key, value, "a number, a truth value or a text")
    return str(value)


def limbs(name: str, values: Any) -> list[list[int]]:
    """The limbs of an input of a ring program."""
    return [words(name, limb) for limb in sequence(f"inputs[{name!r}]", values, "limbs")]


def words(name: str, values: Any) -> list[int]:
    """The coefficients of an input."""
    found = sequence(f"inputs[{name!r}]", values, "whole numbers")
    if all(type(word) is int and 0 <= word < 1 << 128 for word in found):
        # The usual ones, which may be millions.
        return found
    return [_word(f"coefficient {place} of input `{name}`", word) for place, word in enumerate(found)]


def _word(name: str, word: Any) -> int:
    """A coefficient; a pair is its low and its high half."""
    halves = word if isinstance(word, (list, tuple)) else [word]
    parts = [_index(half) for half in halves]
    if len(parts) not in (1, 2) or None in parts:
        raise TypeError(f"{name} is {reprlib.repr(word)}, not an integer or a pair of its low and its high half")
    bits = 128 if len(parts) == 1 else 64
    for part in parts:
        if not 0 <= part < 1 << bits:
            raise OverflowError(f"{name} is {word}; {'they' if bits == 128 else 'halves'} are 0 to 2^{bits} - 1")
    return sum(part << 64 * place for place, part in enumerate(parts))


def toml_document(definition: Mapping[str, Any]) -> str:
    """A sweep's definition as TOML, with its keys in their order: the order of the axes is the order of the points."""
    pairs = lambda table: [f"{_toml_key(key)} = {_toml(key, value)}" for key, value in table.items()]
    lines = pairs({key: value for key, value in definition.items() if not isinstance(value, Mapping)})
    for key, value in definition.items():
        if isinstance(value, Mapping):
            lines += ["", f"[{_toml_key(key)}]", *pairs(value)]
    return "\n".join(lines) + "\n"


def _toml(name: Any, value: Any) -> str:
    """A value of a key. Ranges, and arrays and numbers of NumPy, are lists and numbers."""
    value = _plain(value)
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    # An integer of TOML has 64 bits. Longer numbers are texts.
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        value = str(value)
    if isinstance(value, str):
        return _toml_text(value)
    if isinstance(value, int):
        return json.dumps(value)
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_toml_key(key)} = {_toml(key, value)}" for key, value in value.items()) + " }"
    if isinstance(value, Sequence) and not isinstance(value, bytes):
        return "[" + ", ".join(_toml(name, value) for value in value) + "]"
    raise TypeError(f"the definition has a {type(value).__name__} in `{name}`; it may have lists, numbers and texts")


def _toml_text(text: str) -> str:
    # JSON escapes all that TOML does not allow, but this one.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _toml_key(key: Any) -> str:
    """A key, such as `hple.count`."""
    text = str(key)
    return text if re.fullmatch(r"[\w-]+(\.[\w-]+)*", text, re.ASCII) else _toml_text(text)
