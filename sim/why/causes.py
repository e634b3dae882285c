"""Back to the cause: in which step something last became what it is, and by which decision.

    last_change(history, PlanOf(rank), step)      its planned start moved
    last_change(history, HolderOf(processor), step)   the processor changed hands
    last_change(history, Division(), step)        a boundary between partitions moved

Steps are counted as a cursor is: the answer is the cursor's place from which the change can be seen. What a history
keeps is searched, nothing is computed again.
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
from sim.history.stays import came_in, divided_in, left_in, stretches_on

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
    """The last step after which it was planned otherwise than before.

    What stays as it is was not written. So the same start that is written first in a step was given up between, unless
    all plans were made anew in that step; the same that is written last, after others, is no change. Who takes over
    and does not write it has given it up, and so has who plans for another head, unless its user asked for it. Once it
    begins there is no plan: what is planned after that, as it was thrown out again, is new.
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
    """Does a policy take over, or plan for a head?"""
    return isinstance(decision, Switched) or (isinstance(decision, Reserve) and isinstance(decision.because, OfTheHead))


def _plans_anew(decision: Decision) -> bool:
    """Are all plans made anew in its step?"""
    return isinstance(decision, Switched | Await | Interrupt) or (isinstance(decision, Gone) and not decision.announced)


def _was_asked(plan: Reserve | ReserveRow | Expect) -> bool:
    """Did its user ask for the start?"""
    return not isinstance(plan, Expect) and isinstance(plan.because, AskedFor)


def _switched(history: Past, step: int) -> Switched | None:
    """That another policy took over in a step, if one did."""
    return next((d for d in history.decisions(step - 1) if isinstance(d, Switched)), None)


# A processor


def _holder(history: Past, processor: int, before: int) -> Iterator[Cause | None]:
    """The last step in which somebody came to the processor or left it; at the same step who came tells more.

    The stretches on it are looked at from the last on; where a job has it to itself, whoever came before left before.
    """
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
    """The last step after which the partitions owned otherwise than before."""
    step = next(divided_in(history.as_of(before - 1)), None)
    if step is not None:
        decision = _decision(history, step, lambda d: isinstance(d, Divide | Borrow))
        yield step, decision or _switched(history, step)


# Steps


def _decision(history: Past, step: int, is_it: Callable[[Decision], bool]) -> Decision | None:
    """The last decision of that kind in a step."""
    return next((d for d in reversed(history.decisions(step - 1)) if is_it(d)), None)
