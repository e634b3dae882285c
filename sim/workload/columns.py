"""Columns (an entry for each job) for millions of jobs in little memory: ids as numbers, 32 bits if possible."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, TypeAlias, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
_Value = TypeVar("_Value", bound=Hashable)
_HALF = np.iinfo(np.int32)
_AT_ONCE = 4096
"""Number of ids that an iteration converts to text at once."""


class NumberIds(Sequence[str]):
    """Sequence of ids that are whole numbers without leading zeros, each stored in 4 or 8 bytes; it equals a tuple of
    the same ids as text.

    >>> ids = NumberIds(np.array([7, 12, 9]))
    >>> ids[1], ids[:2], ids.index("9"), "x" in ids, ids == ("7", "12", "9")
    ('12', ('7', '12'), 2, False, True)
    """

    __slots__ = ("numbers",)

    def __init__(self, numbers: NDArray[Any]) -> None:
        self.numbers = narrow(numbers)

    @classmethod
    def up_to(cls, count: int) -> NumberIds:
        return cls(np.arange(1, count + 1))

    def __len__(self) -> int:
        return len(self.numbers)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[str, ...]: ...
    def __getitem__(self, index: int | slice) -> str | tuple[str, ...]:
        found = self.numbers[index]
        return tuple(map(str, found.tolist())) if isinstance(index, slice) else str(found)

    def __iter__(self) -> Iterator[str]:
        for first in range(0, len(self), _AT_ONCE):
            yield from self[first : first + _AT_ONCE]

    def __contains__(self, word: object) -> bool:
        return isinstance(word, str) and len(self._indices_of(word)) > 0

    def index(self, word: str, start: int = 0, stop: int | None = None) -> int:
        for place in self._indices_of(word).tolist():
            if place in range(*slice(start, stop).indices(len(self))):
                return int(place)
        raise ValueError(f"{word!r} is not in the ids")

    def _indices_of(self, word: str) -> Ints:
        number = int(word) if word.isdecimal() and len(word) < 19 else -1
        return np.flatnonzero(self.numbers == number) if str(number) == word else np.empty(0, np.int64)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, NumberIds):
            return np.array_equal(self.numbers, other.numbers)
        return isinstance(other, tuple) and tuple(self) == other

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return f"NumberIds({self.numbers!r})"


def joined(parts: Sequence[Sequence[str] | NDArray[Any]]) -> Sequence[str]:
    """Return the ids of all parts as one sequence; each part is a list of texts or an array of numbers above 0."""
    if all(isinstance(part, np.ndarray) for part in parts):
        return NumberIds(np.concatenate([*parts] or [np.empty(0, np.int64)]))
    return tuple(chain.from_iterable(map(str, part) for part in parts))


def halved(rows: NDArray[Any]) -> NDArray[Any]:
    """Return the rows with 32 bits for each number if that loses nothing, otherwise unchanged."""
    if abs(rows).max(initial=0) > _HALF.max:
        return rows
    half = rows.astype(np.int32)
    return half if (half == rows).all() else rows


def in_one(pieces: list[NDArray[Any]]) -> Floats:
    """Return the rows of all pieces as one table, stored by columns; empty `pieces` meanwhile to save memory."""
    end = sum(map(len, pieces))
    table = np.empty((end, pieces[0].shape[1] if pieces else 0), order="F")
    while pieces:
        piece = pieces.pop()
        table[end - len(piece) : end] = piece
        end -= len(piece)
    return table


def chosen(ids: Sequence[str], ranks: Ints) -> Sequence[str]:
    if isinstance(ids, NumberIds):
        return NumberIds(ids.numbers[ranks])
    return ids if np.array_equal(ranks, np.arange(len(ids))) else tuple(ids[rank] for rank in ranks.tolist())


def narrow(column: NDArray[Any]) -> Ints:
    """Return whole numbers in 32 bits if all fit, else in 64, as the annotation says in both cases."""
    fits = not len(column) or (_HALF.min <= column.min() and column.max() <= _HALF.max)
    found: Ints = column.astype(np.int32 if fits else np.int64)
    return found


def compact(column: NDArray[Any]) -> Any:
    """Return the column or, if all its values are equal, a view that repeats the value and takes no memory."""
    if not len(column) or (column != column[0]).any():
        return column
    return np.broadcast_to(column[0], len(column))


def missing(count: int) -> Floats:
    """Return a column of `count` values, all nan, which takes no memory."""
    return np.broadcast_to(np.float64(np.nan), count)


def values_of(column: NDArray[Any], ranks: Ints) -> Any:
    """Return the values of these jobs, as a view of one value if the column is one (see `compact`)."""
    return np.broadcast_to(column[0], len(ranks)) if len(column) and column.strides == (0,) else column[ranks]


def numbered(values: Iterable[_Value]) -> tuple[tuple[_Value, ...], NDArray[np.int32]]:
    """Return (the different values, an array with the index of each value among them).

    >>> numbered("abca")
    (('a', 'b', 'c'), array([0, 1, 2, 0], dtype=int32))
    """
    known: dict[_Value, int] = {}
    numbers = [known.setdefault(value, len(known)) for value in values]
    return tuple(known), np.array(numbers, np.int32)
