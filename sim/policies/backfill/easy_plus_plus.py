"""EASY++: EASY with predicted run times (Tsafrir, Etsion & Feitelson 2007, sections 3 to 5)."""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterator
from dataclasses import dataclass
from math import inf
from typing import Any, Literal, TypeAlias

from sim.decisions.decisions import Backfill, Decision, Keep, Reserve, Start, Wake
from sim.decisions.reasons import InOrder, PredictedBefore, WhenPredicted
from sim.decisions.reasons_to_wait import PredictedToDelay
from sim.decisions.sentences import Unit
from sim.machine.moment import MOMENT
from sim.machine.nodes import Leftover
from sim.machine.profile import Extra, Profile, shadow
from sim.policies.backfill.room import delays, no_room, passes
from sim.policies.columns import Column
from sim.policies.parameters import parameter
from sim.policies.policy import Policy
from sim.policies.registry import policy
from sim.policies.view import View
from sim.workload.model import Job

STEPS = (60.0, 300.0, 900.0, 1800.0, 3600.0, 7200.0, 18000.0, 36000.0, 72000.0, 180000.0, 360000.0)
"""Corrections in seconds, added one after the other to a prediction that was too short."""
_UNKNOWN = -1
_History: TypeAlias = tuple[dict[int, float], dict[int, float]]
"""Two mappings from user to run time: of the user's last finished job, and of the job finished before it"""


@policy("easy++", "Tsafrir, Etsion & Feitelson 2007", easypp="easy++")
@dataclass(frozen=True)
class EasyPlusPlus(Policy):
    """EASY by arrival that expects a job to run as long as its user's last two jobs did on average.

    Never longer than its estimate, at which it is killed as ever; if the user is unknown or has finished fewer than two
    jobs, the estimate is expected. Jobs behind the head are tried shortest prediction first. A running job that
    outlives its prediction gets a longer one: a minute more, then 5, 15 and 30 minutes, 1, 2, 5, 10, 20, 50 and 100
    hours, up to its estimate. The head's start is no promise, as a prediction may be too short; the policy runs a pass
    at that time.

    pyss rounds averages down to whole seconds, corrects to the estimate at once (correct=estimate), and runs a pass
    only when a job arrives or ends.
    """

    correct: Literal["steps", "estimate"] = parameter(
        "steps",
        "how a prediction that was too short grows: in steps, or to the estimate",
        choices=("steps", "estimate"),
    )
    plans = "the heads"
    columns = (Column("predicted", "how long it is expected to run", unit=Unit.SPAN),)
    predicted_ends = Column("ends", "when it is expected to end", unit=Unit.MOMENT)

    def decide(self, view: View) -> Iterator[Decision]:
        history, predicted = _learnt(view), view.notes.setdefault("predicted", {})
        queue = view.queue
        for job in queue:
            predicted[job.rank] = _predicted(job, history)
        for rank, run in view.running.items():
            predicted.setdefault(rank, _predicted(run.job, history))
        expected = view.notes["ends"] = {rank: self._end_of(view, rank, end) for end, rank, _ in view.ends}
        ends = sorted((expected[rank], rank, procs) for _, rank, procs in view.ends)
        waiting = iter(queue)
        for head in waiting:
            if not view.fits(head):
                break
            expected[head.rank] = view.now + predicted[head.rank]
            insort(ends, (expected[head.rank], head.rank, head.procs))
            yield Start(head, InOrder(view.free))
        else:
            return
        start, then = _room(view, ends, head)
        yield Reserve(head, start, WhenPredicted(view.free, then))
        left = view.beside(head, then - head.procs, ends)
        yield from self._pass(view, head, start, left, sorted(waiting, key=lambda j: predicted[j.rank]))
        yield Wake(start, is_renewed=True)

    def _pass(self, view: View, head: Job, start: float, left: Extra | Leftover, tail: list[Job]) -> Iterator[Decision]:
        """Yield the decisions on the jobs in `tail`, which are behind the head: EASY's two rules, with predicted run
        times in place of estimates. `start` is the head's start, and `left` are the resources left over then.
        """
        now, predicted = view.now, view.notes["predicted"]
        for job in tail:
            ends = now + predicted[job.rank]
            if not view.fits(job):
                if view.curious:
                    yield Keep(job, no_room(view, job))
            elif ends <= start:
                view.notes["ends"][job.rank] = ends
                yield Backfill(job, PredictedBefore(head, start, ends))
            elif left.admits(job):
                view.notes["ends"][job.rank] = ends
                yield Backfill(job, passes(head, start, left))
                left.count(job)
            elif view.curious:
                yield Keep(
                    job,
                    PredictedToDelay(head, start, ends, left.left)
                    if isinstance(left, Extra)
                    else delays(head, start, ends, left),
                )

    def _end_of(self, view: View, rank: int, end: float) -> float:
        """Return the predicted end of the running job `rank`, whose end would be `end` according to its estimate."""
        run, lasts = view.running.get(rank), view.notes["predicted"].get(rank)
        if run is None or not run.runs:
            return end
        ran = run.ran_by(view.now)
        for more in STEPS if self.correct == "steps" else (inf,):
            if lasts > ran + MOMENT:
                break
            lasts += more
        return min(end, run.since + lasts - run.ran_before) if lasts > ran + MOMENT else end


def _room(view: View, ends: list[tuple[float, int, int]], head: Job) -> tuple[float, int]:
    """Return the time at which the head fits if running jobs leave at `ends`, and the number of processors free
    then.
    """
    if view.has_nodes:
        at, extra = view.shadow(head, ends)
        return at, extra + head.procs
    if not view.machine_ahead:
        return shadow(view.free, ends, head.procs)
    plan = Profile.of_changes(view.now, view.free, sorted([*ends, *view.machine_ahead]))
    at = plan.earliest(head.procs, head.estimate, view.now)
    return at, plan.least(at, at + head.estimate)


def _predicted(job: Job, history: _History) -> float:
    """Return the predicted run time in seconds of a job that starts now."""
    last, before = history
    if job.user not in before:
        return job.estimate
    return min(job.estimate, (last[job.user] + before[job.user]) / 2)


def _learnt(view: View) -> _History:
    """Return the run times of each user's last two finished jobs, also if they finished under an earlier policy."""
    notes: dict[str, Any] = view.notes
    done = view.completed if "last" in notes else [view.job(rank) for _, rank in view.finished]
    last, before = notes.setdefault("last", {}), notes.setdefault("before", {})
    for job in done:
        notes.setdefault("predicted", {}).pop(job.rank, None)
        if job.user != _UNKNOWN:
            if job.user in last:
                before[job.user] = last[job.user]
            last[job.user] = view.ran(job.rank)
    return last, before
