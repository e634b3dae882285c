"""First difference of two runs of one workload in visible events of jobs, and what each run did there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from heapq import merge
from itertools import groupby, zip_longest
from math import inf, nextafter
from operator import itemgetter
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from sim.decisions.decisions import Backfill, Decision, Interrupt, Keep, Resume, Start, Suspend, Switched, job_of
from sim.decisions.matrix import Migrate, Place
from sim.decisions.reasons_to_wait import PlannedLater
from sim.decisions.sentences import Reason, say
from sim.engine.engine import Engine
from sim.engine.schedule import Schedule
from sim.engine.view import LiveView, Where
from sim.history.past import Past
from sim.machine.moment import MOMENT
from sim.support.formatting import Clock, clock
from sim.why.wait_reasons import Delayed, PlannedStart, delayed_by, why_it_waits_now
from sim.workload.model import Ints, Job
from sim.workload.pairing import Pairing


class Side(NamedTuple):
    """One of two runs to compare, with its history up to the last step computed by now."""

    history: Past
    schedule: Schedule
    since: int = 0
    """First step that is compared: after a switch of policies, earlier steps are the same."""
    named: Ints | None = None
    """For each job, by rank: its rank in the first run, by which runs are compared, -1 if only one run has the job;
    None if both runs have the same jobs.
    """

    @classmethod
    def of(cls, engine: Engine, named: Ints | None = None) -> Side:
        return cls(engine.history, engine.schedule(), named=named)


def names_of_ranks(pairing: Pairing | None) -> tuple[Ints | None, Ints | None]:
    """Return the ranks by which two runs are compared, as in `Side.named`."""
    if pairing is None:
        return None, None
    return np.where(pairing.there >= 0, np.arange(len(pairing.there)), -1), pairing.here


class Act(NamedTuple):
    """Event of a job; `limit` is the longest time in seconds of a speculative run, else None."""

    verb: str
    """Verb for the event: starts, resumes, suspended, queued (the job waits again), migrates, ends."""
    rank: int
    limit: float | None = None


Acts: TypeAlias = tuple[Act, ...]
_SEEN = (Start, Backfill, Place, Resume, Suspend, Migrate)


@dataclass(frozen=True)
class Divergence:
    """First instant at which an event of a job happens in one run and not in the other."""

    time: float
    steps: tuple[int, int]
    """For each run: number of its steps up to and including that instant."""
    only: tuple[Acts, Acts]
    """Events at that instant of only the first run, and of only the second, in the order of decisions."""

    @property
    def ranks(self) -> tuple[int, ...]:
        """Return the jobs of each run's first event that the other lacks, once if it is the same."""
        return tuple(dict.fromkeys(acts[0].rank for acts in self.only if acts))

    def ranks_in(self, side: int, pairing: Pairing | None) -> tuple[int, ...]:
        """Return the ranks that the jobs of `ranks` have in the first run (0) or the second one (1)."""
        return self.ranks if pairing is None or not side else tuple(pairing.there[list(self.ranks)].tolist())


def part(first: Side, second: Side) -> Divergence | None:
    """Return the first difference of the runs; None if there is no difference in the part that both have computed."""
    sides = first, second
    known = min(side.history.last_time for side in sides)
    never = (inf, ())
    for instants in zip_longest(*map(_instants, sides), fillvalue=never):
        time = min(at for at, _ in instants)
        if time > known:
            return None
        here, there = (acts if at == time else () for at, acts in instants)
        only = _without(here, there), _without(there, here)
        if any(only):
            steps = tuple(1 + (-1 if (at := side.history.step_at(time)) is None else at) for side in sides)
            return Divergence(time, (steps[0], steps[1]), only)
    return None


def _without(acts: Acts, others: Acts) -> Acts:
    return tuple(act for act in acts if act not in others)


def _instants(side: Side) -> Iterator[tuple[float, Acts]]:
    """Yield (time, events of jobs at that time) for each instant at which a job has an event, in order of time."""
    both = merge(_decided(side), _ends_in_order(side.schedule), key=itemgetter(0))
    named = side.named
    if named is not None:
        both = ((time, act._replace(rank=int(named[act.rank]))) for time, act in both if named[act.rank] >= 0)
    for time, acts in groupby(both, key=itemgetter(0)):
        yield time, tuple(act for _, act in acts)


def _decided(side: Side) -> Iterator[tuple[float, Act]]:
    history, lost = side.history, set[tuple[int, int]]()
    for step, decision in history.all_decisions(side.since):
        time = history.time_of(step)
        match decision:
            case Interrupt(job=job):
                lost.add((step, job.rank))
            case Start(job=job, limit=limit) | Backfill(job=job, limit=limit):
                yield time, Act("starts", job.rank, limit)
            case Place(job=job):
                comes_back = (step, job.rank) not in lost and _comes_back(history.as_of(step), job.rank)
                yield time, Act("resumes" if comes_back else "starts", job.rank)
            case Resume(job=job):
                yield time, Act("resumes", job.rank)
            case Suspend(job=job):
                yield time, Act("suspended", job.rank)
            case Migrate(job=job):
                yield time, Act("migrates", job.rank)
            case Switched():
                yield from ((time, act) for act in _put_aside(history, time))


def _comes_back(before: Past, rank: int) -> bool:
    """Return True if placing the job in the matrix, after the history `before`, resumes it from a suspension."""
    ran = before.of(rank)
    return bool(ran) and ran[-1].ended_by not in ("queued", "cut", "interrupted")


def _put_aside(history: Past, time: float) -> Iterator[Act]:
    left = [s for s in history.between(nextafter(time, -inf), time) if s.rows and s.end == time]
    stays = {s.rank for s in history.between(time, nextafter(time, inf))}
    for stretch in sorted(left):
        if stretch.ended_by in ("suspended", "queued") and stretch.rank not in stays:
            yield Act(stretch.ended_by, stretch.rank)


def _ends_in_order(schedule: Schedule) -> Iterator[tuple[float, Act]]:
    order = np.argsort(schedule.end, kind="stable")
    for rank in order[: np.count_nonzero(~np.isnan(schedule.end))].tolist():
        yield float(schedule.end[rank]), Act("ends", rank)


# Reasons


@dataclass(frozen=True)
class Account:
    """Account of what one run did with a job at the time of the first difference, or of why the job waits then."""

    job: Job
    act: Decision | None = None
    """Decision about the job at that instant; None if the run made no such decision."""
    waits: Reason | None = None
    """Reason why the job waits; None if it does not wait or the reason is unknown."""
    delays: Delayed | None = None
    """Planned job that would be delayed if this job started now; None if that is not why this job waits."""
    where: Where | Literal["finished"] = "queue"
    """State of the job after the step: in the queue, running, suspended, in the matrix, or finished."""


def account(engine: Engine, rank: int, time: float) -> Account:
    """Return what a run did with the job at `time`, and why; the engine has just made all steps up to then."""
    moment = engine.moment
    job, where = moment.jobs[rank], moment.where(rank)
    own = [d for d in moment.decisions if getattr(d, "job", None) == job]
    act = next((d for d in own if isinstance(d, _SEEN)), None) if engine.now == time else None
    if where == "suspended":
        return Account(job, act, next((d.because for d in own if isinstance(d, Keep)), None), where=where)
    if where != "queue":
        return Account(job, act, where=where or "finished")
    planned = moment.reserved.get(rank, moment.expected.get(rank))
    considered = moment.rebuild if moment.takes_turns else moment.decisions
    waits = why_it_waits_now(moment, job, considered, (planned, None))
    return Account(job, act, waits, _delayed(moment, job) if isinstance(waits, PlannedLater) else None)


def _delayed(moment: LiveView, job: Job) -> Delayed | None:
    """Return the first planned job that a start of `job` now would delay, by a new plan, or None."""
    plan, now, keeps = moment.running_plan(), moment.time or 0, moment.rules.keeps_reservations
    if moment.owners or not plan.admits(job, now, job.estimate):
        return None
    planned = (
        PlannedStart(q, at, lasts, stands=keeps or q.rank in moment.granted)
        for q, at, lasts in moment.queue.plans()
        if q.rank in moment.reserved
    )
    return next(delayed_by(job, now, plan, planned), None)


# Job by job.


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
    for rank in {**here, **there}:
        pairs = zip_longest(here.get(rank, ()), there.get(rank, ()))
        apart = next(((one, other) for one, other in pairs if not _is_same(one, other)), None)
        if apart is not None:
            found.append(Different(first.schedule.workload.jobs[rank], *apart))
    return sorted(found, key=lambda each: (each.time, each.job.rank))


def _by_job(side: Side) -> dict[int, list[Decided]]:
    """Return the decisions on each job, by its rank in the first run."""
    found: dict[int, list[Decided]] = {}
    for step, decision in side.history.all_decisions(side.since):
        if type(decision) not in _KINDS or (job := job_of(decision)) is None:
            continue
        rank = job.rank if side.named is None else int(side.named[job.rank])
        if rank >= 0:
            found.setdefault(rank, []).append(Decided(side.history.time_of(step), decision))
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
