"""One instant after another. Everything that changes the state of a simulation is in this file.

At an instant t: completions at t in rank order; the policy's timers; arrivals at t in rank order; one pass of the
policy, whose decisions are checked and applied one by one. One instant is one step.

The engine never names a policy. It holds them to what they declare: reservations that stand (`keeps_reservations`)
wake the policy when they are due and are part of `view.plan`; others are forgotten before each pass.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable
from heapq import heappop, heappush
from math import inf, isnan, nan
from typing import Any

import numpy as np

from sim.check import Checker
from sim.decisions import Backfill, Decision, Keep, Reserve, Start, Wake
from sim.errors import DecisionError, ParameterError
from sim.history import History
from sim.machine import Machine, Placement
from sim.policies.base import Policy, written_policy
from sim.profile import Profile, shadow
from sim.schedule import Schedule, Timeline
from sim.snapshot import Queued, Running, Snapshot
from sim.totals import Tally, Totals
from sim.waiting import Waiting
from sim.workload.model import Job, Workload


class Engine:
    """A simulation of one workload under one policy. It is also the `View` that its policy is shown.

    curious: keep, for the last step, why each considered job was kept waiting (costs time on long queues).
    check: verify every invariant after every step.
    """

    def __init__(
        self,
        workload: Workload,
        policy: Policy,
        *,
        placement: Placement = "lowest",
        check: bool = False,
        curious: bool = True,
    ) -> None:
        if np.any(workload.runtime > workload.estimate):
            raise ParameterError("a job runs longer than its estimate: apply Workload.with_overruns first")
        self.workload = workload
        self.policy = policy
        self.history = History()
        self.machine = Machine(workload.procs, placement)
        self.step_count = 0
        # What the view shows
        self.now: float = 0
        self.procs = self.free = workload.procs
        self.arrived: list[Job] = []
        self.ended_early = False
        self.ends: list[tuple[float, int, int]] = []
        self.reserved: dict[int, float] = {}
        self.notes: dict[str, dict[int, float]] = {}
        self.curious = curious
        # What only the engine knows
        self._jobs, self._runtimes = workload.jobs, workload.runtimes
        self._killed = workload.killed.tolist()
        self._next_arrival = 0
        self._waiting = Waiting(policy.queue_order())
        self._completions: list[tuple[float, int]] = []
        self._timers: list[tuple[float, int]] = []
        """(time, rank of the reservation that is due then, or -1 for a wake-up the policy asked for)"""
        self._wakes: set[float] = set()
        self._running: dict[int, tuple[float, int]] = {}
        self._plan: Profile | None = None
        self._completed: list[Job] = []
        self._step_decisions: list[Decision] = []
        self._before: dict[int, float] = {}
        self._moved: dict[int, float] = {}
        self._tally = Tally()
        count = len(workload)
        self._start: list[float] = [nan] * count
        self._end: list[float] = [nan] * count
        self._promised: list[float] = [nan] * count
        self._backfilled = bytearray(count)
        self._promises = policy.promises()
        self._apply: dict[type, Callable[[Any], None]] = {
            Start: self._start_job,
            Backfill: self._backfill_job,
            Reserve: self._reserve,
            Wake: self._wake,
            Keep: self._step_decisions.append,
        }
        self._checker = Checker(self) if check else None

    # Time

    def next_time(self) -> float | None:
        """When the next step will be; None when everything has happened."""
        timers, reserved = self._timers, self.reserved
        while timers and timers[0][1] >= 0 and reserved.get(timers[0][1]) != timers[0][0]:
            heappop(timers)
        time = self._completions[0][0] if self._completions else inf
        if self._next_arrival < len(self._jobs):
            time = min(time, self._jobs[self._next_arrival].submit)
        if timers and timers[0][0] < time:
            time = timers[0][0]
        return time if time < inf else None

    def step(self) -> bool:
        """Go to the next instant and let everything happen there; False when there is none."""
        now = self.next_time()
        if now is None:
            return False
        self.now = now
        self._completed.clear()
        self._step_decisions.clear()
        self._moved.clear()
        self._complete_jobs(now)
        self._drop_timers(now)
        self._admit_arrivals(now)
        self._let_policy_decide()
        self.step_count += 1
        self.history.close_step(now, self.free, len(self._waiting), self._waiting.wanted)
        if self._checker:
            self._checker.after_step()
        return True

    def run(self, until: float = inf) -> None:
        """Make all steps up to and including `until`."""
        while (time := self.next_time()) is not None and time <= until:
            self.step()
        if until == inf:
            self._nobody_waits_for_ever()

    def advance(self, steps: int) -> bool:
        """Make at most so many steps; False when the run is over."""
        for _ in range(steps):
            if not self.step():
                self._nobody_waits_for_ever()
                return False
        return True

    def _nobody_waits_for_ever(self) -> None:
        if len(self._waiting):
            raise DecisionError(
                f"{written_policy(self.policy)} leaves {len(self._waiting)} jobs waiting for ever, "
                f"the first is job {self._waiting.in_order(self.now)[0].id}"
            )

    def _complete_jobs(self, now: float) -> None:
        self.ended_early = False
        completions = self._completions
        while completions and completions[0][0] == now:
            rank = heappop(completions)[1]
            job = self._jobs[rank]
            expected_end, stretch = self._running.pop(rank)
            del self.ends[bisect_left(self.ends, (expected_end, rank))]
            if expected_end > now:
                self.ended_early = True
                if self._plan:
                    self._plan.advance(now)
                    self._plan.take(now, expected_end, -job.procs)
            self.machine.give_back(rank)
            self.history.finish(stretch, now)
            self._end[rank] = now
            self._tally.finish(now - job.submit, self._runtimes[rank], job.procs)
            self._tally.killed += self._killed[rank]
            self._completed.append(job)
        self.free = self.machine.free

    def _drop_timers(self, now: float) -> None:
        while self._timers and self._timers[0][0] <= now:
            self._wakes.discard(heappop(self._timers)[0])

    def _admit_arrivals(self, now: float) -> None:
        self.arrived.clear()
        jobs, index = self._jobs, self._next_arrival
        while index < len(jobs) and jobs[index].submit == now:
            self.arrived.append(jobs[index])
            self._waiting.add(jobs[index])
            index += 1
        self._next_arrival = index

    # Decisions

    def _let_policy_decide(self) -> None:
        if not self.policy.keeps_reservations:
            self._before, self.reserved = self.reserved, {}
        if not len(self._waiting):
            return
        apply = self._apply
        for decision in self.policy.decide(self):
            apply[type(decision)](decision)

    def _start_job(self, decision: Start | Backfill) -> None:
        job, now = decision.job, self.now
        rank = job.rank
        if rank not in self._waiting:
            raise DecisionError(f"job {job.id} cannot start at {now}: it does not wait")
        held = self.machine.take(rank, job.procs)
        self.free = self.machine.free
        self._waiting.remove(job)
        expected_end = now + job.estimate
        planned = self.reserved.pop(rank, None)
        if self._plan:
            if planned is not None and self.policy.keeps_reservations and planned != now:
                self._plan.take(planned, planned + job.estimate, -job.procs)
                planned = None
            if planned is None or not self.policy.keeps_reservations:
                self._plan.advance(now)
                self._plan.take(now, expected_end, job.procs)
        insort(self.ends, (expected_end, rank, job.procs))
        heappush(self._completions, (now + self._runtimes[rank], rank))
        self._running[rank] = expected_end, self.history.begin(rank, now, held)
        self._start[rank] = now
        self._tally.started += 1
        self._log(decision)

    def _backfill_job(self, decision: Backfill) -> None:
        self._start_job(decision)
        self._backfilled[decision.job.rank] = True
        self._tally.backfilled += 1

    def _reserve(self, decision: Reserve) -> None:
        job, at, _ = decision
        rank = job.rank
        if rank not in self._waiting:
            raise DecisionError(f"job {job.id} cannot be given a reservation: it does not wait")
        if at < self.now:
            raise DecisionError(f"job {job.id} cannot be reserved for {at}: it is {self.now}")
        if self.policy.keeps_reservations:
            was = self.reserved.get(rank)
            if self._plan:
                self._plan.advance(self.now)
                if was is not None:
                    self._plan.take(was, was + job.estimate, -job.procs)
                self._plan.take(at, at + job.estimate, job.procs)
            heappush(self._timers, (at, rank))
        else:
            was = self._before.get(rank)
        self.reserved[rank] = at
        if self._promises and self._promised[rank] != self._promised[rank]:
            self._promised[rank] = at
        if at != was:
            if was is not None:
                self._moved[rank] = at - was
            self._log(decision)

    def _wake(self, decision: Wake) -> None:
        if decision.at <= self.now:
            raise DecisionError(f"a timer for {decision.at} is not in the future: it is {self.now}")
        if decision.at not in self._wakes:
            self._wakes.add(decision.at)
            heappush(self._timers, (decision.at, -1))

    def _log(self, decision: Decision) -> None:
        self.history.decided(decision)
        if self.curious:
            self._step_decisions.append(decision)

    # The view (what is not a plain attribute of it)

    @property
    def queue(self) -> list[Job]:
        return self._waiting.in_order(self.now)

    @property
    def plan(self) -> Profile:
        if self._plan is None:
            self._plan = self.running_plan()
            if self.policy.keeps_reservations:
                for rank, at in self.reserved.items():
                    job = self._jobs[rank]
                    self._plan.take(at, at + job.estimate, job.procs)
        self._plan.advance(self.now)
        return self._plan

    def running_plan(self) -> Profile:
        return Profile.of_running(self.now, self.free, self.ends)

    def shadow(self, job: Job) -> tuple[float, int]:
        time, free = shadow(self.free, self.ends, job.procs)
        return time, free - job.procs

    def job(self, rank: int) -> Job:
        return self._jobs[rank]

    # What others see

    @property
    def submitted(self) -> int:
        """How many jobs have been submitted; they are the first so many by rank."""
        return self._next_arrival

    @property
    def finished(self) -> int:
        """How many jobs have completed."""
        return self._tally.finished

    @property
    def completed(self) -> list[Job]:
        """The jobs that completed in the last step."""
        return self._completed

    def start_of(self, rank: int) -> float | None:
        """When the job first started; None if it has not."""
        start = self._start[rank]
        return None if isnan(start) else start

    def snapshot(self) -> Snapshot:
        """The present as an immutable value."""
        return Snapshot(
            step=self.step_count,
            time=self.now if self.step_count else None,
            policy=written_policy(self.policy),
            procs=self.procs,
            free=self.free,
            free_set=self.machine.free_set,
            running=tuple(
                Running(self._jobs[rank], self._start[rank], expected_end, self.machine.held[rank])
                for expected_end, rank, _ in self.ends
            ),
            queue=self._queued(),
            arrived=tuple(self.arrived),
            completed=tuple(self._completed),
            decisions=tuple(self._step_decisions),
            totals=self._totals(),
            next_time=self.next_time(),
        )

    def _queued(self) -> tuple[Queued, ...]:
        why = {d.job.rank: d.because for d in self._step_decisions if isinstance(d, Keep)}
        return tuple(
            Queued(
                job,
                self.now - job.submit,
                self.reserved.get(job.rank),
                self._moved.get(job.rank, 0),
                why.get(job.rank),
            )
            for job in self.queue
        )

    def _totals(self) -> Totals:
        running = sum((self.now - self._start[rank]) * procs for _, rank, procs in self.ends)
        first = self._jobs[0].submit if self._jobs else 0
        return self._tally.totals(self.now - first, self.procs, running)

    def schedule(self) -> Schedule:
        """What has come of it so far, as columns."""
        time, free, waiting, wanted = self.history.columns()
        start, end = np.array(self._start), np.array(self._end)
        return Schedule(
            workload=self.workload,
            policy=written_policy(self.policy),
            start=start,
            end=end,
            ran=end - start,
            backfilled=np.frombuffer(bytes(self._backfilled), dtype=np.bool_),
            promised=np.array(self._promised),
            preemptions=np.zeros(len(start), dtype=np.int64),
            migrations=np.zeros(len(start), dtype=np.int64),
            timeline=Timeline(
                time=np.array(time),
                free=np.array(free, dtype=np.int64),
                waiting=np.array(waiting, dtype=np.int64),
                wanted=np.array(wanted, dtype=np.int64),
            ),
        )
