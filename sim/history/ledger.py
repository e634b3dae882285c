"""Results of each job (such as start and end), in columns by rank that the engine fills."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterator, Mapping, Sequence
from math import isnan, nan
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray


class Ledger:
    """Results of each job so far, in columns by rank; nan for an event that has not happened."""

    def __init__(self, jobs: int) -> None:
        self.start: Column = array("d", [nan]) * jobs
        self.end: Column = array("d", [nan]) * jobs
        self.promised: Column = array("d", [nan]) * jobs
        self.ran: Column = array("d", [0]) * jobs
        """For each job: seconds for which it has run; a stay on processors counts only after it has ended"""
        self.backfilled: bytearray | EarlierColumn = bytearray(jobs)
        self.preemptions, self.migrations, self.interruptions = _zeros(jobs), _zeros(jobs), _zeros(jobs)

    def entry(self, rank: int) -> JobResults:
        return JobResults(
            self.start[rank], self.end[rank], self.promised[rank], self.ran[rank],
            self.backfilled[rank], self.preemptions[rank], self.migrations[rank], self.interruptions[rank],
        )  # fmt: skip

    def told(self, waiting: array[int]) -> list[int]:
        """Return the ranks of those waiting jobs that have results already, for example an earlier run that was
        interrupted, or a promised start.
        """
        ranks = np.array(waiting)
        is_told = np.zeros(len(ranks), np.bool_)
        for name, nothing in zip(JobResults._fields, _NOTHING, strict=True):
            column = getattr(self, name)
            values = column.at(waiting) if isinstance(column, EarlierColumn) else _values(column)[ranks]
            is_told |= ~np.isnan(values) if isnan(nothing) else values != nothing
        told: list[int] = ranks[is_told].tolist()
        return told

    def as_of(
        self, submitted: int, unfinished: Sequence[int], entries: Mapping[int, JobResults], *, is_copied: bool = True
    ) -> Ledger:
        """Return the results at an earlier time, when only the first `submitted` jobs had arrived.

        `unfinished` are the ranks of the arrived jobs that had not finished then; `entries` is a mapping from such a
        rank to the job's results at that time. Results of finished jobs do not change, so they are taken from this
        object. Without `is_copied` they are looked up here when they are read: that takes no time and no memory for
        each job of the trace, but a compiled loop cannot write into such columns.
        """
        ledger, afresh = Ledger(0), frozenset(unfinished)
        for name, nothing in zip(JobResults._fields, _NOTHING, strict=True):
            own = {rank: getattr(entry, name) for rank, entry in entries.items()}
            column = EarlierColumn(getattr(self, name), submitted, nothing, afresh, own)
            setattr(ledger, name, column.copy() if is_copied else column)
        return ledger


class EarlierColumn:
    """Column of a ledger at an earlier time: it reads the results of finished jobs from the column of a later time, and
    keeps what is written to it.
    """

    def __init__(
        self, later: Column | bytearray, submitted: int, nothing: Any, afresh: Collection[int], own: dict[int, Any]
    ) -> None:
        self._later, self._submitted, self._nothing = later, submitted, nothing
        self._afresh, self._own = afresh, own

    def __getitem__(self, rank: int) -> Any:
        if rank in self._own:
            return self._own[rank]
        return self._nothing if rank >= self._submitted or rank in self._afresh else self._later[rank]

    def __setitem__(self, rank: int, value: Any) -> None:
        self._own[rank] = value

    def __len__(self) -> int:
        return len(self._later)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.copy())

    def at(self, ranks: array[int]) -> NDArray[Any]:
        return np.array([self[rank] for rank in ranks])

    def copy(self) -> array[Any] | bytearray | memoryview[Any]:
        later = self._later
        if isinstance(later, EarlierColumn):
            column = later.copy()
        else:
            column = np.array(later).data if isinstance(later, memoryview) else later[:]
        values = _values(column)
        values[self._submitted :] = self._nothing
        values[list(self._afresh)] = self._nothing
        for rank, value in self._own.items():
            column[rank] = value
        return column


Column: TypeAlias = "array[Any] | memoryview[Any] | EarlierColumn"
"""Results of one kind: a value for each job, by rank"""


class JobResults(NamedTuple):
    """Results of one job."""

    start: float
    end: float
    promised: float
    ran: float
    backfilled: int
    preemptions: int
    migrations: int
    interruptions: int


_NOTHING: tuple[Any, ...] = JobResults(nan, nan, nan, 0, 0, 0, 0, 0)


def _values(column: array[Any] | bytearray | memoryview[Any]) -> Any:
    return np.asarray(column)


def _zeros(jobs: int) -> Column:
    """Return a column of whole numbers, all 0, which takes memory only where something else is written."""
    return np.zeros(jobs, np.int32).data
