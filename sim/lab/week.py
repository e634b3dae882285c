"""Typical week of a machine: averages for each hour of the week, in the machine's time zone."""

from __future__ import annotations

from datetime import UTC, datetime, tzinfo

import numpy as np

from sim.engine.schedule import Schedule
from sim.metrics.aggregates import over_time
from sim.workload.model import Floats, Header, Ints

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
