"""Jobs of a run, and a typical week of its machine, stored on request (`sweep --keep jobs`) for distributions."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from typing import NamedTuple

import numpy as np

from sim.engine.schedule import Schedule
from sim.metrics.aggregates import over_time
from sim.metrics.catalogue import SPREADS, Unit
from sim.metrics.finished_jobs import FinishedJobs
from sim.metrics.groups import GroupRow
from sim.support.errors import ParameterError, near
from sim.support.formatting import quoted
from sim.workload.categories import TAU
from sim.workload.model import Floats, Header, Ints

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


# A typical week of the machine, in its time zone

HOURS = 168
"""Number of hours in a week; hour 0 is Monday from 00:00 to 01:00."""
WEEKLY = {"utilization": "utilization", "queue": "queue (jobs)", "wanted": "processors wanted"}
"""For each quantity whose averages over a week are computed, by the name of its field in `OverTime`: its title."""
_HOUR = 3600
_THURSDAY = 3 * 24
"""Hour of the week at which Unix time begins (Thursday 00:00)."""
_MOST = 400_000
"""Largest number of hours of a schedule that are averaged, about 45 years; later hours are left out."""


def hours_of_week(header: Header, times: Floats) -> Ints:
    """Return the hour of the week, from 0 to 167; without a date in the header, time 0 is Monday 00:00.

    >>> hours_of_week(Header(unix_start=0), np.array([0.0, 3600.0, 4 * 86400.0])).tolist()
    [72, 73, 0]
    >>> hours_of_week(Header(), np.array([0.0, 90000.0])).tolist()
    [0, 25]
    """
    if header.unix_start is None:
        return np.floor(times / _HOUR).astype(np.int64) % HOURS
    zone = header.clock[1]
    stamps = np.floor((times + header.unix_start) / _HOUR).astype(np.int64)
    known, place = np.unique(stamps, return_inverse=True)
    shifts = [_shift(stamp, zone) for stamp in known.tolist()]
    local = known + np.floor(np.array(shifts) / _HOUR).astype(np.int64) if len(known) else known
    hours: Ints = ((local + _THURSDAY) % HOURS)[place]
    return hours


def _shift(hour: int, zone: tzinfo) -> float:
    """Return the seconds by which the zone is ahead of UTC at this hour since 1970; 0 out of Python's dates."""
    try:
        offset = datetime.fromtimestamp(hour * _HOUR, UTC).astimezone(zone).utcoffset()
    except (OverflowError, ValueError, OSError):
        return 0.0
    return offset.total_seconds() if offset is not None else 0.0


def week(schedule: Schedule) -> dict[str, Floats]:
    """Return each quantity in `WEEKLY` by hour of the week, nan for absent hours; empty for an empty schedule."""
    time = schedule.curves.time
    if not len(time):
        return {}
    begin, finish = np.floor(time[0] / _HOUR) * _HOUR, np.ceil(time[-1] / _HOUR) * _HOUR
    buckets = int(min((finish - begin) // _HOUR, _MOST))
    if buckets < 1:
        return {}
    found = over_time(schedule, buckets, begin, begin + buckets * _HOUR)
    hours = hours_of_week(schedule.workload.header, np.array(found.edges[:-1]))
    return {name: mean_by_hour(hours, np.array(getattr(found, name))) for name in WEEKLY}


def mean_by_hour(hours: Ints, values: Floats) -> Floats:
    counts = np.bincount(hours, minlength=HOURS)
    sums = np.bincount(hours, weights=values, minlength=HOURS)
    means: Floats = np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)
    return means
