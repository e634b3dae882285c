"""Queries over stretches: in which step a job took a processor or left it, and in which step partitions changed.

Steps are counted from 1, as on the screen.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from math import inf
from typing import NamedTuple

import numpy as np

from sim.history.past import Past
from sim.history.stretch import CUT, GANG, INTERRUPTED, MOVED, QUEUED, SUSPENDING
from sim.history.times import NEVER
from sim.machine.moment import MOMENT
from sim.workload.model import Job
from sim.workload.outages import Outage


def stretches_on(past: Past, processor: int) -> Iterator[int]:
    """Yield the numbers of the stretches on a processor, beginning with the one that began last."""
    held = past._processors
    return (stretch for stretch in range(len(past) - 1, -1, -1) if held[stretch] >> processor & 1)


def came_in(past: Past, stretch: int, processor: int) -> int | None:
    """Return the step in which the job took the processor at the begin of this stretch; None if the job held it in the
    stretch just before.
    """
    before = -1
    for each in past._stretches_of_job(past._rank[stretch]):
        if each == stretch:
            break
        before = each
    return None if goes_on(past, before, processor) else bisect_right(past._begun, stretch) + 1


def left_in(past: Past, stretch: int, processor: int) -> int | None:
    """Return the step in which the job left the processor at the end of this stretch. Return None if it keeps the
    processor in its next stretch, or if the stretch is open.
    """
    open_ = past._end_step[stretch] >= past._now
    return None if open_ or goes_on(past, stretch, processor) else past._end_step[stretch] + 1


def goes_on(past: Past, stretch: int, processor: int) -> bool:
    """Return True if the job keeps the processor after this stretch: its next stretch follows without a gap and
    includes the processor.
    """
    then = past._next[stretch] if stretch >= 0 else -1
    if not 0 <= then < len(past) or (past._ended_by[stretch] != MOVED and past._kind[then] != SUSPENDING):
        return False
    if not past._processors[stretch] & past._processors[then] & 1 << processor:
        return False
    is_nothing = past._end[then] == past._start[then] and past._end_step[then] < past._now
    return not is_nothing or goes_on(past, then, processor)


def passers_of(past: Past, rank: int, submit: float) -> dict[int, int]:
    """Return a mapping from rank to stretch: for each later job that started while the job `rank` waited, the number of
    the first stretch that it began in this time.
    """
    found: dict[int, int] = {}
    came_after = past._decisions.came_after
    for number, (begun, end, _, _) in enumerate(_waits(past, rank, submit)):
        for stretch in range(begun, end):
            other = past._rank[stretch]
            if other != rank and other not in found and came_after(other, rank, submit):
                began = begins(past, other, begun, end) if number else stretch
                if began is not None:
                    found[other] = began
    return found


def _waits(past: Past, rank: int, submit: float) -> Iterator[tuple[int, int, int, int]]:
    """Yield (first stretch, stretch end, first step, step end) for each span of time in which the job waited. The first
    two limit the numbers of the stretches of all jobs that begin in the span, the last two those of its steps. Both
    ends are excluded.
    """
    count, last = len(past), past.steps
    begun, first = bisect_left(past._start, submit, 0, count), bisect_left(past._time, submit, 0, past.steps)
    for stretch in past._stretches_of_job(rank):
        if begun >= 0:
            yield begun, stretch, first, bisect_right(past._begun, stretch)
        first, back = past._end_step[stretch], past._ended_by[stretch] in (CUT, QUEUED, INTERRUPTED)
        if stretch in past._lost:
            (first, _), back = past._lost[stretch], True
        begun = past._begun[first - 1] if back and first < past._now else -1
    if (given_up := past._given_up.get(rank, NEVER)) < last:
        count, last = past._begun[given_up - 1] if given_up else 0, given_up
    if begun >= 0:
        yield begun, count, first, last


def begins(past: Past, rank: int, first: int, last: int) -> int | None:
    """Return the number of the job's first stretch, from number `first` to before `last`, that does not continue
    another stretch; None if there is no such stretch.
    """
    goes = False
    for stretch in past._stretches_of_job(rank):
        if first <= stretch < last and not goes and past._kind[stretch] != SUSPENDING:
            return stretch
        goes = past._ended_by[stretch] == MOVED
    return None


class InTheWay(NamedTuple):
    """Time from which a job could have started if no later job had passed it, and the passing jobs that prevented this.

    The job could have started at a time when enough processors were free and no announced maintenance came before its
    end.
    """

    since: float
    """First time at which the job could have started if no other job had passed it; infinity if there is none"""
    passers: frozenset[int]
    """Ranks of jobs that had passed this job and held processors when it could have started without them"""


def in_the_way_of(past: Past, job: Job, passers: Mapping[int, int], outages: Sequence[Outage] = ()) -> InTheWay | None:
    """Return an `InTheWay`: from when on, and by which of `passers` (a mapping from rank to first stretch), the job was
    kept from starting. Under gang scheduling, return None.

    A time from which the job would have run into announced maintenance does not count, because the job would not have
    started then.
    """
    rank, procs, submit = job.rank, job.procs, job.submit
    downs = np.sort([outage.begins for outage in outages if outage.announced] + [inf])
    since, guilty = inf, set[int]()
    for _, _, first, last in _waits(past, rank, submit):
        stays = [stay for other, begun in passers.items() for stay in _stays(past, other, begun, first, last)]
        if any(past._kind[stretch] == GANG for stretch, _, _ in stays):
            return None
        changes = np.zeros(last - first + 1, np.int64)
        for stretch, begin, end in stays:
            held = past._processors[stretch].bit_count()
            changes[begin - first] += held
            changes[end - first] -= held
        free = np.array(past._free[first:last])
        lacks = (free < procs) & (free + np.cumsum(changes[:-1]) >= procs)
        time = np.array(past._time[first:last])
        lacks &= time + job.estimate <= downs[downs.searchsorted(time, "right")] + MOMENT
        if lacks.any():
            since = min(since, past._time[first + int(lacks.argmax())])
            guilty |= {past._rank[stay] for stay, begin, end in stays if lacks[begin - first : end - first].any()}
    return InTheWay(since, frozenset(guilty))


def _stays(past: Past, rank: int, begun: int, first: int, last: int) -> Iterator[tuple[int, int, int]]:
    """Yield (stretch, step of its begin, step of its end) for those stretches of the job that have the number `begun`
    or a higher one.

    The steps are limited to the span from `first` to `last`; stretches outside of the span are left out.
    """
    for stretch in past._stretches_of_job(rank):
        begin, end = bisect_right(past._begun, stretch), min(past._end_step[stretch], last)
        if stretch >= begun and max(begin, first) < end:
            yield stretch, max(begin, first), end


def divided_in(past: Past) -> Iterator[int]:
    """Yield the steps in which the processors of the partitions changed, the latest step first."""
    known = bisect_left(past._boundary_step, past._now)
    for index in range(known - 1, -1, -1):
        if past._boundaries[index][1] != (past._boundaries[index - 1][1] if index else ()):
            yield past._boundary_step[index] + 1
