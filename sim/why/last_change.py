"""Search for the last change of a value: the step and the decision that changed it.

`last_change(history, PlanOf(rank), step)` finds when the job's planned start moved; with `HolderOf(processor)` it finds
when the processor got another job. Steps are counted as on the screen: after the returned step, the change can be seen.
The search reads the recorded history and computes nothing again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple, TypeAlias

from sim.decisions.decisions import (
    Await,
    Backfill,
    Borrow,
    Decision,
    Divide,
    Expect,
    Gone,
    Interrupt,
    Reserve,
    Resume,
    Start,
    Suspend,
    Switched,
)
from sim.decisions.matrix import Migrate, Place, Rehome, ReserveRow
from sim.decisions.reasons import AskedFor, OfTheHead
from sim.history.past import Past
from sim.history.stretch_queries import came_in, divided_in, left_in, stretches_on

_ASK = 1024
"""Number of steps after which the search yields None, so that the caller may stop it."""


class PlanOf(NamedTuple):
    """Value whose change is searched for: the planned start of the job of this rank."""

    rank: int


class HolderOf(NamedTuple):
    """Change of the job on this processor or, where rows take turns, in this column of the matrix."""

    processor: int


class Division(NamedTuple):
    """Value whose change is searched for: which processors the partitions own."""


What: TypeAlias = PlanOf | HolderOf | Division
Cause: TypeAlias = tuple[int, Decision | None]
"""(step, decision) that changed a value; None if something else did, such as the end of a job."""


def last_change(
    history: Past, what: What, before_step: int, should_quit: Callable[[], bool] = lambda: False
) -> Cause | None:
    """Return the last change before a step, if any; None as well if `should_quit` returned True."""
    for cause in trace_back(history, what, before_step):
        if cause is not None or should_quit():
            return cause
    return None


def trace_back(history: Past, what: What, before_step: int) -> Iterator[Cause | None]:
    """Yield the last change before a step, if any; None now and then, so that the caller may stop it."""
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
    """Yield the last step before `before` in which the job's planned start changed.

    Yield None now and then during the search, so that it can be stopped. The history records a plan only if it
    changes, and a step may record several starts of one job, of which the last counts:

    - If the last equals the start before the step, the step changed nothing.
    - If already the first equals that start, the plan was dropped in between, unless the step computes all plans again.
    - A plan is dropped without a record if another policy takes over, or plans for another head of the queue (unless
      the user requested the start), or if the job starts. If the job loses its work later, its next plan is new.
    """
    latest: tuple[int, Reserve | ReserveRow | Expect, float] | None = None
    is_anew = False
    for step in range(before - 1, 0, -1):
        if step % _ASK == 0:
            yield None
        decisions = history.decisions(step - 1)
        if latest and any(isinstance(d, Start | Backfill | Place) and d.job.rank == rank for d in decisions):
            break
        plans = [d for d in decisions if isinstance(d, Reserve | ReserveRow | Expect) and d.job.rank == rank]
        if not plans:
            if latest and not _was_asked(latest[1]) and any(map(_plans_for_others, decisions)):
                break
            continue
        if latest and latest[1].at != plans[-1].at:
            break
        if latest and latest[2] == plans[-1].at and not is_anew:
            break
        switch = next((each for each in history.switches if each.step == step), None)
        latest, is_anew = (step, plans[-1], plans[0].at), any(map(_plans_anew, decisions))
        if switch is not None and switch.planned.get(rank) != plans[-1].at:
            break
    if latest:
        yield latest[:2]


def _plans_for_others(decision: Decision) -> bool:
    return isinstance(decision, Switched) or (isinstance(decision, Reserve) and isinstance(decision.because, OfTheHead))


def _plans_anew(decision: Decision) -> bool:
    return isinstance(decision, Switched | Await | Interrupt) or (isinstance(decision, Gone) and not decision.announced)


def _was_asked(plan: Reserve | ReserveRow | Expect) -> bool:
    return not isinstance(plan, Expect) and isinstance(plan.because, AskedFor)


def _switched(history: Past, step: int) -> Switched | None:
    return next((d for d in history.decisions(step - 1) if isinstance(d, Switched)), None)


# A processor


def _holder(history: Past, processor: int, before: int) -> Iterator[Cause | None]:
    """Yield the last step before `before` in which a job got or left the processor, with its decision."""
    past, latest = history.as_of(before - 1), (0, False, -1)
    for place, index in enumerate(stretches_on(past, processor), 1):
        if place % _ASK == 0:
            yield None
        stretch, came, left = past.stretch(index), came_in(past, index, processor), left_in(past, index, processor)
        if came and came == left:
            continue  # suspended as soon as it had started
        if came:
            latest = max(latest, (came, True, stretch.rank))
        if left:
            latest = max(latest, (left, False, stretch.rank))
        if latest[0] and not stretch.rows:
            break
    step, comes, rank = latest
    if step:
        kinds = (Start, Backfill, Resume, Place, Migrate, Rehome) if comes else (Suspend, Migrate, Interrupt)
        own = _decision(history, step, lambda d: isinstance(d, kinds) and d.job.rank == rank)
        yield step, own or _switched(history, step)


# Partitions


def _division(history: Past, before: int) -> Iterator[Cause | None]:
    step = next(divided_in(history.as_of(before - 1)), None)
    if step is not None:
        decision = _decision(history, step, lambda d: isinstance(d, Divide | Borrow))
        yield step, decision or _switched(history, step)


# Steps


def _decision(history: Past, step: int, is_it: Callable[[Decision], bool]) -> Decision | None:
    return next((d for d in reversed(history.decisions(step - 1)) if is_it(d)), None)
