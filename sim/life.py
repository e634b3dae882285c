"""The life of one job: what happened to it from its submission to its end, and what kept it waiting meanwhile.

`life_of` runs the workload under a policy and watches one job, step by step. What comes of it is data (`Life` and its
moments); `tui.explain` tells it. A stretch of steps in which the job waited for the same kind of reason and the same
other job is one `Waited` with the ranges of its numbers; together they cover the wait without a gap.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeAlias

from sim.decisions import Backfill, Decision, Keep, MadeRoom, PlannedLater, Reason, Reserve, Start, TooFewFree, WhenFree
from sim.engine import Engine
from sim.machine import Placement
from sim.policies.base import Policy, written_policy
from sim.policies.orders import Order
from sim.workload.model import Job, Workload

# What kept it waiting, where the policy gives no reason


class Heads(NamedTuple):
    """It heads the queue: the first that does not fit, with `free` processors."""

    free: int


class NotConsidered(NamedTuple):
    """The policy stopped at `head` (None: it does not say at whom) and did not come to this job."""

    head: Job | None
    free: int


class Suspended(NamedTuple):
    """It had begun and lost its processors for a while."""

    free: int


State: TypeAlias = Reason | Heads | NotConsidered | Suspended
"""Why the job waits after a step. Two are of one kind if their type and the job they name are the same."""

# Moments


class Holder(NamedTuple):
    """A job that holds processors until `until`, as far as its estimate tells."""

    job: Job
    until: float


class Range(NamedTuple):
    """The least and the greatest value of a number over some steps."""

    low: float
    high: float

    def also(self, value: Range) -> Range:
        return Range(min(self.low, value.low), max(self.high, value.high))


@dataclass(frozen=True)
class Submitted:
    """It came; after the pass of that instant `ahead` jobs that stand before it wait and want `wanted` processors."""

    time: float
    ahead: int
    wanted: int
    free: int


@dataclass(frozen=True)
class Waited:
    """It waited from `time` to `until` for one kind of reason: `state` with the ranges of its numbers."""

    time: float
    until: float
    steps: int
    state: State
    numbers: dict[str, Range]
    """The numbers of the reason, and how many processors were `free`."""
    ahead: tuple[int, int]
    """How many jobs stood ahead of it, at first and at last."""
    fitting: float
    """For so many seconds of it enough processors were free, none the less."""
    head: Job | None
    """Who headed the queue, where the policy plans for one job only."""
    lacking: int
    """Processors that it lacked at the beginning."""
    missing: tuple[Holder, ...]
    """The jobs that held them then, as many as must end before it fits, by expected end."""

    @property
    def blocker(self) -> Job | None:
        """The job that is named as the reason."""
        return named(self.state)


@dataclass(frozen=True)
class Planned:
    """Its start was planned (`was` is None) or moved. What happened at that instant may be why."""

    time: float
    at: float
    was: float | None
    because: Reason | None
    """None: the policy only expects it."""
    early: tuple[Holder, ...] = ()
    """Jobs that ended then, before their expected end."""
    passers: tuple[Job, ...] = ()
    """Jobs that passed it since the plan before, and that will still run at the start that was planned."""
    newcomers: tuple[Job, ...] = ()
    """Jobs that came then and stand before it."""

    @property
    def moved(self) -> float:
        """By how much; negative is earlier."""
        return 0 if self.was is None else self.at - self.was


@dataclass(frozen=True)
class Unplanned:
    """Its planned start was given up: another job is `ahead` now, if the policy says so."""

    time: float
    was: float
    ahead: Job | None


@dataclass(frozen=True)
class Started:
    """It started at last; `freed` are the jobs that ended at that instant."""

    time: float
    because: Reason
    backfilled: bool
    freed: tuple[Holder, ...]


@dataclass(frozen=True)
class Requeued:
    """Its run reached its limit: its work is lost, and it waits again."""

    time: float


@dataclass(frozen=True)
class Told:
    """The policy decided something else about it."""

    time: float
    decision: Decision


@dataclass(frozen=True)
class Ended:
    """It ended; `killed`: at the end of its estimate, though it was not done."""

    time: float
    killed: bool


Moment: TypeAlias = Submitted | Waited | Planned | Unplanned | Started | Requeued | Told | Ended


class Pass(NamedTuple):
    """Another job started while this one waited: from `behind` it in the queue, or it came later and stood ahead."""

    time: float
    job: Job
    behind: bool


@dataclass(frozen=True)
class Life:
    """One job under one policy. `start` and `end` are None if that did not happen."""

    policy: str
    procs: int
    """The size of the machine."""
    job: Job
    start: float | None
    end: float | None
    ran: float | None
    """Its run time, if it ended; without lost work and suspensions."""
    promised: bool
    """Does the policy promise that a planned start does not move later?"""
    moments: tuple[Moment, ...]
    """In order of time."""
    passes: tuple[Pass, ...]

    @property
    def wait(self) -> float | None:
        return None if self.start is None else self.start - self.job.submit

    @property
    def waits(self) -> tuple[Waited, ...]:
        """What kept it waiting, without gaps from its submission to its start, and whenever it was suspended."""
        return tuple(m for m in self.moments if isinstance(m, Waited))

    @property
    def plans(self) -> tuple[Planned, ...]:
        """Its planned starts, in the order in which they were made."""
        return tuple(m for m in self.moments if isinstance(m, Planned))


def life_of(workload: Workload, policy: Policy, rank: int, *, placement: Placement = "lowest") -> Life:
    """Run the workload until the job ends, and tell what happened to it."""
    engine = Engine(workload, policy, placement=placement, curious=False)
    return watch(engine, rank)


def watch(engine: Engine, rank: int) -> Life:
    """What will happen to a job that `engine` has not come to yet; leaves the engine where the job ended."""
    job = engine.workload.jobs[rank]
    while (time := engine.next_time()) is not None and time < job.submit:
        engine.step()
    observer = _Observer(engine, job)
    engine.curious = True
    while not observer.ended and (observer.see_run() if observer.holds else observer.see_wait()):
        pass
    return observer.life()


# Watching


class _Observer:
    """Takes notes beside the engine."""

    def __init__(self, engine: Engine, job: Job) -> None:
        self.engine, self.job = engine, job
        self.holds = self.ended = False
        """Does it hold processors? Has it ended?"""
        self._moments: list[Moment] = []
        self._passes: list[Pass] = []
        self._since_plan: list[Pass] = []
        """Those that passed after the pass of the policy had come to this job's plan"""
        self._planned: float | None = None
        self._why_planned: Reason | None = None
        self._head: Job | None = None
        self._open: Waited | None = None
        self._freed: tuple[Holder, ...] = ()
        self._free = engine.free
        """Processors that were free until this step."""

    def see_wait(self) -> bool:
        """A step before which the job has no processors; False when there is none left."""
        engine, job = self.engine, self.job
        self._free = engine.free
        expected = {rank: end for end, rank, _ in engine.ends}
        if not engine.step():
            return False
        now, decisions = engine.now, engine.snapshot().decisions
        self._freed = tuple(Holder(done, expected.get(done.rank, now)) for done in engine.completed)
        self.holds = job.rank in engine.machine.held
        if now == job.submit and not self._moments:
            self._moments.append(self._submission())
        self._see_head(decisions)
        self._see_plan(decisions, self._see_passers(decisions))
        self._see_others(decisions, (Start, Backfill, Reserve, Keep))
        if self.holds:
            self._see_start(decisions)
        else:
            self._see_state(self._state(decisions))
        return True

    def see_run(self) -> bool:
        """A step before which the job has processors."""
        engine, job = self.engine, self.job
        if not engine.step():
            return False
        self._see_others(engine.history.decisions(engine.history.steps - 1), ())
        self.holds = job.rank in engine.machine.held
        if job in engine.completed:
            self.ended = True
            self._moments.append(Ended(engine.now, bool(engine.workload.killed[job.rank])))
        elif not self.holds:
            if job in engine.queue:
                self._moments.append(Requeued(engine.now))
            self._see_state(self._state(engine.snapshot().decisions))
        return True

    def life(self) -> Life:
        engine, job = self.engine, self.job
        self._close()
        return Life(
            policy=written_policy(engine.policy),
            procs=engine.procs,
            job=job,
            start=engine.start_of(job.rank),
            end=engine.now if self.ended else None,
            ran=engine.workload.runtimes[job.rank] if self.ended else None,
            promised=engine.policy.promises(),
            moments=tuple(self._moments),
            passes=tuple(self._passes),
        )

    # What one step shows

    def _stands_before(self, other: Job) -> bool:
        order, now = self.engine.policy.queue_order(), self.engine.now
        return _place(order, other, now) < _place(order, self.job, now)

    def _submission(self) -> Submitted:
        free = self.engine.free + (self.job.procs if self.holds else 0)
        ahead = [other for other in self.engine.queue if other is not self.job and self._stands_before(other)]
        return Submitted(self.engine.now, len(ahead), sum(other.procs for other in ahead), free)

    def _see_passers(self, decisions: Iterable[Decision]) -> list[Pass]:
        """Note who started though they stood behind this job, or came later; those that its plan may be due to."""
        since, self._since_plan = self._since_plan, []
        before: list[Pass] = []
        for decision in decisions:
            if isinstance(decision, Reserve) and decision.job is self.job:
                before += since + self._since_plan
                since, self._since_plan = [], []
            elif isinstance(decision, Start | Backfill) and self.engine.start_of(self.job.rank) is None:
                passing = Pass(self.engine.now, decision.job, not self._stands_before(decision.job))
                if passing.behind or decision.job.rank > self.job.rank:
                    self._since_plan.append(passing)
                    self._passes.append(passing)
        return before

    def _see_head(self, decisions: Iterable[Decision]) -> None:
        for decision in decisions:
            if isinstance(decision, Reserve) and isinstance(decision.because, WhenFree):
                self._head = decision.job
        reserved = self.engine.reserved
        if self._head is None and len(reserved) == 1 and self.job.rank not in reserved:
            self._head = self.engine.job(next(iter(reserved)))  # since before this job came
        if self._head is not None and self._head.rank not in reserved:
            self._head = None

    def _see_plan(self, decisions: Iterable[Decision], passes: Iterable[Pass]) -> None:
        engine, was = self.engine, self._planned
        rank = self.job.rank
        at = engine.reserved.get(rank)
        if at is None:
            at, self._why_planned = engine.expected.get(rank), None
        for decision in decisions:
            if isinstance(decision, Reserve) and decision.job is self.job:
                at, self._why_planned = decision.at, decision.because
        if at == was or (at is None and self.holds):
            return
        self._planned = at
        if at is None:
            if was is not None:
                self._moments.append(Unplanned(engine.now, was, self._head))
            return
        early = tuple(holder for holder in self._freed if holder.until > engine.now)
        newcomers = tuple(other for other in engine.arrived if other is not self.job and self._stands_before(other))
        passers = tuple(p.job for p in passes if was is not None and p.time + p.job.estimate > was)
        if isinstance(self._why_planned, MadeRoom):
            passers = (self._why_planned.passer,)
        self._moments.append(Planned(engine.now, at, was, self._why_planned, early, passers, newcomers))

    def _see_others(self, decisions: Iterable[Decision], known: tuple[type, ...]) -> None:
        """What else was decided about this job."""
        for decision in decisions:
            if getattr(decision, "job", None) is self.job and not isinstance(decision, known):
                self._moments.append(Told(self.engine.now, decision))

    def _see_start(self, decisions: Iterable[Decision]) -> None:
        self._close()
        for decision in decisions:
            if isinstance(decision, Start | Backfill) and decision.job is self.job:
                backfilled = isinstance(decision, Backfill)
                self._moments.append(Started(self.engine.now, decision.because, backfilled, self._freed))

    # Why it waits

    def _state(self, decisions: Iterable[Decision]) -> State:
        kept = [d for d in decisions if isinstance(d, Keep)]
        for keep in kept:
            if keep.job is self.job:
                return keep.because
        free = self.engine.free
        if self.job not in self.engine.queue:
            return Suspended(free)
        if self._planned is None:
            return NotConsidered(kept[-1].job if kept else None, free)
        if isinstance(self._why_planned, WhenFree):
            return Heads(free)
        if free < self.job.procs:
            return TooFewFree(free)
        return PlannedLater(self._planned, free)

    def _see_state(self, state: State) -> None:
        free, queue = self.engine.free, self.engine.queue
        ahead = queue.index(self.job) if self.job in queue else 0
        numbers = {"free": Range(free, free), **numbers_of(state)}
        last = self._extended()
        if last and (type(last.state), last.blocker, last.head) == (type(state), named(state), self._head):
            both = {key: value.also(numbers.get(key, value)) for key, value in last.numbers.items()}
            self._open = replace(last, steps=last.steps + 1, numbers=both, ahead=(last.ahead[0], ahead))
            return
        self._close()
        now, lacking = self.engine.now, max(0, self.job.procs - free)
        missing = awaited(self.engine, self.job.procs)
        self._open = Waited(now, now, 1, state, numbers, (ahead, ahead), 0, self._head, lacking, missing)

    def _extended(self) -> Waited | None:
        """The open stretch until now."""
        last, now = self._open, self.engine.now
        if last is None:
            return None
        fitting = last.fitting + (now - last.until if self._free >= self.job.procs else 0)
        return replace(last, until=now, fitting=fitting)

    def _close(self) -> None:
        last = self._extended()
        if last is not None:
            self._insert(last)
            self._open = None

    def _insert(self, closed: Waited) -> None:
        """Where it began: after all that happened up to that moment."""
        place = len(self._moments)
        while place and self._moments[place - 1].time > closed.time:
            place -= 1
        self._moments.insert(place, closed)


def _place(order: Order, job: Job, now: float) -> tuple[float, int]:
    return order.key(job, now if order.by_clock else job.submit), job.rank


def named(state: State) -> Job | None:
    """The other job that a reason names."""
    return next((field for field in state if isinstance(field, Job)), None)


def numbers_of(state: State) -> dict[str, Range]:
    """The numbers of a reason by name, each as a range of one value."""
    fields = state._asdict().items()
    return {key: Range(value, value) for key, value in fields if isinstance(value, int | float)}


def awaited(engine: Engine, procs: int) -> tuple[Holder, ...]:
    """The running jobs that must end, by their estimates, before `procs` processors are free."""
    free = engine.free
    found: list[Holder] = []
    for end, rank, held in engine.ends:
        if free >= procs:
            break
        found.append(Holder(engine.job(rank), end))
        free += held
    return tuple(found)
