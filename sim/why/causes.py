"""Back to the cause: in which step something last became what it is, and by which decision.

    last_change(history, PlanOf(rank), step)      its planned start moved
    last_change(history, HolderOf(processor), step)   the processor changed hands
    last_change(history, Division(), step)        a boundary between partitions moved

Steps are counted as a cursor is: the answer is the cursor's place from which the change can be seen. What a history
keeps is searched, nothing is computed again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import inf, nextafter
from typing import NamedTuple, TypeAlias

from sim.decisions.decisions import Backfill, Borrow, Decision, Divide, Reserve, Resume, Start, Suspend
from sim.decisions.matrix import Migrate, Place, Rehome, ReserveRow
from sim.history.history import Past
from sim.history.stretch import Stretch

_ASK = 1024
"""After so many steps the caller may give up."""


class PlanOf(NamedTuple):
    """The planned start of the job of this rank."""

    rank: int


class HolderOf(NamedTuple):
    """The job on this processor. Where rows take turns: the jobs in its column of the matrix."""

    processor: int


class Division(NamedTuple):
    """The boundaries between the partitions."""


What: TypeAlias = PlanOf | HolderOf | Division
Cause: TypeAlias = tuple[int, Decision | None]
"""The step, and the decision; None: it happened by itself, as when a job ends."""


def last_change(
    history: Past, what: What, before_step: int, should_quit: Callable[[], bool] = lambda: False
) -> Cause | None:
    """The last change in a step before this one; None if there is none, or the caller gave up."""
    for cause in trace_back(history, what, before_step):
        if cause is not None or should_quit():
            return cause
    return None


def trace_back(history: Past, what: What, before_step: int) -> Iterator[Cause | None]:
    """The last change, and before it a None from time to time, at which one may stop asking."""
    before = min(before_step, history.steps + 1)
    if before <= 1:
        return iter(())
    match what:
        case PlanOf(rank):
            return _plan(history, rank, before)
        case HolderOf(processor):
            return _holder(history, processor, before)
        case Division():
            return _division(history, before)


# A planned start


def _plan(history: Past, rank: int, before: int) -> Iterator[Cause | None]:
    """Policies may plan the same start at every step: what counts is the first of those that are equal."""
    latest: tuple[int, Reserve | ReserveRow] | None = None
    for step in range(before - 1, 0, -1):
        if step % _ASK == 0:
            yield None
        for decision in reversed(history.decisions(step - 1)):
            if isinstance(decision, Reserve | ReserveRow) and decision.job.rank == rank:
                if latest and latest[1].at != decision.at:
                    yield latest
                    return
                latest = step, decision
    if latest:
        yield latest


# A processor


def _holder(history: Past, processor: int, before: int) -> Iterator[Cause | None]:
    """Ever longer windows of the past are looked at."""
    end, beginning = history.time_of(before - 2), history.time_of(0)
    width = max((end - beginning) / 1024, 1.0)
    while True:
        start = max(end - width, beginning)
        found = _last_event(history, history.between(start, nextafter(end, inf), 1 << processor), before)
        if found:
            yield found
            return
        if start == beginning:
            return
        yield None
        end, width = start, 2 * width


def _last_event(history: Past, stretches: list[Stretch], before: int) -> Cause | None:
    """The last beginning or end of a stretch before a step; at the same step a beginning tells more.

    What began and ended at one instant, a job that was suspended as soon as it had started, changed nothing.
    """
    stretches = [s for s in stretches if s.end != s.start]
    events = [(_step(history, s.start), True, s.rank) for s in stretches]
    events += [(_step(history, s.end), False, s.rank) for s in stretches if s.end is not None]
    step, begins, rank = max((event for event in events if event[0] < before), default=(0, False, -1))
    if not step:
        return None
    kinds = (Start, Backfill, Resume, Place, Migrate, Rehome) if begins else (Suspend,)
    return step, _decision(history, step, lambda d: isinstance(d, kinds) and d.job.rank == rank)


# Partitions


def _division(history: Past, before: int) -> Iterator[Cause | None]:
    end = nextafter(history.time_of(before - 2), inf)
    for since, _ in reversed(history.owners_between(history.time_of(before - 2), end)):
        step = _step(history, since)
        if step < before:
            yield step, _decision(history, step, lambda d: isinstance(d, Divide | Borrow))


# Steps


def _step(history: Past, time: float) -> int:
    """The last step at that time, or before it, as a cursor counts."""
    found = history.step_at(time)
    return 0 if found is None else found + 1


def _decision(history: Past, step: int, is_it: Callable[[Decision], bool]) -> Decision | None:
    """The last decision of that kind in a step."""
    return next((d for d in reversed(history.decisions(step - 1)) if is_it(d)), None)
