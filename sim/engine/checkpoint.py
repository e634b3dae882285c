"""A copy of everything that can change in a simulation, but for its past: what a run can be taken up from again.

Finished jobs are not copied: what a ledger says of them does not change any more, so a later ledger of the same run is
as good. The live state of a run is a few hundred jobs, and a queue is kept as the ranks of those who wait.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from dataclasses import dataclass
from sys import getsizeof
from typing import Any

from sim.history.ledger import Entry, Ledger

_PER_ITEM = 72
"""About how many bytes an item of a container takes beside its place in it: numbers, tuples, runs."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The live state after one step. Nothing in it is shared with an engine, and it is never changed."""

    step: int
    """How many steps had been made."""
    time: float
    state: Mapping[str, Any]
    """The engine's attributes by name."""
    waiting: array[int]
    """The ranks of the jobs that wait."""
    submitted: int
    unfinished: tuple[int, ...]
    """The ranks of the jobs that are under way or suspended."""
    entries: Mapping[int, Entry]
    """What the ledger says of the jobs that have not finished, where it says anything."""

    def ledger(self, later: Ledger) -> Ledger:
        """The ledger as it was, from that of a later moment of the same run."""
        return later.as_of(self.submitted, [*self.waiting, *self.unfinished], self.entries)

    @property
    def size(self) -> int:
        """About how many bytes it takes."""
        return sum(map(_size, self.state.values())) + _size(self.waiting) + 2 * _size(self.entries)


def copied(value: Any) -> Any:
    """The same value, sharing nothing that can change.

    >>> notes = {"bound": {1: 5.0}}
    >>> twin = copied(notes)
    >>> notes["bound"][1] = 6.0
    >>> twin
    {'bound': {1: 5.0}}
    """
    if isinstance(value, dict):
        if any(hasattr(item, "copy") for item in value.values()):
            return {key: copied(item) for key, item in value.items()}
        return value.copy()
    return value.copy() if hasattr(value, "copy") else value


def _size(value: Any) -> int:
    if isinstance(value, array):
        return getsizeof(value)
    if isinstance(value, dict) and any(isinstance(item, dict) for item in value.values()):
        return getsizeof(value) + sum(map(_size, value.values()))
    if isinstance(value, dict | list | set | tuple):
        return getsizeof(value) + _PER_ITEM * len(value)
    names = getattr(type(value), "__slots__", ())
    return getsizeof(value) + sum(_size(getattr(value, name)) for name in names if hasattr(value, name))
