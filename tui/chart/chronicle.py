"""What a history tells, read once in order of time: who started and ended when, who was stopped, who was killed.

A stretch says when a job held processors, not why it let go: that is in the decisions of its last step. Reading goes on
from where it stood, so a frame pays for what is new.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import inf, nextafter
from time import perf_counter

import numpy as np

from sim.decisions.decisions import Backfill, Start, Suspend
from sim.history.history import History, Past, Stretch
from sim.machine.turns import DONE
from sim.workload.model import Floats, Workload
from tui.chart.hues import JobHues
from tui.look.palette import Hue

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
        self._cut: set[tuple[int, float]] = set()
        """(rank, end) of trials after which the job waits again"""
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
        killed = bool(self._killed[stretch.rank]) and self.end[stretch.rank] == stretch.end
        return killed or (stretch.rank, stretch.end) in self._cut

    # Reading

    def _read(self, history: Past, to: float) -> int:
        """One window of time: what begins and what ends after what was read last."""
        seen = history.between(nextafter(self.until, -inf), nextafter(to, inf))
        ended = [s for s in seen if self._is_new(s, to, has_ended=True)]
        begun = [s for s in seen if self._is_new(s, to, has_ended=False)]
        stopped, started = _decided(history, self.until, to)
        going_on = {(s.rank, s.start) for s in begun} - started
        left = [s for s in ended if (s.rank, s.end) not in going_on]
        self._let_pause([s for s in left if s.kind == "suspending" or (s.rank, s.end) in stopped], begun)
        for stretch in left:
            self._end(stretch, stopped)
        for stretch in seen:
            if self._is_new(stretch, to, has_ended=False):
                self._begin(history, stretch)
            self._first_turn(history, stretch, to)
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

    def _end(self, stretch: Stretch, stopped: set[tuple[int, float]]) -> None:
        """The job left its processors, and did not go on at once."""
        rank, end = stretch.rank, stretch.end
        assert end is not None
        if stretch.kind == "speculative" and end - stretch.start < self._runtime[rank] - DONE:
            self._cut.add((rank, end))
        elif stretch.kind != "suspending" and (rank, end) not in stopped:
            self.end[rank] = end

    def _let_pause(self, stopped: Iterable[Stretch], begun: Iterable[Stretch]) -> None:
        """Pauses begin and are over, in order of time."""
        events = [(s.start, 0, s) for s in begun] + [(s.end or 0.0, 1, s) for s in stopped]
        for time, begins, stretch in sorted(events, key=lambda event: event[:2]):
            if begins:
                self._paused[stretch.rank] = self._pauses.begin(stretch.rank, time, stretch.processors)
            elif (pause := self._paused.pop(stretch.rank, None)) is not None:
                self._pauses.finish(pause, time)

    def _begin(self, history: Past, stretch: Stretch) -> None:
        """The job is on processors, or in the matrix; if it was before, it had not ended."""
        rank = stretch.rank
        if self.end[rank] <= stretch.start:
            self.end[rank] = np.nan
        if stretch.kind != "gang" and np.isnan(self.start[rank]):
            self.start[rank] = stretch.start
        if self.hues.of[rank] != Hue.GREY:
            return
        self.hues.start(rank, stretch.processors)
        for _, owners in history.owners_between(stretch.start, nextafter(stretch.start, inf))[-1:]:
            shared = [(owned & stretch.processors).bit_count() for owned in owners]
            self.owner[rank] = shared.index(max(shared)) if shared else -1

    def _first_turn(self, history: Past, stretch: Stretch, to: float) -> None:
        """A job in the matrix starts when a row of it is on turn for the first time."""
        if stretch.kind == "gang" and np.isnan(self.start[stretch.rank]):
            turn = next(history.turns(stretch, stretch.start, to + 1), None)
            if turn is not None and turn.start <= to:
                self.start[stretch.rank] = turn.start


def _decided(history: Past, after: float, to: float) -> tuple[set[tuple[int, float]], set[tuple[int, float]]]:
    """(rank, when) of the suspensions and of the starts from `after` until `to`."""
    stopped, started = set(), set()
    step = history.step_at(to)
    while step is not None and step >= 0 and (time := history.time_of(step)) >= after:
        for decision in history.decisions(step):
            if isinstance(decision, Suspend):
                stopped.add((decision.job.rank, time))
            elif isinstance(decision, Start | Backfill):
                started.add((decision.job.rank, time))
        step -= 1
    return stopped, started
