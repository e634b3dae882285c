"""Index of suspended jobs whose own processors are free. An update looks only at processors that jobs have left."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sim.policies.preempt.keepers import Keepers


class Room:
    """Index of suspended jobs, each under one of its processors that is taken; a job is checked when that one is free.

    >>> room = Room()
    >>> room.found({7: 0b0110, 8: 0b1000}, free=0b0001), room.found({7: 0b0110, 8: 0b1000}, free=0b1011)
    ([], [8])
    """

    __slots__ = ("_fitting", "_tried", "_waiting", "_watched")

    def __init__(self) -> None:
        self._waiting = Keepers()
        """Suspended jobs by the processor that blocks them, as a set with one member"""
        self._watched = 0
        """Processors that block jobs, and possibly some more"""
        self._fitting: set[int] = set()
        """Jobs whose processors were all free at the last update"""
        self._tried = 0
        """Free processors at the last update"""

    def copy(self) -> Room:
        twin = Room()
        twin._waiting, twin._fitting = self._waiting.copy(), self._fitting.copy()
        twin._watched, twin._tried = self._watched, self._tried
        return twin

    def found(self, suspended: Mapping[int, int], free: int) -> list[int]:
        """Return the suspended jobs, given as rank -> own processors, whose own processors are all free."""
        waiting, fitting = self._waiting, self._fitting
        ranks = [*fitting]
        for rank in reversed(suspended):  # the last suspended job is the last
            if rank in waiting.of or rank in fitting:
                break
            ranks.append(rank)
        came = free & ~self._tried & self._watched
        self._tried = free
        if came:
            self._watched ^= came
            ranks += waiting.release(_each(came))
        for rank in ranks:
            self._look(rank, suspended.get(rank), free)
        if len(waiting.of) + len(fitting) != len(suspended):
            for rank in waiting.of.keys() | fitting | suspended.keys():
                self._look(rank, suspended.get(rank), free)
        return [*fitting]

    def forget(self, rank: int) -> None:
        """Remove the job, which is no longer suspended."""
        self._waiting.forget(rank)
        self._fitting.discard(rank)

    def _look(self, rank: int, own: int | None, free: int) -> None:
        if own is None:
            self.forget(rank)
        elif busy := own & ~free:
            self._fitting.discard(rank)
            self._waiting.keep(rank, busy & -busy)
            self._watched |= busy & -busy
        else:
            self._waiting.forget(rank)
            self._fitting.add(rank)


def _each(processors: int) -> Iterator[int]:
    """Yield each processor of a set, as a set with one member."""
    while processors:
        first = processors & -processors
        yield first
        processors ^= first
