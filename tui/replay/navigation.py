"""Navigation in a run: to a step, a time, a job or an event; slow moves can be cancelled."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from sim.machine.moment import MOMENT
from sim.support.formatting import clock_near, count, listed, name, span
from sim.why.last_change import last_change
from sim.workload.model import Floats, Workload
from tui.chart.lanes import OnTurn, last_turn, turn_at
from tui.replay import requests as o
from tui.replay.requests import Noticed
from tui.replay.stage import RunView

if TYPE_CHECKING:
    from sim.stops.grammar import Stop
    from sim.stops.search import Quit

Halted: TypeAlias = Callable[[], bool]
"""Function without arguments that returns True when the user has cancelled the move"""
OVER = "the run is over"
A_LOOK = 0.05
"""Seconds of computing between two checks of whether the user has cancelled the move"""


class Traveller:
    """Mover of the cursor in a run; most methods return a message on why they stopped, or None."""

    def __init__(self, stage: RunView, until: Callable[[], float] = lambda: -inf) -> None:
        self.stage = stage
        self._until = until
        """Function that returns when the compared run ends, which may be after this run"""
        self.beyond = -inf
        """Time shown while only the compared run moves on, after the end of this run; -inf otherwise"""
        self.progress: tuple[str, float] | None = None
        """Name and completed share of a slow move, or None; the screen reads it from another thread"""

    @property
    def step(self) -> int:
        return self.stage.timeline.step

    def seek(self, step: int, halted: Halted) -> str | None:
        """Go to a step. If the run is shorter, go to the last step and return a message."""
        timeline = self.stage.timeline
        while timeline.computed < step and self.compute_a_little(halted):
            pass
        if not halted() and timeline.seek(min(max(step, 0), timeline.computed), halted):
            self.stage.set_clock()
            if timeline.complete and step > timeline.computed:
                return self._end_message
        return None

    def seek_time(self, time: float, halted: Halted) -> str | None:
        """Go to a time, which may be between two steps; return a message if that is after the end of the run."""
        timeline = self.stage.timeline
        while timeline.history.last_time <= time and self.compute_a_little(halted):
            pass
        if halted() or not timeline.seek_time(time, halted):
            return None
        if self.is_over:
            self.stage.clock, self.beyond = self.last, time
            return self._end_message if time >= self._until() else None
        self.stage.clock = max(time, self.last)
        return None

    @property
    def clock(self) -> float:
        """Return the time shown, the same for both runs; after this run's end, the compared run determines it."""
        return max(self.stage.clock, min(self.beyond, self._until())) if self.is_over else self.stage.clock

    @property
    def is_over(self) -> bool:
        return self.stage.timeline.complete and self.step == self.stage.timeline.computed

    @property
    def last(self) -> float:
        now = self.stage.snapshot.time
        return self.stage.begin if now is None else now

    @property
    def _end_message(self) -> str:
        failure = self.stage.timeline.branch.error
        return OVER if failure is None else f"the run failed here: {failure.error}"

    def compute_a_little(self, halted: Halted) -> bool:
        """Compute more steps and note how far the run is; return False at its end, or if the user cancels."""
        timeline = self.stage.timeline
        if halted() or not self.stage.go_on(A_LOOK):
            return False
        self.progress = "computing", timeline.branch.engine.moment.finished / max(len(self.stage.workload), 1)
        return True

    def to_job(self, order: o.GoToJob, halted: Halted) -> str | None:
        timeline, job = self.stage.timeline, self.stage.workload.jobs[order.rank]
        if not order.start:
            return self.seek_time(job.submit, halted)
        while (start := timeline.branch.engine.moment.start_of(order.rank)) is None and self.compute_a_little(halted):
            pass
        if start is not None:
            return self.seek_time(start, halted)
        return None if halted() else f"{name(job)} does not start"

    def to_longest(self, order: o.GoToLongest, halted: Halted) -> Noticed | str | None:
        """Go to the start of the job that waited longest in the whole run; return it, or that no job started."""
        return self._to_most(
            lambda starts, ran: starts - ran.due,
            lambda who, most: f"{who} waited longest in the whole run: {span(most)}",
            "no job has started",
            halted,
        )

    def to_most_overtaken(self, order: o.GoToMostOvertaken, halted: Halted) -> Noticed | str | None:
        """Go to the start of the job that was passed most in the whole run; return it, or that none was."""
        return self._to_most(
            self._passes,
            lambda who, most: f"{who} was passed most often in the whole run: by {count(int(most), 'job')}",
            "no job was passed",
            halted,
        )

    def _passes(self, starts: Floats, ran: Workload) -> Floats:
        """Return by rank how many later jobs started before each; nan for none, and for jobs without a start."""
        from sim.metrics.fairness import overtaken

        many = overtaken(ran, starts, submit=ran.submit if ran.follows else None)
        return np.where(np.isnan(starts) | (many == 0), np.nan, many)

    def _to_most(
        self, of: Callable[[Floats, Workload], Floats], told: Callable[[str, float], str], none: str, halted: Halted
    ) -> Noticed | str | None:
        """Go to the start of the job with the largest `of(starts, workload)`; return it, or the message `none`."""
        while self.compute_a_little(halted):
            pass
        if halted():
            return None
        schedule = self.stage.timeline.branch.engine.schedule()
        starts = schedule.start
        values = of(starts, schedule.workload)
        if not len(values) or np.isnan(values).all():
            return none
        rank = int(np.nanargmax(values))
        self.seek_time(float(starts[rank]), halted)
        return Noticed(rank, told(name(self.stage.workload.jobs[rank]), float(values[rank])))

    def to_end(self, order: o.GoToEnd, halted: Halted) -> str | None:
        if told := self.halt_on_the_way(order.stops, halted):
            return told
        while self.compute_a_little(halted):
            pass
        told = self.seek(self.stage.timeline.computed, halted)
        return self.seek_time(self._until(), halted) if self._until() > self.stage.clock and not halted() else told

    def find(self, order: o.Find, halted: Halted) -> str | None:
        """Go to the next or previous step that meets a condition; without one, the cursor stays."""
        return self._search((order.stop,), order.direction, halted)[1]

    def to_stop(self, order: o.GoToStop, halted: Halted) -> str | None:
        """Go to the next or previous step that meets a stop condition, and say which; else the cursor stays."""
        found, nowhere = self._search(order.stops, order.direction, halted)
        return nowhere if found is None else _stop_message(found)

    def _search(self, stops: Sequence[Stop], direction: int, halted: Halted) -> tuple[Stop | None, str | None]:
        """Go to the next step that meets a stop condition; return (condition, None), or (None, why not)."""
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
        """Go to the next step that meets a stop condition, within `until`, and return it as text; else None."""
        if not stops:
            return None
        from sim.stops.search import search_forward

        found = search_forward(self.stage.timeline, stops, self._watched(halted, tells=not until), **until)
        if found is None:
            return None
        self.stage.set_clock()
        return _stop_message(found[1])

    def to_turn(self, order: o.GoToTurn, halted: Halted) -> str | None:
        """Go to the next or previous turn of a matrix row, and say whose it is; without one, the cursor stays."""
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
    def _turn_shown(self) -> OnTurn | None:
        snapshot = self.stage.snapshot
        turn = None if snapshot.matrix is None else turn_at(snapshot, self.stage.clock)
        return None if turn is None or turn.end is None else turn

    def _next_turn(self, halted: Halted) -> float | None:
        """Return when the next turn begins, or None; steps before it are made, as they may change the rows."""
        was = self._turn_shown
        while not halted():
            turn, step = self._turn_shown, self.stage.snapshot.next_time
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
        turn, matrix, jobs = self._turn_shown, self.stage.snapshot.matrix, self.stage.workload.jobs
        if turn is None or turn.end is None or matrix is None:
            return "no rows take turns here"
        there = listed(name(jobs[cell.rank]) for row, cells in matrix.rows if row == turn.row for cell in cells)
        return f"Row {turn.row} is on turn until {clock_near(self.stage.clock)(turn.end)}: {there}."

    def _watched(self, halted: Halted, tells: bool = True) -> Quit:
        """Return a function that is True when the user has cancelled a search; with `tells` it notes progress."""
        history, submit = self.stage.timeline.history, self.stage.workload.submit

        def asked(step: int) -> bool:
            if tells:
                at = history.time_of(step - 1) if step else -inf
                self.progress = "searching", float(np.searchsorted(submit, at, "right")) / max(len(submit), 1)
            return halted()

        return asked

    def reverse(self, order: o.Reverse, halted: Halted) -> str | None:
        """Go back to the last decision that changed the value which the request names."""
        found = last_change(self.stage.timeline.history, order.what, self.step, halted)
        if found is None:
            return None if halted() else "no earlier change found"
        return self.seek(found[0], halted)


def _stop_message(stop: Stop) -> str:
    return f"stopped: {stop.text}"
