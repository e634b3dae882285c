"""Jobs of a run, stored with its results as columns on request (`sweep --keep jobs`), for figures of distributions."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sim.lab.week import hours_of_week, week
from sim.metrics.catalogue import SPREADS, Unit
from sim.metrics.finished_jobs import FinishedJobs
from sim.metrics.groups import GroupRow
from sim.support.errors import ParameterError, near
from sim.support.formatting import quoted
from sim.workload.categories import TAU
from sim.workload.model import Floats

JOBS = "jobs"
"""Value of the option `--keep` with which a sweep stores the jobs of each run."""
COLUMNS = ("rank", "submit", "wait", "turnaround", "run", "estimate", "width", "hour")
"""Columns with an entry for each finished job, in seconds. Exceptions: `rank`, the processors (`width`), and the `hour`
of the week (0 to 167) of the submission.
"""
_GROUP, _WEEK = "group:", "week:"
_PART = 1_000_000
"""Largest number of values in one compressed piece of a column; a longer column is stored in several pieces."""
_FLOAT = np.dtype("<f8")

Pieces = Mapping[str, Sequence[bytes]]
"""Mapping from the name of a column to its compressed pieces."""


@dataclass(frozen=True, eq=False)
class Kept:
    """Finished jobs of one run as a results file stores them: a column for each quantity."""

    columns: Mapping[str, Floats]

    @property
    def size(self) -> int:
        return sum(values.nbytes for values in self.columns.values())

    def __len__(self) -> int:
        return len(self.columns["rank"])

    def quantity(self, name: str) -> Floats:
        """Return, for each job, the value of the quantity with this name, such as wait."""
        if name == "slowdown":
            return self.columns["turnaround"] / self.columns["run"]
        if name == "bounded_slowdown":
            idle = self.columns["turnaround"] - self.columns["run"]
            return 1 + idle / np.maximum(self.columns["run"], TAU)
        return self.columns[name]

    def group(self, name: str) -> Floats | None:
        """Return the number of each job's group in the grouping `name`, -1 for no group; None if it is not stored."""
        return self.columns.get(_GROUP + name)

    def week(self, name: str) -> Floats | None:
        """Return the average of a quantity of the machine in every hour of the week; None if it is not stored."""
        return self.columns.get(_WEEK + name)


class Quantity(NamedTuple):
    """Quantity: a number that every job has, such as its wait, with title and unit."""

    name: str
    title: str
    unit: Unit = "s"


QUANTITIES = {
    quantity.name: quantity
    for quantity in (
        *(Quantity(name, of.title, of.unit) for name, of in SPREADS.items()),
        Quantity("run", "run time"),
        Quantity("estimate", "estimate"),
        Quantity("width", "processors", "times"),
    )
}


def quantity(name: str) -> Quantity:
    """Return the quantity of this name, or of a metric computed from it, such as mean_wait.

    >>> quantity("mean_wait").title
    'wait'
    """
    short = name.replace("-", "_")
    for lead in ("mean_", "median_", "max_", "std_"):
        short = short.removeprefix(lead)
    if short not in QUANTITIES:
        raise ParameterError(f"no quantity of jobs {quoted(name)}{near(short, QUANTITIES)}")
    return QUANTITIES[short]


def packed(jobs: FinishedJobs, groups: Mapping[str, Sequence[GroupRow]]) -> dict[str, list[bytes]]:
    """Return the columns of finished jobs in compressed pieces, and one for each grouping with the jobs' groups."""
    columns: dict[str, Floats] = {
        "rank": jobs.ranks.astype(np.float64),
        "hour": hours_of_week(jobs.workload.header, jobs.submit).astype(np.float64),
        **{name: getattr(jobs, name) for name in COLUMNS if name not in ("rank", "hour")},
        **{_WEEK + name: values for name, values in week(jobs.schedule).items()},
    }
    for name, rows in groups.items():
        place = np.full(len(jobs), -1.0)
        for at, row in enumerate(rows):
            place[np.searchsorted(jobs.ranks, row.members)] = at
        columns[_GROUP + name] = place
    return {name: list(_compressed(values)) for name, values in columns.items()}


def _compressed(values: Floats) -> Iterable[bytes]:
    data = np.ascontiguousarray(values, dtype=_FLOAT)
    return [zlib.compress(data[at : at + _PART].tobytes(), 1) for at in range(0, max(len(data), 1), _PART)]


def unpacked(pieces: Pieces, most: int) -> Kept | None:
    """Return the finished jobs in compressed columns; None if damaged, incomplete, or above `most` bytes."""
    columns: dict[str, Floats] = {}
    try:
        for name, parts in pieces.items():
            opened = list[Floats]()
            for data in parts:
                opened.append(_piece(data))
                most -= opened[-1].nbytes
                if most < 0:
                    return None
            columns[name] = np.concatenate(opened)
    except (zlib.error, ValueError):
        return None
    of_jobs = [values for name, values in columns.items() if not name.startswith(_WEEK)]
    complete = all(name in columns for name in COLUMNS) and len({len(values) for values in of_jobs}) == 1
    return Kept(columns) if complete else None


def _piece(data: bytes) -> Floats:
    """Return the values in a compressed piece; raise `ValueError` if it has over `_PART` or is incomplete."""
    opened = zlib.decompressobj()
    content = opened.decompress(data, _PART * _FLOAT.itemsize)
    if not opened.eof:
        raise ValueError("a piece is too long, or cut off")
    return np.frombuffer(content, dtype=_FLOAT)
