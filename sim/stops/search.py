"""To the next step at which a stop fires, or back to the last one.

What a history tells is looked up in its columns; for anything else the steps are made again, one after the other, from
a checkpoint on. A search goes on into what has not been computed yet, and can be told to quit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf
from typing import TypeAlias

from sim.engine.engine import Engine
from sim.stops.combinations import Reading
from sim.stops.grammar import Stop
from sim.stops.instants import Instant, OfEngine, Record
from sim.timeline.timeline import Timeline

_ASK = 64
"""After so many steps it is asked whether to quit."""
_AHEAD = 0.05
"""Seconds for which is computed at once what is not known yet."""
_CHUNK = 512
"""Backwards, so many steps are looked at from their beginning on."""

Found: TypeAlias = tuple[int, Stop]
"""After how many steps which stop fired."""
Quit: TypeAlias = Callable[[int], bool]
"""Given the step that a search has come to, return True if it is to quit."""


def search_forward(
    timeline: Timeline,
    stops: Sequence[Stop],
    should_quit: Quit,
    until_step: float = inf,
    until_time: float = inf,
) -> Found | None:
    """Go to the next step after the cursor at which one of the stops fires.

    If none does, the cursor is put after the last step that was looked at; if it is told to quit, it stays.
    """
    looker, step = _Looker(timeline, stops), timeline.step
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
    """Go to the last step before the cursor at which one of the stops fires; if there is none, the cursor stays."""
    looker, last = _Looker(timeline, stops), timeline.step - 1
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
    """Is there such a step? It is computed if need be."""
    if timeline.computed < step:
        timeline.compute_for(_AHEAD)
    return timeline.computed >= step


class _Looker:
    """Looks at one step after the other and says which stop fired between the last two."""

    def __init__(self, timeline: Timeline, stops: Sequence[Stop]) -> None:
        self._timeline, self._stops = timeline, stops
        self._cheap = all(stop.cheap for stop in stops)
        self._record: Record | None = None
        self._engine: Engine | None = None
        self._before: list[Reading] = []

    def begin_again(self) -> None:
        """Look next at an earlier step; the columns that were read stay."""
        self._engine, self._before = None, []

    def look(self, step: int) -> Stop | None:
        instant = self._instant(step)
        before, self._before = self._before, [stop.read(instant) for stop in self._stops]
        seen = zip(self._stops, before, self._before, strict=False)  # at first there is nothing before
        return next((stop for stop, was, now in seen if stop.fired(was, now)), None)

    def _instant(self, step: int) -> Instant:
        if self._cheap:
            if self._record is None or self._record.steps < step:
                self._record = Record(self._timeline.history, self._timeline.workload)
            return self._record.after(step)
        self._engine = self._timeline.branch.replay(step, self._engine)
        assert self._engine is not None
        return OfEngine(self._engine)
