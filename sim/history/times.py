"""When something happened to each job, and in which step: columns by rank that can be read as of any step, and cut."""

from __future__ import annotations

from array import array
from math import nan
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

NEVER = 2**31 - 1
Floats: TypeAlias = NDArray[np.float64]


class Times:
    """What has not happened has happened in the step `NEVER`."""

    __slots__ = ("_at", "_step")

    def __init__(self) -> None:
        self._at, self._step = array("d"), array("i")

    def make_room(self, more: int) -> None:
        """For so many more jobs, to which it has not happened."""
        self._at.extend([nan] * more)
        self._step.extend([NEVER] * more)

    def note(self, rank: int, at: float, step: int) -> None:
        """It happened."""
        self._at[rank], self._step[rank] = at, step

    def has(self, rank: int, before: int = NEVER) -> bool:
        """Had it happened before that step?"""
        return rank < len(self._step) and self._step[rank] < before

    def step(self, rank: int) -> int:
        """In which step it happened."""
        return self._step[rank]

    def of(self, rank: int, before: int) -> float | None:
        """When it happened; None if it had not before that step."""
        return whole(self._at[rank]) if self.has(rank, before) else None

    def column(self, jobs: int, before: int) -> Floats:
        """When it happened to each of so many jobs; nan where it had not before that step."""
        column = np.full(jobs, nan)
        column[: len(self._at)] = np.where(np.array(self._step) < before, np.array(self._at), nan)
        return column

    def until(self, step: int) -> Times:
        """What was known after so many steps."""
        cut, known = Times(), np.array(self._step) < step
        cut._at = array("d", np.where(known, np.array(self._at), nan).tolist())
        cut._step = array("i", np.where(known, np.array(self._step), NEVER).tolist())
        return cut


def whole(time: float) -> float:
    """Whole seconds as int, so that they print without a decimal point."""
    return int(time) if time == int(time) else time
