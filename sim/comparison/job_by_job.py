"""Jobs that two runs decide differently, each with the first decision of either run that the other lacks."""

from __future__ import annotations

from itertools import zip_longest
from typing import NamedTuple

from sim.comparison.divergence import Side
from sim.decisions.decisions import Backfill, Decision, Resume, Start, Suspend, job_of
from sim.decisions.matrix import Migrate, Place
from sim.decisions.sentences import say
from sim.machine.moment import MOMENT
from sim.support.formatting import Clock, clock
from sim.workload.model import Job


class Decided(NamedTuple):
    """Decision about a job, with the time at which it was made."""

    time: float
    decision: Decision

    def told(self, at: Clock = clock) -> str:
        return f"{at(self.time)}: {say(self.decision, at)}"


class Different(NamedTuple):
    """Job with the first decision in each run that the other did not make, or None."""

    job: Job
    first: Decided | None
    second: Decided | None

    @property
    def time(self) -> float:
        return min(decided.time for decided in (self.first, self.second) if decided)


def different(first: Side, second: Side) -> list[Different]:
    """Return the jobs about which two runs decide differently, by time; reasons do not count."""
    here, there = _by_job(first), _by_job(second)
    found = []
    for job in {**here, **there}:
        pairs = zip_longest(here.get(job, ()), there.get(job, ()))
        apart = next(((one, other) for one, other in pairs if not _is_same(one, other)), None)
        if apart is not None:
            found.append(Different(job, *apart))
    return sorted(found, key=lambda each: (each.time, each.job.rank))


def _by_job(side: Side) -> dict[Job, list[Decided]]:
    found: dict[Job, list[Decided]] = {}
    for step, decision in side.history.all_decisions(side.since):
        if type(decision) in _KINDS and (job := job_of(decision)) is not None:
            found.setdefault(job, []).append(Decided(side.history.time_of(step), decision))
    return found


_KINDS: dict[type, str] = {
    Start: "starts", Backfill: "starts", Place: "starts", Resume: "resumes", Suspend: "suspended", Migrate: "migrates",
}  # fmt: skip


def _is_same(one: Decided | None, other: Decided | None) -> bool:
    if one is None or other is None:
        return one is other
    limits = (getattr(each.decision, "limit", None) for each in (one, other))
    is_same_kind = _KINDS[type(one.decision)] == _KINDS[type(other.decision)] and len({*limits}) == 1
    return is_same_kind and abs(one.time - other.time) <= MOMENT
