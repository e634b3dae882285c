"""Results of each job (such as start and end), in columns by rank that the engine fills."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from math import isnan, nan
from typing import Any, NamedTuple

import numpy as np


class Ledger:
    """Results of each job so far, in columns by rank; nan for an event that has not happened."""

    __slots__ = ("backfilled", "end", "interruptions", "migrations", "preemptions", "promised", "ran", "start")

    def __init__(self, jobs: int) -> None:
        self.start = array("d", [nan]) * jobs
        self.end = array("d", [nan]) * jobs
        self.promised = array("d", [nan]) * jobs
        self.ran = array("d", [0]) * jobs
        """For each job: seconds for which it has run; a stay on processors counts only after it has ended"""
        self.backfilled = bytearray(jobs)
        self.preemptions = array("i", [0]) * jobs
        self.migrations = array("i", [0]) * jobs
        self.interruptions = array("i", [0]) * jobs

    def entry(self, rank: int) -> JobResults:
        """Return the results of one job."""
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
            values = self._values(name)[ranks]
            is_told |= ~np.isnan(values) if isnan(nothing) else values != nothing
        told: list[int] = ranks[is_told].tolist()
        return told

    def _values(self, name: str) -> Any:
        """Return the column with this name as a numpy array, which uses the same memory as the column."""
        column = getattr(self, name)
        return np.frombuffer(column, dtype=np.uint8 if name == "backfilled" else column.typecode)

    def as_of(self, submitted: int, unfinished: Sequence[int], entries: Mapping[int, JobResults]) -> Ledger:
        """Return the results at an earlier time, when only the first `submitted` jobs had arrived.

        `unfinished` are the ranks of the arrived jobs that had not finished then; `entries` is a mapping from such a
        rank to the job's results at that time. Results of finished jobs do not change, so they are taken from this
        object.
        """
        ledger, jobs = Ledger(0), len(self.start)
        afresh = np.array(unfinished, dtype=np.int64)
        for name, nothing in zip(JobResults._fields, _NOTHING, strict=True):
            column = getattr(self, name)[:]
            setattr(ledger, name, column)
            values = ledger._values(name)
            values[submitted:jobs] = nothing
            values[afresh] = nothing
            for rank, entry in entries.items():
                column[rank] = getattr(entry, name)
        return ledger


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


_NOTHING = JobResults(nan, nan, nan, 0, 0, 0, 0, 0)
