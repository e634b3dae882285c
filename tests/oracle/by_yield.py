"""The backfilling policies as generators: copies of their earlier definitions, which yield decisions and do not use
`Pass`.

They are not registered; `OLD` maps the name of each policy to its earlier definition.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf

from sim.decisions.decisions import Backfill, Decision, Keep, Reserve, Start
from sim.decisions.reasons import (
    Compressed,
    Due,
    EndsBefore,
    Fits,
    InOrder,
    InWindow,
    NewPlan,
    Planned,
)
from sim.decisions.reasons_on_nodes import RoomLater
from sim.decisions.reasons_to_wait import PlannedLater, WindowCloses
from sim.machine.moment import is_by, whole
from sim.policies.backfill import conservative, easy, fcfs, firstfit, relaxed, replan
from sim.policies.backfill.tails import in_tail
from sim.policies.multiqueue.multiqueue import MultiQueue
from sim.policies.policy import Policy
from sim.policies.view import View
from sim.workload.model import Job
from tests.oracle.multiqueue import OldMultiQueue
from tests.oracle.room import at_hole, at_shadow, delays, no_room, passes, start_in_order


@dataclass(frozen=True)
class OldFirstComeFirstServed(fcfs.FirstComeFirstServed):
    def decide(self, view: View) -> Iterator[Decision]:
        for job in view.queue:
            if not view.fits(job):
                if view.curious:
                    yield Keep(job, no_room(view, job))
                return
            yield Start(job, InOrder(view.free))


@dataclass(frozen=True)
class OldFirstFit(firstfit.FirstFit):
    def decide(self, view: View) -> Iterator[Decision]:
        start: type[Start | Backfill] = Start
        free, curious = view.free, view.curious
        for job in view.queue:
            if job.procs <= free and view.fits(job):
                yield start(job, Fits(free))
                free = view.free
            else:
                start = Backfill
                if curious:
                    yield Keep(job, no_room(view, job))


@dataclass(frozen=True)
class OldEasy(easy.Easy):
    def decide(self, view: View) -> Iterator[Decision]:
        queue, fits = iter(view.queue), view.fits
        for head in queue:
            if not fits(head):
                break
            yield Start(head, InOrder(view.free))
        else:
            return
        if self.depth > 1:
            yield from self._old_deep(view, [head, *queue])
            return
        now, free, curious, looks = view.now, view.free, view.curious, view.has_nodes or view.closes < inf
        shadow, extra = view.shadow(head)
        left = view.beside(head, extra)
        yield Reserve(head, shadow, at_shadow(view, head, extra))
        for job in in_tail(queue, self.tail):
            if job.procs > free or (looks and not view.fits(job)):
                if curious:
                    yield Keep(job, no_room(view, job))
            elif is_by(now + job.estimate, shadow):
                yield Backfill(job, EndsBefore(head, shadow, now + job.estimate))
                free = view.free
            elif left.admits(job):
                yield Backfill(job, passes(head, shadow, left))
                left.count(job)
                free = view.free
            elif curious:
                yield Keep(job, delays(head, shadow, now + job.estimate, left))

    def _old_deep(self, view: View, queue: list[Job]) -> Iterator[Decision]:
        plan, heads = view.plan.copy(), 0
        for place, job in enumerate(queue, 1):
            at = plan.find(job, view.now)
            on = plan.hold(job, at, at + job.estimate)
            if at == view.now:
                yield Backfill(job, Planned(), on)
            elif heads < self.depth:
                heads += 1
                yield Reserve(job, at, at_hole(view))
                if heads == self.depth:
                    queue[place:] = in_tail(queue[place:], self.tail)
            else:
                if view.curious:
                    later = RoomLater(at) if view.has_nodes else PlannedLater(at, view.free)
                    yield Keep(job, later if view.fits(job) else no_room(view, job))
                plan.let_go(job, at, at + job.estimate)


@dataclass(frozen=True)
class OldRelaxed(relaxed.Relaxed):
    def decide(self, view: View) -> Iterator[Decision]:
        queue = iter(view.queue)
        head = yield from start_in_order(queue, view)
        if head is None:
            return
        now = view.now
        shadow, extra = view.shadow(head)
        yield Reserve(head, shadow, at_shadow(view, head, extra))
        closes, passed = now + self._old_window(head, shadow - now, view.procs), False
        for job in queue:
            if not view.fits(job):
                if view.curious:
                    yield Keep(job, no_room(view, job))
            elif is_by(now + job.estimate, closes):
                yield Backfill(job, InWindow(head, now + job.estimate, closes))
                passed = True
            elif view.curious:
                yield Keep(job, WindowCloses(head, now + job.estimate, closes))

        if passed and not is_by((later := view.shadow(head))[0], shadow):
            yield Reserve(head, later[0], at_shadow(view, head, later[1]))

    def _old_window(self, head: Job, hpwait: float, procs: int) -> float:
        if self.relative == "runtime":
            return hpwait + (self.omega - 1) * head.estimate
        if self.relative == "cpu":
            return hpwait + (self.omega - 1) * head.estimate * head.procs / max(procs, head.procs)
        return self.omega * hpwait


@dataclass(frozen=True)
class OldReplan(replan.Replan):
    def decide(self, view: View) -> Iterator[Decision]:
        now, plan = view.now, view.plan.copy()
        start: type[Start | Backfill] = Start
        for job in view.queue:
            at = plan.put(job, now)
            if at == now:
                yield start(job, Planned(), plan.seats_of(job))
            else:
                start = Backfill
                yield Reserve(job, at, NewPlan())


@dataclass(frozen=True)
class OldConservative(conservative.Conservative):
    def decide(self, view: View) -> Iterator[Decision]:
        if view.ended_early:
            jobs = self._compression_order(view)
            for job, was, at in view.plan.compression(view.now, jobs, view.reserved):
                yield Reserve(job, at, Compressed(was))
        for job in view.arrived:
            at = view.plan.find(job, view.now)
            yield Reserve(job, at, at_hole(view))
        start: type[Start | Backfill] = Start
        now, reserved = view.now, view.reserved
        if min(reserved.values(), default=inf) > now:
            return
        for job in view.queue:
            if reserved[job.rank] <= now and view.has_room(job):
                yield start(job, Due())
            else:
                start = Backfill

    def _compression_order(self, view: View) -> list[Job]:
        if self.compress == "start":
            reserved = view.reserved
            return [view.job(rank) for _, rank in sorted((whole(at), rank) for rank, at in reserved.items())]
        if self.compress == "queue":
            return [job for job in view.queue if job.rank in view.reserved]
        return []


OLD: dict[type[Policy], type[Policy]] = {
    fcfs.FirstComeFirstServed: OldFirstComeFirstServed,
    firstfit.FirstFit: OldFirstFit,
    easy.Easy: OldEasy,
    relaxed.Relaxed: OldRelaxed,
    replan.Replan: OldReplan,
    conservative.Conservative: OldConservative,
    MultiQueue: OldMultiQueue,
}
