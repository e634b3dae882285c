"""EASY that tries several orders of the jobs behind the head and uses the best one (pyss's greedy EASY)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from sim.decisions.reasons import BestOfOrders, WhenFree
from sim.decisions.reasons_to_wait import WouldDelay
from sim.machine.moment import is_by
from sim.policies.orders import Fcfs
from sim.policies.parameters import parameter
from sim.policies.policy import Ordered
from sim.policies.registry import policy
from sim.workload.model import Job

if TYPE_CHECKING:
    from sim.engine.moment import Moment

TRIED = ("queue", "latest", "narrow", "sjf", "saf")
"""Orders that are tried; of orders that are equally good the first in this list is used."""


@policy("greedy", "pyss")
@dataclass(frozen=True)
class Greedy(Ordered):
    """EASY that tries the jobs behind the head in five orders and uses the best.

    The orders are the queue, the latest arrival, the narrowest, the shortest, and the smallest area first; the best
    starts the most jobs (or processors, or area). In each the rules are EASY's. pyss counts jobs, too, and takes any of
    equally good orders; here it is the first of the list.
    """

    by: Literal["jobs", "processors", "area"] = parameter(
        "jobs",
        "what the best order maximises: jobs, processors or area started",
        choices=("jobs", "processors", "area"),
    )
    plans = "the heads"

    def promises(self) -> bool:
        """Return True if the head's reservation never moves later, which holds for a queue in order of arrival."""
        return self.order == Fcfs()

    def decide(self, now: Moment) -> None:
        head = now.start_in_order()
        if head is None:
            return
        shadow, extra = now.shadow(head)
        now.reserve(head, shadow, WhenFree(now.free, extra + head.procs))
        others: list[Job] = []
        for job in now.easy_candidates(head, shadow, extra):
            if now.in_time(job):
                others.append(job)
            else:
                now.keep(job)
        best = "queue"
        passing: list[Job] = []
        for tail in TRIED:
            found = self._passing(now, now.in_tail(others, tail), head, shadow, extra)
            if not is_by(self._value_of(found), self._value_of(passing)):
                best, passing = tail, found
        for job in passing:
            now.start(job, BestOfOrders(head, shadow, best, len(passing)))
            extra -= 0 if is_by(now.time + job.estimate, shadow) else job.procs
        started = {*passing}
        for job in others:
            if job not in started:
                ends = now.time + job.estimate
                now.keep(job, WouldDelay(head, shadow, ends, extra) if now.fits(job) else None)

    def _value_of(self, jobs: list[Job]) -> float:
        if self.by == "jobs":
            return len(jobs)
        return sum(job.procs * (job.estimate if self.by == "area" else 1) for job in jobs)

    def _passing(self, now: Moment, jobs: list[Job], head: Job, shadow: float, extra: int) -> list[Job]:
        """Return those of `jobs` that pass the head if they are tried in this order. By EASY's two rules, a job must
        end by `shadow` (the head's start) or use only the `extra` processors.
        """
        if now.has_nodes:
            return _passing_on_nodes(now, jobs, head, shadow)
        free = now.free
        passing: list[Job] = []
        for job in jobs:
            is_late = not is_by(now.time + job.estimate, shadow)
            if job.procs <= (min(free, extra) if is_late else free):
                passing.append(job)
                free -= job.procs
                extra -= job.procs if is_late else 0
        return passing


def _passing_on_nodes(now: Moment, jobs: list[Job], head: Job, shadow: float) -> list[Job]:
    """Return the jobs that pass the head on a machine of nodes if they are tried in this order.

    Jobs that would end after `shadow`, the head's start, may pass only if the head still fits at that time.
    """
    plan = now.running_plan()
    passing: list[Job] = []
    for job in jobs:
        ends = now.time + job.estimate
        if not plan.admits(job, now.time, job.estimate):
            continue
        plan.hold(job, now.time, ends)
        if not is_by(ends, shadow) and not plan.admits(head, shadow, head.estimate):
            plan.let_go(job, now.time, ends)
        else:
            passing.append(job)
    return passing
