"""Marks for a job's reservation, and the hole, where jobs may run before the head without delaying it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from sim.decisions.decisions import Backfill, Keep, Reserve
from sim.decisions.matrix import ReserveRow
from sim.decisions.sentences import words_of
from sim.decisions.wording import Hole, Window
from sim.engine.snapshot import Queued, Snapshot
from sim.history.past import Past
from sim.support.formatting import name, span
from tui.chart.scene import Mark


class FirstPromise(NamedTuple):
    """First reservation of a job: made at the time `time`, for a start at the time `at`."""

    time: float
    at: float


class Promises:
    """First reservation of each job, which does not change once it is found."""

    def __init__(self) -> None:
        self._first: dict[int, FirstPromise] = {}

    def marks(self, history: Past, snapshot: Snapshot, clock: float, selected: int | None) -> Iterator[Mark]:
        """Yield marks for the selected job or the head: its first reserved start, and the latest end to pass it."""
        queued = _awaited(snapshot, selected)
        if queued is None or queued.planned is None:
            return
        first = self._first_of(history, queued, clock) if queued.reserved else None
        if first is not None and (first.at != queued.planned or selected is not None):  # else its frame shows it
            yield Mark(first.at, "promise", f"{name(queued.job)} promised", first.time, _slip(queued, first))
        if (closes := _window(snapshot, queued.job.rank)) is not None:
            yield Mark(closes, "window", f"window for {name(queued.job)}")

    def _first_of(self, history: Past, queued: Queued, clock: float) -> FirstPromise | None:
        rank = queued.job.rank
        known = self._first.get(rank)
        if known is None:
            for step, decision in history.decided_about(rank, queued.job.submit):
                if isinstance(decision, Reserve | ReserveRow):
                    known = self._first[rank] = FirstPromise(history.time_of(step), decision.at)
                    break
        return known if known is not None and known.time <= clock else None


def _slip(queued: Queued, first: FirstPromise) -> str:
    slip = (queued.planned or first.at) - first.at
    return "" if not slip else f", now {'+' if slip > 0 else '−'}{span(abs(slip))}"


def _awaited(snapshot: Snapshot, selected: int | None) -> Queued | None:
    """Return the selected job or, without one, the head of the queue; None if it does not wait."""
    place = (0 if snapshot.queue else None) if selected is None else snapshot.queue.place_of(selected)
    return None if place is None else snapshot.queue[place]


def hole_of(snapshot: Snapshot) -> Hole | None:
    """Return the hole in which jobs may pass the head; None if no reason in this step states one."""
    return next((shown for shown in _shown_in_step(snapshot) if isinstance(shown, Hole)), None)


def _window(snapshot: Snapshot, rank: int) -> float | None:
    """Return the latest end of a job that passes `rank`; None if no reason in this step states one."""
    windows = (shown for shown in _shown_in_step(snapshot) if isinstance(shown, Window))
    return next((window.closes for window in windows if window.head.rank == rank), None)


def _shown_in_step(snapshot: Snapshot) -> Iterator[Hole | Window]:
    for decision in snapshot.decisions:
        if isinstance(decision, Backfill | Keep) and (shows := words_of(decision.because).shows):
            yield shows(decision.because)
