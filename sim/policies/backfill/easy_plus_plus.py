"""EASY++: EASY with predicted run times (Tsafrir, Etsion & Feitelson 2007, sections 3 to 5)."""

from __future__ import annotations

from bisect import insort
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from sim.decisions.reasons import FitsExtra, InOrder, PredictedBefore, WhenPredicted
from sim.decisions.reasons_to_wait import PredictedToDelay
from sim.decisions.sentences import Unit
from sim.machine.moment import MOMENT, is_by, whole
from sim.policies.columns import Column
from sim.policies.parameters import parameter
from sim.policies.policy import Policy
from sim.policies.registry import policy
from sim.workload.model import Job

if TYPE_CHECKING:
    from sim.engine.moment import Moment

STEPS = (60.0, 300.0, 900.0, 1800.0, 3600.0, 7200.0, 18000.0, 36000.0, 72000.0, 180000.0, 360000.0)
"""Corrections in seconds, added one after the other to a prediction that was too short."""
_UNKNOWN = -1
_History: TypeAlias = tuple[dict[int, float], dict[int, float]]
"""Two mappings from user to run time in seconds: of the user's last finished job, and of the job that the user finished
before it
"""


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

    def decide(self, now: Moment) -> None:
        history, predicted = _learnt(now), now.notes.setdefault("predicted", {})
        for job in now.queued():
            predicted[job.rank] = _predicted(job, history)
        for rank, run in now.running.items():
            if rank not in predicted:
                predicted[rank] = _predicted(run.job, history)
        expected = now.notes["ends"] = {rank: self._end_of(now, rank, end) for end, rank, _ in now.ends}
        ends = sorted((expected[rank], rank, procs) for _, rank, procs in now.ends)
        for head in now.queued():
            if not now.fits(head):
                break
            expected[head.rank] = now.time + predicted[head.rank]
            insort(ends, (expected[head.rank], head.rank, head.procs))
            now.begin(head, InOrder(now.free))
        else:
            return
        start, extra = now.shadow(head, ends)
        now.reserve(head, start, WhenPredicted(now.free, extra + head.procs))
        left = now.beside(head, extra, ends)
        for job in sorted(now.behind(head), key=lambda job: whole(predicted[job.rank])):
            would_end = now.time + predicted[job.rank]
            if not now.fits(job):
                now.keep(job)
            elif is_by(would_end, start):
                expected[job.rank] = would_end
                now.start(job, PredictedBefore(head, start, would_end))
            elif left.admits(job):
                expected[job.rank] = would_end
                now.start(job, FitsExtra(head, start, extra))
                left.count(job)
                extra -= job.procs
            else:
                now.keep(job, PredictedToDelay(head, start, would_end, extra))
        now.wake_once(start)

    def _end_of(self, now: Moment, rank: int, end: float) -> float:
        """Return the predicted end of the running job `rank`, whose end would be `end` according to its estimate."""
        run, lasts = now.running.get(rank), now.notes["predicted"].get(rank)
        if run is None or not run.runs:
            return end
        ran = run.ran_by(now.time)
        for more in STEPS if self.correct == "steps" else (inf,):
            if lasts > ran + MOMENT:
                break
            lasts += more
        return min(end, run.since + lasts - run.ran_before) if lasts > ran + MOMENT else end


def _predicted(job: Job, history: _History) -> float:
    last, before = history
    if job.user not in before:
        return job.estimate
    return min(job.estimate, (last[job.user] + before[job.user]) / 2)


def _learnt(now: Moment) -> _History:
    """Return the run times of each user's last two finished jobs, also if they finished under an earlier policy."""
    notes: dict[str, Any] = now.notes
    done = now.completed if "last" in notes else [now.job(rank) for _, rank in now.finished]
    last, before = notes.setdefault("last", {}), notes.setdefault("before", {})
    for job in done:
        notes.setdefault("predicted", {}).pop(job.rank, None)
        if job.user != _UNKNOWN:
            if job.user in last:
                before[job.user] = last[job.user]
            last[job.user] = now.ran(job.rank)
    return last, before
