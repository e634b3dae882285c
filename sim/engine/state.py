"""The state of a simulation: everything that changes from step to step is in this file, and nothing else.

`State` is what may be known at the present moment, `Future` what only the engine knows: when jobs truly end. A policy
is shown the state and cannot come from there to the future, nor to the run times. Only `engine`, `transitions` and
`succession` change either; a checkpoint is a copy of both.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from math import isnan
from typing import Any

from sim.decisions.decisions import Decision
from sim.engine.allocation import Allocation
from sim.engine.queue import Queue
from sim.engine.sharing import Sharing
from sim.errors import DecisionError, PolicyError
from sim.history.ledger import Ledger
from sim.history.past import Switch
from sim.history.tally import Tally
from sim.machine.matrix import Matrix
from sim.machine.processors import Machine, Placement
from sim.machine.profile import Profile, shadow
from sim.machine.turns import Turns
from sim.policies.policy import Policy, written_policy
from sim.policies.view import Ends
from sim.workload.model import Job, Workload


class State:
    """The present: who waits, runs, is suspended or shares the machine, what is planned, what has been so far."""

    __slots__ = (
        "arrived", "awaited", "before", "completed", "curious", "decisions", "ended_early", "ends", "expected",
        "expected_row", "free", "granted", "jobs", "kept_plan", "killed", "lasts", "ledger", "machine", "moved",
        "notes", "now", "policy", "printed", "procs", "promises", "rebuild", "reserved", "row_planned", "running",
        "sharing", "step_count", "suspended", "suspended_since", "switches", "tally", "timers", "waiting", "wakes",
    )  # fmt: skip

    def __init__(self, workload: Workload, policy: Policy, placement: Placement, curious: bool) -> None:
        self.policy = policy
        self.curious = curious
        """Is somebody watching? It changes nothing but what is said."""
        self.step_count = 0
        self.now: float = 0
        self.procs = self.free = workload.procs
        self.machine = Machine(workload.procs, placement)
        self.jobs: list[Job] = []
        """Those that have been submitted, by rank"""
        self.waiting = Queue(policy.queue_order())
        self.ledger = Ledger(len(workload))
        self.tally = Tally()
        self.switches: tuple[Switch, ...] = ()
        # What happened at this instant
        self.arrived: list[Job] = []
        self.completed: list[Job] = []
        self.killed: list[Job] = []
        self.ended_early = False
        self.moved: dict[int, float] = {}
        """rank -> by how much its planned start moved"""
        self.decisions: list[Decision] = []
        """What was decided in the last step, and why jobs were kept, in order; empty unless curious"""
        self.printed: list[str] = []
        """What somebody's own policy printed in the last step, a line each"""
        # Who is where
        self.running: dict[int, Allocation] = {}
        self.ends: list[tuple[float, int, int]] = []
        """(expected end, rank, processors) of what runs, sorted"""
        self.suspended: dict[int, int] = {}
        self.suspended_since: dict[int, float] = {}
        self.awaited: int | None = None
        """The suspended job for which its processors are kept, where a policy that never suspends took over"""
        turns = policy.turns()
        if turns is not None and not isinstance(turns, Turns):
            raise PolicyError(f"{policy.name}: turns() is expected to give Turns or None, got {turns!r:.60}")
        self.sharing = Sharing(workload.procs, turns) if turns is not None else None
        """Where jobs share processors in time: who stands where and what each has done"""
        self.rebuild: tuple[Decision, ...] = ()
        """What the last rebuild of the matrix did, phase by phase; empty unless curious"""
        # What is planned
        self.reserved: dict[int, float] = {}
        self.before: dict[int, float] = {}
        """What was reserved at the last pass, where reservations are made anew at each"""
        self.lasts: dict[int, float] = {}
        """For how long a reservation is, where that is not the job's estimate"""
        self.granted: dict[int, float] = {}
        """rank -> start, of the waiting jobs whose users asked for a reservation and got it: it outlives its policy"""
        self.promises = policy.promises()
        """Does a reservation that stands now never move later?"""
        self.expected: dict[int, float] = {}
        self.expected_row: dict[int, int] = {}
        """rank -> the row of the matrix in which the job is expected to start"""
        self.row_planned: dict[int, float] = {}
        """rank -> the start expected there as it was last written into the history: moves within a turn are not"""
        self.kept_plan: Profile | None = None
        self.timers: list[tuple[float, int, float]] = []
        """(when, rank, inf): a reservation is due; (when, -1, inf): a wake-up that the policy asked for; (when, rank,
        since): one that is void unless the job is still on the processors that it has been on since then
        """
        self.wakes: set[tuple[float, int, float]] = set()
        self.notes: dict[str, Any] = {}

    def copy(self) -> State:
        """A copy of all that is small: what is large and can be found again is added by `Checkpoint.state`."""
        twin = State.__new__(State)
        for name in _SMALL:
            setattr(twin, name, copied(getattr(self, name)))
        return twin

    # Who waits

    @property
    def queue(self) -> list[Job]:
        """The jobs that wait, in the policy's order: a copy."""
        return self.waiting.in_order(self.now)

    @property
    def line(self) -> list[Job]:
        """The jobs that wait, in the order in which the policy looks at them: a copy."""
        jobs, order, now = self.queue, self.policy.line_order(), self.now
        if order != self.policy.queue_order():
            jobs.sort(key=lambda job: (order.key(job, now), job.rank))
        return jobs

    def stands_in_line(self, rank: int) -> bool:
        """Does the waiting job stand in a queue? Those with a granted reservation, or one for a trial, do not."""
        return rank not in (self.reserved if self.policy.grants else self.granted)

    @property
    def left(self) -> int:
        """How many jobs wait or are suspended."""
        return len(self.waiting.jobs) + len(self.suspended)

    @property
    def crowd(self) -> int:
        """How many jobs the policy may have to think about."""
        return self.left + (len(self.sharing.ran) if self.sharing else 0)

    # Who is where

    @property
    def free_set(self) -> int:
        return self.machine.free_set

    @property
    def under_way(self) -> Mapping[int, object]:
        """rank -> something, of the jobs that run or share the machine in time."""
        return self.running if self.sharing is None else self.sharing.ran

    @property
    def matrix(self) -> Matrix:
        if self.sharing is None:
            raise DecisionError("a policy without turns has no matrix")
        return self.sharing.matrix

    @property
    def new_in_rows(self) -> Collection[int]:
        """The ranks of the jobs in the matrix that have not been on turn since they came into it."""
        return self.sharing.new if self.sharing else ()

    def ran(self, rank: int) -> float:
        """How long a job has run so far; of a finished job its run time."""
        if self.sharing is not None:
            ran = self.sharing.ran.get(rank)
            return self.ledger.ran[rank] if ran is None else ran
        allocation = self.running.get(rank)
        return self.ledger.ran[rank] if allocation is None else allocation.ran_by(self.now)

    def remaining_estimate(self, rank: int) -> float:
        return self.jobs[rank].estimate - self.ran(rank)

    def start_of(self, rank: int) -> float | None:
        """When the job first started; None if it has not."""
        start = self.ledger.start[rank]
        return None if isnan(start) else start

    @property
    def spec(self) -> str:
        """The policy as a person writes it."""
        return written_policy(self.policy)

    # What is planned

    @property
    def planned(self) -> dict[int, float]:
        """rank -> planned start, reserved or only expected."""
        return {**self.expected, **self.reserved}

    @property
    def plan(self) -> Profile:
        """Running jobs until their expected ends and the reservations that stand."""
        if self.kept_plan is None:
            self.kept_plan = self.running_plan()
            for rank, at in (self.reserved if self.policy.keeps_reservations else self.granted).items():
                job, start = self.jobs[rank], at if at > self.now else self.now
                self.kept_plan.take(start, start + self.reserved_for(job), job.procs)
        self.kept_plan.advance(self.now)
        return self.kept_plan

    def running_plan(self) -> Profile:
        """Running jobs alone, and the awaited one."""
        if self.awaited is not None:
            return Profile.of_running(self.now, *self.prospect(self.awaited))
        return Profile.of_running(self.now, self.free, self.ends)

    def prospect(self, awaited: int) -> tuple[int, Ends]:
        """What is free and what ends when, as if the awaited job ran on its processors from now on, until its end.

        That is when it can go on, which is when those end that are there, and its remaining estimate more.
        """
        own, begins, ends = self.suspended[awaited], self.now, []
        for end, rank, procs in self.ends:
            on_its = (self.machine.held[rank] & own).bit_count()
            if on_its:
                begins = max(begins, end)
            if procs > on_its:
                ends.append((end, rank, procs - on_its))
        ends.append((begins + self.remaining_estimate(awaited), awaited, own.bit_count()))
        return (self.free_set & ~own).bit_count(), sorted(ends)

    def reserved_for(self, job: Job) -> float:
        """For how long the job's reservation is."""
        return self.lasts.get(job.rank, job.estimate)

    def shadow(self, job: Job) -> tuple[float, int]:
        """When there will be room for the job, and how many processors are free then beside it."""
        time, free = shadow(self.free, self.ends, job.procs)
        return time, free - job.procs


class Future:
    """What is to come, and only the engine knows."""

    __slots__ = ("leaves", "leaving")

    def __init__(self) -> None:
        self.leaves: dict[int, float] = {}
        """rank -> when its present allocation truly ends"""
        self.leaving: list[tuple[float, int]] = []
        """(when, rank) of those ends, and of some that will not be: a heap"""

    def copy(self) -> Future:
        twin = Future()
        twin.leaves, twin.leaving = self.leaves.copy(), self.leaving.copy()
        return twin


_LARGE = {"curious", "jobs", "ledger", "waiting"}
_SMALL = tuple(name for name in State.__slots__ if name not in _LARGE)


def copied(value: Any) -> Any:
    """The same value, sharing nothing that can change.

    >>> notes = {"bound": {1: 5.0}}
    >>> twin = copied(notes)
    >>> notes["bound"][1] = 6.0
    >>> twin
    {'bound': {1: 5.0}}
    """
    if isinstance(value, dict):
        if any(hasattr(item, "copy") for item in value.values()):
            return {key: copied(item) for key, item in value.items()}
        return value.copy()
    return value.copy() if hasattr(value, "copy") else value
