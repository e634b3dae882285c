"""What the stretches of a history tell, read once in order of time: who started and ended when, who was stopped.

A stretch says when a job held processors, not why it let go. The work that was done until then does: less than the job
has to do, and it was suspended; a trial that ended before the work was done was cut. Reading goes on from where it
stood, so a frame pays for what is new.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import inf, nextafter
from time import perf_counter

import numpy as np

from sim.history import History, Past, Stretch
from sim.turns import DONE
from sim.workload.model import Floats, Workload
from tui.chart.hues import JobHues

_AT_ONCE = 500
"""So many stretches are read between two looks at the clock."""


class Chronicle:
    """The story of one history as far as it has been read."""

    def __init__(self, workload: Workload) -> None:
        count = len(workload)
        self.start: Floats = np.full(count, np.nan)
        """rank -> its first start; nan: not yet"""
        self.end: Floats = np.full(count, np.nan)
        """rank -> its completion"""
        self.owner = np.full(count, -1, np.int8)
        """rank -> the partition in which it first started; -1: there were none"""
        self.hues = JobHues(count, workload.procs)
        self._runtime, self._killed = workload.runtime, workload.killed
        self._ran = np.zeros(count)
        self._pauses = History()
        """Pauses are stretches, too: of those in which nobody runs."""
        self._paused: dict[int, int] = {}
        self.until = -inf
        """Up to when has been read"""
        self._edge = set[tuple[int, float, bool]]()
        """What happened at just that time: (rank, start of the stretch, has it ended?)"""
        self._window = 86400.0

    def read(self, history: Past, until: float, deadline: float) -> None:
        """Read on as far as `until`, or as there is time."""
        while self.until < until:
            if self.until == -inf:
                first = next(history.stretches(), None)
                self.until = nextafter(until if first is None else min(first.start, until), -inf)
            to = min(until, self.until + self._window)
            read = self._read(history, to)
            self._window = max(self._window * (2 if read < _AT_ONCE else 0.5), 60)
            if perf_counter() > deadline:
                return
        if self.until == until:
            self._read(history, until)  # another step at the same time

    def pauses(self, start: float, end: float) -> list[Stretch]:
        """Who was suspended at some moment in between, and where; `end` is None while it lasts."""
        return [pause._replace(kind="trail") for pause in self._pauses.between(start, end)]

    def is_cut(self, stretch: Stretch) -> bool:
        """Does it end with the job killed, for good or to be tried again?"""
        if stretch.end is None:
            return False
        if stretch.kind == "speculative":
            return bool(stretch.end - stretch.start < self._runtime[stretch.rank] - DONE)
        return bool(self._killed[stretch.rank] and self.end[stretch.rank] == stretch.end)

    # Reading

    def _read(self, history: Past, to: float) -> int:
        """One window of time: what begins and what ends after what was read last."""
        seen = history.between(nextafter(self.until, -inf), nextafter(to, inf))
        ended = sorted((s for s in seen if self._is_new(s, to, has_ended=True)), key=lambda s: (s.end, s.start))
        begun = [s for s in seen if self._is_new(s, to, has_ended=False)]
        resumed = {(s.rank, s.start) for s in begun}
        pauses = [s for s in ended if self._end_of(s) and (s.rank, s.end) not in resumed]
        self._let_pause(pauses, begun)
        for stretch in begun:
            self._begin(history, stretch)
        edge = {(s.rank, s.start, False) for s in begun if s.start == to}
        edge |= {(s.rank, s.start, True) for s in ended if s.end == to}
        self._edge = edge if to > self.until else self._edge | edge
        self.until = to
        return len(begun)

    def _is_new(self, stretch: Stretch, to: float, has_ended: bool) -> bool:
        """Has this, its beginning or its end, not been read?"""
        time = stretch.end if has_ended else stretch.start
        if time is None or not self.until <= time <= to:
            return False
        return time > self.until or (stretch.rank, stretch.start, has_ended) not in self._edge

    def _end_of(self, stretch: Stretch) -> bool:
        """The stretch is over; True if its job has work left and was not cut."""
        assert stretch.end is not None
        rank, kind = stretch.rank, stretch.kind
        if kind == "run":
            self._ran[rank] += stretch.end - stretch.start
        if kind == "gang" or (kind == "speculative" and not self.is_cut(stretch)):
            self.end[rank] = stretch.end
            return False
        if kind == "speculative":
            return False
        if self._ran[rank] >= self._runtime[rank] - DONE:
            self.end[rank] = stretch.end
            return False
        return True

    def _let_pause(self, stopped: Iterable[Stretch], begun: Iterable[Stretch]) -> None:
        """Pauses begin and are over, in order of time."""
        events = [(s.start, 0, s) for s in begun] + [(s.end or 0.0, 1, s) for s in stopped]
        for time, begins, stretch in sorted(events, key=lambda event: event[:2]):
            if begins:
                self._paused[stretch.rank] = self._pauses.begin(stretch.rank, time, stretch.processors)
            elif (pause := self._paused.pop(stretch.rank, None)) is not None:
                self._pauses.finish(pause, time)

    def _begin(self, history: Past, stretch: Stretch) -> None:
        rank = stretch.rank
        self.end[rank] = np.nan if self.end[rank] <= stretch.start else self.end[rank]
        if not np.isnan(self.start[rank]):
            return
        self.start[rank] = stretch.start
        self.hues.start(rank, stretch.processors)
        for _, owners in history.owners_between(stretch.start, nextafter(stretch.start, inf))[-1:]:
            shared = [(owned & stretch.processors).bit_count() for owned in owners]
            self.owner[rank] = shared.index(max(shared))
