"""Suspended jobs whose processors are free, found without a look at all suspended jobs."""

from __future__ import annotations

from collections.abc import Iterable

from sim.engine.stay import Stay


class Resting:
    """Suspended jobs, most of them behind a running job on their processors, which keeps them from resuming."""

    def __init__(self, suspended: Iterable[int]) -> None:
        self._open = list(suspended)
        """Ranks of the jobs that are examined at the next question"""
        self._behind: dict[int, list[int]] = {}
        """For running jobs in the way, by rank: the ranks of the suspended jobs behind each"""

    def add(self, rank: int) -> None:
        self._open.append(rank)

    def leave(self, rank: int) -> None:
        if rank in self._behind:
            self._open += self._behind.pop(rank)

    def on(self, free: int, suspended: dict[int, int], by_end: list[Stay], held: dict[int, int]) -> list[int]:
        """Return the ranks of the suspended jobs whose processors are all in `free`, in no order.

        `by_end` are the running jobs, the last to leave at the end, and `held` are their processors.
        """
        found, examined, to_see, self._open = list[int](), set[int](), self._open, list[int]()
        for rank in to_see:
            if rank not in suspended or rank in examined:
                continue
            examined.add(rank)
            own, place = suspended[rank], len(by_end) - 1
            if not own & ~free:
                found.append(rank)
                place = -1
            while place >= 0 and not held[by_end[place].rank] & own:
                place -= 1
            if place < 0:
                self._open.append(rank)
            else:
                self._behind.setdefault(by_end[place].rank, []).append(rank)
        return found
