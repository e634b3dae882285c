"""Times at which an event, such as the start, happened to each job: arrays by rank, which can be read as they were
after any step.
"""

from __future__ import annotations

from array import array
from math import nan
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

NEVER = 2**31 - 1
Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]


class Times:
    """For each job (by rank): time and number of the step of one event, such as the start. The step is `NEVER` if the
    event has not happened.
    """

    __slots__ = ("at", "step")

    def __init__(self) -> None:
        self.at, self.step = array("d"), array("i")

    def make_room(self, more: int) -> None:
        self.at.extend(array("d", [nan]) * more)
        self.step.extend(array("i", [NEVER]) * more)

    def note(self, rank: int, at: float, step: int) -> None:
        self.at[rank], self.step[rank] = at, step

    def note_all(self, ranks: Ints, at: Floats, steps: Ints) -> None:
        """Record the events of several jobs: `at` and `steps` are their times and steps. A job that already has a
        recorded event keeps it.
        """
        step = np.asarray(self.step)
        new = np.flatnonzero(step[ranks] == NEVER)[::-1]
        np.asarray(self.at)[ranks[new]], step[ranks[new]] = at[new], steps[new]

    def has(self, rank: int, before: int = NEVER) -> bool:
        return rank < len(self.step) and self.step[rank] < before

    def of(self, rank: int, before: int) -> float | None:
        return self.at[rank] if self.has(rank, before) else None

    def column(self, jobs: int, before: int) -> Floats:
        """Return, for each of the first `jobs` jobs, the time of its event; nan if it had not happened before the step
        `before`.
        """
        at, step = np.asarray(self.at)[:jobs], np.asarray(self.step)[:jobs]
        known: Floats = at.copy()
        if before < NEVER:
            np.copyto(known, nan, where=step >= before)
        return known if len(at) == jobs else np.append(known, np.full(jobs - len(at), nan))

    def known(self, before: int) -> KnownTimes:
        return KnownTimes(self, before)

    def until(self, step: int) -> Times:
        cut, known = Times(), np.array(self.step) < step
        cut.at = array("d", np.where(known, np.array(self.at), nan).tolist())
        cut.step = array("i", np.where(known, np.array(self.step), NEVER).tolist())
        return cut


class KnownTimes:
    """Times of one event as known before a step: for the rank of a job, or for an array of ranks, the time of the
    event, nan if it had not happened. Nothing is copied, because a chart asks for few of millions of jobs.
    """

    __slots__ = ("_before", "_times")

    def __init__(self, times: Times, before: int) -> None:
        self._times, self._before = times, before

    def __getitem__(self, ranks: Any) -> Any:
        if isinstance(ranks, np.ndarray):
            return np.array([self[rank] for rank in ranks.tolist()], dtype=float)
        time = self._times.of(ranks, self._before)
        return nan if time is None else time

    def whole(self, jobs: int) -> Floats:
        return self._times.column(jobs, self._before)


EventTimes: TypeAlias = KnownTimes | Floats
"""Times of one event, by rank: looked up in a run's history, or an array with the time of every job"""
