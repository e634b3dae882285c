"""Going somewhere in a run: to a step, a moment, a job, an event. What takes long can be halted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from sim.machine.moment import MOMENT
from sim.why.causes import last_change
from sim.words import clock_near, count, listed, name, span
from sim.workload.model import Floats
from tui.chart.turns import OnTurn, last_turn, turn_at
from tui.replay import requests as o
from tui.replay.requests import Noticed
from tui.replay.stage import Stage

if TYPE_CHECKING:
    from sim.stops.grammar import Stop
    from sim.stops.search import Quit

Halted: TypeAlias = Callable[[], bool]
"""Has the person said that it takes too long?"""
OVER = "the run is over"
A_LOOK = 0.05
"""Seconds of computing between two looks at the person."""


class Traveller:
    """Moves the cursor of a stage. Every journey says why it ended where it did, if there is something to say."""

    def __init__(self, stage: Stage, until: Callable[[], float] = lambda: -inf) -> None:
        self.stage = stage
        self._until = until
        """How long a run beside lasts: until then the clock goes on when this one is over."""
        self.progress: tuple[str, float] | None = None
        """What takes long, and how much of it is done; read by the screen, in its own thread."""

    @property
    def step(self) -> int:
        return self.stage.timeline.step

    def seek(self, step: int, halted: Halted) -> str | None:
        """To a step, or as far as there are steps."""
        timeline = self.stage.timeline
        while timeline.computed < step and self.compute_a_little(halted):
            pass
        if not halted() and timeline.seek(min(max(step, 0), timeline.computed), halted):
            self.stage.set_clock()
            if timeline.complete and step > timeline.computed:
                return self._over
        return None

    def seek_time(self, time: float, halted: Halted) -> str | None:
        """To a moment, between two steps where it is."""
        timeline = self.stage.timeline
        while not self._knows(time) and self.compute_a_little(halted):
            pass
        if halted() or not timeline.seek_time(time, halted):
            return None
        if self.is_over and time >= self._until():
            self.stage.clock = max(self.last, self._until())
            return self._over
        self.stage.clock = max(time, self.last)
        return None

    @property
    def is_over(self) -> bool:
        """Has all been that there is?"""
        return self.stage.timeline.complete and self.step == self.stage.timeline.computed

    @property
    def last(self) -> float:
        """When the cursor's step was."""
        now = self.stage.snapshot.time
        return self.stage.begin if now is None else now

    @property
    def _over(self) -> str:
        """Why there is nothing more."""
        failure = self.stage.timeline.branch.error
        return OVER if failure is None else f"the run failed here: {failure.error}"

    def _knows(self, time: float) -> bool:
        timeline = self.stage.timeline
        return bool(timeline.computed) and timeline.history.time_of(timeline.computed - 1) > time

    def compute_a_little(self, halted: Halted) -> bool:
        """Move the frontier on and tell how far it is; False if there is no more to compute, or nobody wants it."""
        timeline = self.stage.timeline
        if halted() or not self.stage.go_on(A_LOOK):
            return False
        self.progress = "computing", timeline.branch.engine.state.tally.finished / max(len(self.stage.workload), 1)
        return True

    def to_job(self, order: o.GoToJob, halted: Halted) -> str | None:
        """To where it is submitted, or first starts."""
        timeline, job = self.stage.timeline, self.stage.workload.jobs[order.rank]
        if not order.start:
            return self.seek_time(job.submit, halted)
        while (start := timeline.branch.engine.state.start_of(order.rank)) is None and self.compute_a_little(halted):
            pass
        if start is not None:
            return self.seek_time(start, halted)
        return None if halted() else f"{name(job)} does not start"

    def to_longest(self, order: o.GoToLongest, halted: Halted) -> Noticed | str | None:
        """Who waited longest; a job that never started did not."""
        return self._to_most(
            lambda starts: starts - self.stage.workload.due,
            lambda who, most: f"{who} waited longest in the whole run: {span(most)}",
            "no job has started",
            halted,
        )

    def to_most_overtaken(self, order: o.GoToMostOvertaken, halted: Halted) -> Noticed | str | None:
        """Whom the most others passed."""
        return self._to_most(
            self._passes,
            lambda who, most: f"{who} was passed most often in the whole run: by {count(int(most), 'job')}",
            "no job was passed",
            halted,
        )

    def _passes(self, starts: Floats) -> Floats:
        """By how many each was passed that has started, if by any."""
        from sim.metrics.fairness import overtaken

        many = overtaken(self.stage.workload, starts)
        return np.where(np.isnan(starts) | (many == 0), np.nan, many)

    def _to_most(
        self, of: Callable[[Floats], Floats], told: Callable[[str, float], str], none: str, halted: Halted
    ) -> Noticed | str | None:
        """To the start of the job of which that is the greatest. The whole run has to be known."""
        while self.compute_a_little(halted):
            pass
        if halted():
            return None
        starts = np.array(self.stage.timeline.branch.engine.state.ledger.start)
        values = of(starts)
        if not len(values) or np.isnan(values).all():
            return none
        rank = int(np.nanargmax(values))
        self.seek_time(float(starts[rank]), halted)
        return Noticed(rank, told(name(self.stage.workload.jobs[rank]), float(values[rank])))

    def to_end(self, order: o.GoToEnd, halted: Halted) -> str | None:
        """To the end of the run, but no further than the next stop."""
        if told := self.halt_on_the_way(order.stops, halted):
            return told
        while self.compute_a_little(halted):
            pass
        told = self.seek(self.stage.timeline.computed, halted)
        return self.seek_time(self._until(), halted) if self._until() > self.stage.clock and not halted() else told

    def find(self, order: o.Find, halted: Halted) -> str | None:
        """To where a condition comes true; if that is nowhere, the cursor stays where it is."""
        return self._search((order.stop,), order.direction, halted)[1]

    def to_stop(self, order: o.GoToStop, halted: Halted) -> str | None:
        """To the next step at which one of the stops is met, or the one before, and which it is."""
        found, nowhere = self._search(order.stops, order.direction, halted)
        return nowhere if found is None else _stopped(found)

    def _search(self, stops: Sequence[Stop], direction: int, halted: Halted) -> tuple[Stop | None, str | None]:
        """Go to where a stop is met. Return it, or why there is none; then the cursor stays where it is."""
        from sim.stops.search import search_backward, search_forward

        was = self.step
        search = search_forward if direction > 0 else search_backward
        if found := search(self.stage.timeline, stops, self._watched(halted)):
            self.stage.set_clock()
            return found[1], None
        self.stage.timeline.seek(was)
        where = "later" if direction > 0 else "earlier"
        return None, None if halted() else f"no {where} step meets: {' or '.join(stop.text for stop in stops)}"

    def halt_on_the_way(self, stops: Sequence[Stop], halted: Halted, **until: float) -> str | None:
        """Go to the next step at which a stop is met before that. Return which it is, None if there is none."""
        if not stops:
            return None
        from sim.stops.search import search_forward

        found = search_forward(self.stage.timeline, stops, self._watched(halted, tells=not until), **until)
        if found is None:
            return None
        self.stage.set_clock()
        return _stopped(found[1])

    def to_turn(self, order: o.GoToTurn, halted: Halted) -> str | None:
        """Between two steps where that is; who is on turn then. If there is none, the cursor stays where it is."""
        timeline, (step, moment) = self.stage.timeline, (self.step, self.stage.clock)
        if self.stage.snapshot.rules.turns() is None:
            return f"no rows take turns under {self.stage.snapshot.policy}"
        to = self._next_turn(halted) if order.direction > 0 else self._last_turn(halted)
        if to is not None:
            self.seek_time(to, halted)
            return self._told_turn()
        timeline.seek(step)
        self.stage.clock = moment
        return None if halted() else f"no row comes on turn {'later' if order.direction > 0 else 'earlier'}"

    @property
    def _turn(self) -> OnTurn | None:
        """That of now; None: no rows take turns now."""
        snapshot = self.stage.snapshot
        turn = None if snapshot.matrix is None else turn_at(snapshot, self.stage.clock)
        return None if turn is None or turn.end is None else turn

    def _next_turn(self, halted: Halted) -> float | None:
        """When the next one begins; steps until then may change the rows, and let one begin at once."""
        was = self._turn
        while not halted():
            turn, step = self._turn, self.stage.snapshot.next_time
            if turn is not None and turn.end is not None:
                if was is None or was.end is None or turn.row != was.row or abs(turn.end - was.end) > MOMENT:
                    return self.stage.clock
                if step is not None and turn.end < step - MOMENT:
                    return turn.end
            if step is None:
                return None
            self.seek(self.step + 1, halted)
        return None

    def _last_turn(self, halted: Halted) -> float | None:
        """When the last one began before now."""
        before = self.stage.clock
        while not halted():
            if (began := last_turn(self.stage.snapshot, before)) is not None:
                return began
            if not self.step:
                return None
            before = min(before, self.last)
            self.seek(self.step - 1, halted)
        return None

    def _told_turn(self) -> str:
        """Who is on turn now, and until when."""
        turn, matrix, jobs = self._turn, self.stage.snapshot.matrix, self.stage.workload.jobs
        if turn is None or turn.end is None or matrix is None:
            return "no rows take turns here"
        there = listed(name(jobs[cell.rank]) for row, cells in matrix.rows if row == turn.row for cell in cells)
        return f"Row {turn.row} is on turn until {clock_near(self.stage.clock)(turn.end)}: {there}."

    def _watched(self, halted: Halted, tells: bool = True) -> Quit:
        """Return the search's question whether to quit. It notes the progress by submitted jobs if `tells`."""
        history, submit = self.stage.timeline.history, self.stage.workload.submit

        def asked(step: int) -> bool:
            if tells:
                at = history.time_of(step - 1) if step else -inf
                self.progress = "searching", float(np.searchsorted(submit, at, "right")) / max(len(submit), 1)
            return halted()

        return asked

    def reverse(self, order: o.Reverse, halted: Halted) -> str | None:
        """To the last step before this one that changed it."""
        found = last_change(self.stage.timeline.history, order.what, self.step, halted)
        if found is None:
            return None if halted() else "no earlier change found"
        return self.seek(found[0], halted)


def _stopped(stop: Stop) -> str:
    return f"stopped: {stop.text}"
