"""Decisions that a policy yields instead of making calls: each is carried out as the call for which it stands."""

from __future__ import annotations

from collections.abc import Iterable

from sim.decisions.decisions import Backfill, Expect, Keep, Reserve, Resume, Start, Suspend, Wake
from sim.engine.moment import Moment
from sim.support.errors import DecisionError


def carry_out(now: Moment, decisions: Iterable[object]) -> None:
    """Carry out the decisions that a policy yields, each before the next one is made."""
    for decision in decisions:
        match decision:
            case Start(job, because, on, limit):
                now._start(job, because, on, limit, False)
            case Backfill(job, because, on, limit):
                now._start(job, because, on, limit, True)
            case Reserve(job, at, because, lasts, on):
                now._reserve(job, at, because, lasts, on)
            case Expect(job, at):
                now.expect(job, at)
            case Suspend(job, because, overhead):
                now.suspend(job, because, overhead)
            case Resume(job, because, overhead, on):
                now.resume(job, because, overhead, on)
            case Wake(at, _, True):
                now.wake_once(at)
            case Wake(at, during):
                now.wake(at, during)
            case Keep(job, because):
                now.keep(job, because)
            case _:
                known = "Start, Backfill, Reserve, Expect, Suspend, Resume, Wake or Keep"
                raise DecisionError(
                    f"a policy cannot yield an object of type {type(decision).__name__}: expected {known}"
                )
