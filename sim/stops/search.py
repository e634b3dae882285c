"""Search for the steps that meet a stop condition: the next, the previous, or all of them, a little at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf
from time import perf_counter
from typing import NamedTuple, TypeAlias

from sim.engine.engine import Engine
from sim.stops.combinations import Reading
from sim.stops.conditions import Findings
from sim.stops.grammar import Stop
from sim.stops.instants import Instant, OfMoment, Record
from sim.support.errors import SchedscopeError
from sim.timeline.branch import Branch
from sim.timeline.timeline import Timeline
from sim.workload.model import Job

_ASK = 64
"""Number of steps after which the search asks whether to quit"""
_AHEAD = 0.05
"""Seconds of computing at a time, if the search goes beyond the computed steps"""
_CHUNK = 512
"""Number of steps that a backward search reads at a time"""

Found: TypeAlias = tuple[int, Stop]
"""Number of steps after which the condition was met, and the condition."""
Quit: TypeAlias = Callable[[int], bool]
"""Function that is called with the step that the search has reached, and returns True if the search must end"""


def search_forward(
    timeline: Timeline, stops: Sequence[Stop], should_quit: Quit, until_step: float = inf, until_time: float = inf
) -> Found | None:
    """Move to the next step that meets a condition; return both, or None at the end or if the search quits."""
    looker, step = Looker(timeline.branch, stops), timeline.step
    looker.look(step)
    while step < until_step and _is_known(timeline, step + 1) and timeline.history.time_of(step) <= until_time:
        if step % _ASK == 0 and should_quit(step):
            return None
        step += 1
        if stop := looker.look(step):
            timeline.seek(step)
            return step, stop
    timeline.seek(step)
    return None


def search_backward(timeline: Timeline, stops: Sequence[Stop], should_quit: Quit) -> Found | None:
    """Move back to the last earlier step that meets a condition; return both, or None and stay."""
    looker, last = Looker(timeline.branch, stops), timeline.step - 1
    while last > 0 and not should_quit(last):
        first = max(last - _CHUNK, 0)
        looker.begin_again()
        seen = [(step, looker.look(step)) for step in range(first, last + 1)]
        for step, stop in reversed(seen):
            if stop:
                timeline.seek(step)
                return step, stop
        last = first
    return None


def _is_known(timeline: Timeline, step: int) -> bool:
    """Return True if `step` steps are computed, after computing for about `_AHEAD` seconds if they are not."""
    if timeline.computed < step:
        timeline.compute_for(_AHEAD)
    return timeline.computed >= step


class Looker:
    """Reader of successive steps, which finds out whether the last step met a condition."""

    def __init__(self, branch: Branch, stops: Sequence[Stop]) -> None:
        self._branch, self._stops = branch, stops
        self._cheap = all(stop.cheap for stop in stops)
        self._reads_code = any(stop.reads_code for stop in stops)
        self._record: Record | None = None
        self._engine: Engine | None = None
        self._seen: Instant | None = None
        self._before: Sequence[Reading | None] = ()
        self._after: Sequence[Reading | None] = ()
        self.begin_again()

    def begin_again(self) -> None:
        """Prepare to read from an earlier step on: forget values, but not the columns of the history."""
        self._engine, self._after = None, [None] * len(self._stops)

    def look(self, step: int) -> Stop | None:
        """Return a condition that the step meets, or None; nothing precedes the first step."""
        instant = self._seen = self._instant(step)
        was = self._before = self._after
        now = [stop.read(instant, old) for stop, old in zip(self._stops, was, strict=True)]
        self._after = now
        seen = zip(self._stops, was, now, strict=True)
        return next((stop for stop, old, new in seen if old is not None and stop.root.fires(old, new)), None)

    def findings(self, stop: Stop) -> Findings:
        """Yield what the last step has that meets this condition."""
        at = self._stops.index(stop)
        after = self._after[at]
        if after is not None and self._seen is not None:
            yield from stop.findings(self._before[at], after, self._seen)

    def _instant(self, step: int) -> Instant:
        if self._cheap:
            if self._record is None or self._record.steps < step:
                self._record = Record(self._branch.history, self._branch.engine.workload)
            return self._record.after(step)
        if self._reads_code and step:
            self._engine, code = self._branch.recorded(step, self._engine)
            return OfMoment(self._engine.moment, code)
        self._engine = self._branch.replay(step, self._engine)
        assert self._engine is not None
        return OfMoment(self._engine.moment)


MOST = 1000
"""Largest number of matches that are kept; the others are only counted."""


class Match(NamedTuple):
    step: int
    time: float
    jobs: tuple[Job, ...]
    values: tuple[str, ...]


class Matches:
    def __init__(self, branch: Branch, stop: Stop) -> None:
        self.branch, self.stop = branch, stop
        self.found: list[Match] = []
        self.more = 0
        self.step = 0
        """Number of steps of which it is known whether they meet the condition."""
        self._looker = Looker(branch, (stop,))
        self._looker.look(0)
        self._known = 0
        self._has_failed = False

    @property
    def is_read(self) -> bool:
        return self._has_failed or self.step >= self._to_read

    @property
    def share(self) -> float:
        """Return the share of the computed steps that was searched; below 1 until the run is complete."""
        done = self.step / max(self.branch.computed, 1)
        return done if self.branch.complete else min(done, 0.99)

    @property
    def _to_read(self) -> int:
        """Return the number of steps to read; while the run is computed it grows rarely, as columns are then copied."""
        computed = self.branch.computed
        if self.branch.complete or computed >= 2 * self._known:
            self._known = computed
        return self._known

    def read(self, seconds: float) -> None:
        """Look at more of the computed steps, for about `seconds`, but at least at one."""
        until, last = perf_counter() + seconds, self._to_read
        while self.step < last and not self._has_failed:
            try:
                if self._looker.look(self.step + 1):
                    self._keep(self.step + 1)
            except SchedscopeError:  # reported when that step is shown
                self._has_failed = True
                return
            self.step += 1
            if perf_counter() >= until:
                return

    def _keep(self, step: int) -> None:
        if len(self.found) >= MOST:
            self.more += 1
            return
        findings = [*self._looker.findings(self.stop)]
        jobs = dict.fromkeys(job for job, _ in findings if job is not None)
        values = dict.fromkeys(value for _, value in findings if value)
        self.found.append(Match(step, self.branch.history.time_of(step - 1), (*jobs,), (*values,)))
