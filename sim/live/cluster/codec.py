"""Conversion of the state of a cluster (objects of `sim.live.cluster.values`) to plain data for a recording, and back.
Data read from a file is checked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, fields
from math import isfinite
from typing import Any, TypeVar

from sim.live.cluster.values import ClusterJob, Cores, Limit, Node, Partition, Reservation, Share

T = TypeVar("T", ClusterJob, Limit, Node, Partition, Reservation)
Plain = dict[str, Any]
LONGEST = 100_000
"""Largest length of a text in characters, and of a list in items, that is accepted from a file."""
LARGEST = 1 << 62


class DamagedError(ValueError):
    """Error for data in a file that cannot be converted to a value of a cluster."""


def encode(value: T) -> Plain:
    shown = ((field.name, getattr(value, field.name), default_of(field)) for field in _fields(type(value)))
    return {name: _plain(found) for name, found, default in shown if found != default}


def changed(before: T, after: T) -> Plain:
    pairs = ((f.name, getattr(before, f.name), getattr(after, f.name)) for f in _fields(type(after)))
    return {name: _plain(now) for name, was, now in pairs if was != now}


def decode(cls: type[T], data: object) -> T:
    """Return the object of `cls` made from plain data; `DamagedError` if a field is missing or has a wrong type."""
    if not isinstance(data, dict):
        raise DamagedError(f"a {cls.__name__} should be an object")
    readers = _READERS[cls.__name__]
    found = {name: readers[name](data[name]) for name in readers if name in data}
    try:
        return cls(**found)
    except TypeError as error:
        raise DamagedError(str(error)) from None


def default_of(field: Field[Any]) -> Any:
    return None if field.default is MISSING else field.default


def _fields(cls: Any) -> tuple[Field[Any], ...]:
    return fields(cls)


def _plain(value: Any) -> Any:
    if isinstance(value, frozenset):
        return sorted(value)
    if isinstance(value, tuple):
        return [[each.node, f"{each.mask:x}"] if isinstance(each, Cores) else each for each in value]
    return value


def text(value: Any) -> str:
    if not isinstance(value, str) or len(value) > LONGEST:
        raise DamagedError("a text was expected")
    return value


def number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value) or abs(value) > LARGEST:
        raise DamagedError("a number was expected")
    return value


def whole(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or abs(value) > LARGEST:
        raise DamagedError("a whole number was expected")
    return value


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise DamagedError("true or false was expected")
    return value


def _optional(read: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda value: None if value is None else read(value)


def texts(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or len(value) > LONGEST:
        raise DamagedError("a list was expected")
    return tuple(map(text, value))


def _cores(value: Any) -> tuple[Cores, ...]:
    if not isinstance(value, list) or len(value) > LONGEST:
        raise DamagedError("a list of cores was expected")
    try:
        return tuple(Cores(text(node), int(text(mask)[:1024], 16)) for node, mask in value)
    except (ValueError, TypeError):
        raise DamagedError("a node and its cores were expected") from None


_BY_TYPE: Mapping[str, Callable[[Any], Any]] = {
    "str": text,
    "int": whole,
    "float": number,
    "bool": _flag,
    "int | None": _optional(whole),
    "float | None": _optional(number),
    "tuple[str, ...]": texts,
    "frozenset[str]": lambda value: frozenset(texts(value)),
    "tuple[Cores, ...]": _cores,
}
"""Mapping from the type of a field, as text, to the function that checks a value of the field and converts it."""


_READERS: dict[str, dict[str, Callable[[Any], Any]]] = {
    cls.__name__: {field.name: _BY_TYPE[str(field.type)] for field in fields(cls)}
    for cls in (ClusterJob, Limit, Node, Partition, Reservation, Share)
}
