"""Columns of the fast loop: made of arrays, filled with values of the engine, and read by it.

A column is a NumPy array; the annotations of the loop call it a list.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sim.machine.columns import Numbers, Times, Words


def times(values: NDArray[Any]) -> Times:
    """Return the values as a column of floating-point numbers, copied if the array has another type or is read-only."""
    column: Times = _writable(values, np.float64)
    return column


def numbers(values: NDArray[Any]) -> Numbers:
    """Return the values as a column of 32-bit whole numbers, copied if the array has another type or is read-only."""
    column: Numbers = _writable(values, np.int32)
    return column


def words(values: NDArray[Any]) -> Words:
    """Return the values as a column of 64-bit words, copied if the array has another type or is read-only."""
    column: Words = _writable(values, np.uint64)
    return column


def _writable(values: NDArray[Any], kind: type) -> Any:
    return values.astype(kind, copy=not values.flags.writeable)  # the loop writes into its columns


def fill(column: Any, values: list[Any]) -> None:
    """Copy the values to the beginning of a column."""
    for index, value in enumerate(values):
        column[index] = value


def values_of(column: Any, count: int) -> list[Any]:
    """Return the first `count` values of a column."""
    found: list[Any] = np.asarray(column)[:count].tolist()
    return found
