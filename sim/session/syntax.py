"""Syntax of a session file: tables of `key = value` lines, whose values are numbers, words in quotes, true or false.

    schedscope session 1

    [trace]
    sample = "lublin-128"

Values are written as in JSON. The line of every value is kept, so that an error message can name the line.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from math import isfinite
from typing import Any, NoReturn, TypeAlias, TypeVar

from sim.support.errors import FileError, SchedscopeError
from sim.support.files import TextKind

FORMAT = "schedscope session 1"
MAX_BYTES = 2**20
Value: TypeAlias = str | int | float | bool
T = TypeVar("T")

_HEADER = re.compile(r"\[(\w+)\]", re.ASCII)
_KEY = re.compile(r"[\w.-]+", re.ASCII)
_WORDS: dict[type, str] = {
    str: "words in quotes", int: "a whole number of 0 or more", float: "a number", bool: "true or false",
    list: "a list of words in quotes",
}  # fmt: skip


class SessionError(FileError):
    """Error for a session file that cannot be read or written."""


SESSION = TextKind("session", MAX_BYTES, SessionError)


class SessionTable:
    """Table of a session while it is read. Values are checked when they are read; keys never read give warnings."""

    def __init__(self, name: str, path: object, line: int) -> None:
        self.name, self.path, self.line = name, path, line
        self._values: dict[str, tuple[Any, int]] = {}

    def __contains__(self, key: str) -> bool:
        return key in self._values

    def add(self, key: str, value: Any, line: int) -> None:
        if key in self._values:
            raise SessionError(f"{key}: stands twice in [{self.name}]; keep one of them", self.path, line)
        self._values[key] = value, line

    def take(self, key: str, kind: type[T], default: T | None = None) -> T:
        """Return the value of a key, which must have the type `kind`. Without a default, a missing key is an error."""
        if key not in self._values:
            if default is None:
                raise SessionError(f"[{self.name}] has no {key}; give it {_WORDS[kind]}", self.path, self.line)
            return default
        value, line = self._values.pop(key)
        if not _is_of_kind(value, kind):
            raise SessionError(f"{key}: expected {_WORDS[kind]}, got {shortened(value)}", self.path, line)
        return value  # type: ignore[no-any-return]

    def take_as(self, key: str, made_of: Callable[[str], object], default: str | None = None) -> str:
        """Return the text under a key, or `default`, after `made_of` has checked it; errors have the key's line."""
        line = self._values[key][1] if key in self._values else self.line
        words = self.take(key, str, default)
        try:
            made_of(words)
        except SchedscopeError as error:
            raise SessionError(f"{key}: {error}", self.path, line) from None
        return words

    def take_all(self) -> dict[str, Value]:
        for key, (value, line) in self._values.items():
            if isinstance(value, list):
                raise SessionError(f"{key}: expected one value, got a list", self.path, line)
        values = {key: value for key, (value, _) in self._values.items()}
        self._values.clear()
        return values

    def fail(self, what: str) -> NoReturn:
        raise SessionError(what, self.path, self.line)

    def left(self) -> Iterator[str]:
        for key, (_, line) in self._values.items():
            yield f"{self.path}:{line}: {key}: not known in [{self.name}], left out"


def parse(data: bytes, path: object) -> list[SessionTable]:
    content = _content(SESSION.text(data, path))
    _check_format(next(content, (1, "")), path)
    tables: list[SessionTable] = []
    for number, line in content:
        if header := _HEADER.fullmatch(line):
            tables.append(SessionTable(header[1], path, number))
        elif not tables:
            raise SessionError("expected a table such as [trace]", path, number)
        else:
            tables[-1].add(*_pair(line, path, number), number)
    return tables


def _content(text: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(text.split("\n"), 1):
        if (bare := line.strip()) and not bare.startswith("#"):
            yield number, bare


def _check_format(first: tuple[int, str], path: object) -> None:
    number, line = first
    if line == FORMAT:
        return
    if version := re.fullmatch(r"schedscope session (\d{1,9})", line):
        what = f"is a session of version {version[1]}, this program reads version 1; use a newer schedscope"
    else:
        what = f"is no session; the first line of one is: {FORMAT}"
    raise SessionError(what, path, number)


def _pair(line: str, path: object, number: int) -> tuple[str, Any]:
    try:
        key, rest = _key(line)
        value = json.loads(rest, parse_constant=_refuse)
    except (ValueError, RecursionError):
        raise SessionError(
            f'expected key = value, words in quotes like "easy", got {shortened(line)}', path, number
        ) from None
    if not (_is_of_kind(value, list) or _is_of_kind(value, str) or _is_of_kind(value, float) or isinstance(value, int)):
        raise SessionError(f"{key}: expected a number, words in quotes or true, got {shortened(value)}", path, number)
    return key, value


def _key(line: str) -> tuple[str, str]:
    if line.startswith('"'):
        key, end = json.JSONDecoder().raw_decode(line)
    else:
        found = _KEY.match(line)
        key, end = (found[0], found.end()) if found else ("", 0)
    sign, equals, rest = line[end:].partition("=")
    if not end or sign.strip() or not equals:
        raise ValueError(line)
    return key, rest


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)


def _is_of_kind(value: object, kind: type) -> bool:
    if kind is list:
        return isinstance(value, list) and all(isinstance(word, str) for word in value)
    if kind is float:
        return type(value) in (int, float) and _is_finite(value)
    return type(value) is kind and (kind is not int or value >= 0)  # type: ignore[operator]


def _is_finite(number: Any) -> bool:
    try:
        return isfinite(number)
    except OverflowError:  # an int that no float can hold
        return False


def shortened(value: object) -> str:
    told = ascii(value)
    return told if len(told) <= 40 else f"{told[:37]}...{told[-1]}"


# Writing


def write_table(name: str, values: Mapping[str, Value | list[str] | None]) -> str:
    """Return the text of a table with these values; None and empty lists are left out.

    >>> print(write_table("run", {"policy": "easy", "partner": None, "step": 7}), end="")
    <BLANKLINE>
    [run]
    policy = "easy"
    step = 7
    """
    lines = [f"{_written_key(key)} = {_json_of(value)}\n" for key, value in values.items() if value not in (None, [])]
    return "".join(["\n", f"[{name}]\n", *lines])


def _written_key(key: str) -> str:
    return key if _KEY.fullmatch(key) else _json_of(key)


def _json_of(value: Value | list[str] | None) -> str:
    """Return the value as JSON, in which characters are escaped that a terminal would hide or obey."""
    told = json.dumps(value, ensure_ascii=False)
    return told if told.isprintable() else "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in told)
