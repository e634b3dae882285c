"""State of a run at the present moment, and the questions about it that have the same answer for all.

The fields begin with an underscore: only modules of `sim.engine` change them. `Moment` is this state with the questions
and the calls of a policy. Nothing here leads to the true run times or ends of jobs: the engine keeps these
(`sim.engine.future`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import inf, isnan
from typing import Any

from sim.engine.fields import Fields
from sim.engine.queue import Queue
from sim.engine.releases import Releases
from sim.engine.sharing import Sharing
from sim.history.ledger import Ledger
from sim.machine.moment import MOMENT
from sim.machine.node_plan import NodePlan
from sim.machine.nodes import NodeMachine
from sim.machine.ousterhout_matrix import Matrix
from sim.machine.plan import Ends, Plan, machine_of
from sim.machine.processors import Placement
from sim.machine.profile import Profile
from sim.machine.turns import Turns
from sim.policies.policy import Policy, written_policy
from sim.support.errors import DecisionError, PolicyError
from sim.workload.limits import LimitUse
from sim.workload.model import Job, Jobs, Workload
from sim.workload.outages import absences, absent, changes_of, closing, gone_for_good, known
from sim.workload.share_tree import share_trees


class State(Fields):
    """Current state of a run: jobs that wait, run, are suspended or are in the matrix; plans; and totals."""

    def _begin(self, workload: Workload, jobs: Jobs, policy: Policy, placement: Placement) -> None:
        """Set the fields as they are at the beginning of a run; `jobs` have the submit times of the run."""
        self._chosen, self._policy = policy, policy.first()
        self._leader = policy if policy.leads() else None
        self._procs, self._jobs, self._ledger = workload.procs, jobs, Ledger(len(workload))
        self._machine, self._share_tree = machine_of(workload, placement), share_trees(workload)
        self._has_limits = workload.limits is not None and any(workload.limits.demands)
        self._node_times = tuple(workload.shape.turns) if workload.shape else ()
        self.refuse_unsupported(policy)
        self._machine.lose(absent(workload.outages, -inf))
        self._free, self._outages = self._machine.free, known(workload.outages, -inf)
        self.look_ahead()
        if workload.follows:
            self._releases = Releases(workload)
        if workload.limits is not None:
            self._limits = LimitUse(workload.limits)
        self._waiting = Queue(self._policy.queue_order())
        chosen: Any = self._policy  # whatever it gives
        turns = chosen.turns()
        if turns is not None and not isinstance(turns, Turns):
            raise PolicyError(f"{self._policy.name}: turns() is expected to give Turns or None, got {turns!r:.60}")
        if turns is not None:
            self._sharing = Sharing(workload.procs, turns, self._machine.there)
        self._promises = self._policy.promises() and not self._has_limits

    def refuse_unsupported(self, policy: Policy) -> None:
        for each in policy.deciders():
            who = each.name if each is policy else f"{each.name}, to which {policy.name} may switch,"
            if self._machine.has_nodes and not each.on_nodes:
                why = "it counts processors; --procs N makes equal ones"
                raise PolicyError(f"{who} cannot run on a machine of nodes: {why}")
            if self._has_limits and not each.keeps_limits:
                why = "it promises starts or suspends jobs; slurm, easy, replan, firstfit and fcfs can"
                raise PolicyError(f"{who} cannot keep limits of users: {why}")

    # Waiting jobs

    def line(self) -> list[Job]:
        """Return the waiting jobs in the order in which the policy considers them (`Policy.line_order`)."""
        jobs, order, now = self._waiting.in_order(self._time), self._policy.line_order(), self._time
        if order != self._policy.queue_order():
            jobs.sort(key=lambda job: order.key(job, now))  # jobs with the same key stay in the queue's order
        return jobs

    def held_back(self) -> list[int]:
        use = self._limits
        return [] if use is None else [rank for rank in self._waiting.jobs if use.over(rank) is not None]

    def has_come(self, rank: int) -> bool:
        return rank < self._submitted and (self._releases is None or self._releases.has_come(rank))

    @property
    def left(self) -> int:
        return len(self._waiting.jobs) + len(self._suspended)

    @property
    def crowd(self) -> int:
        """Return the number of jobs that the policy may have to consider: waiting, suspended or in the matrix."""
        return self.left + (len(self._sharing.ran) if self._sharing else 0)

    # Places of the jobs

    @property
    def under_way(self) -> Mapping[int, object]:
        """Return a mapping whose keys are the ranks of all running jobs; with a matrix, of all jobs in it. The values
        have no common meaning.
        """
        return self._running if self._sharing is None else self._sharing.ran

    def _matrix(self) -> Matrix:
        if self._sharing is None:
            raise DecisionError("a policy without turns has no matrix")
        return self._sharing.matrix

    def ran(self, rank: int) -> float:
        if self._sharing is not None:
            ran = self._sharing.ran.get(rank)
            return self._ledger.ran[rank] if ran is None else ran
        stay = self._running.get(rank)
        return self._ledger.ran[rank] if stay is None else stay.ran_by(self._time)

    def work_under_way(self) -> float:
        """Return the processor-seconds that the jobs which are under way or suspended have used so far."""
        work, now, running = 0.0, self._time, self._running
        for stay in running.values():
            work += stay.ran_by(now) * stay.procs
        for rank in self._suspended if self._sharing is None else {*self._sharing.ran, *self._suspended}:
            if rank not in running:
                work += self.ran(rank) * self._job(rank).procs
        return work

    def _job(self, rank: int) -> Job:
        """Return the job of that rank, in most cases without a call of `Jobs`, which is not compiled."""
        job = self._jobs.made[rank]
        return self._jobs[rank] if job is None else job

    def remaining_estimate(self, rank: int) -> float:
        return self._job(rank).estimate - self.ran(rank)

    def remaining_estimates(self, ranks: Iterable[int]) -> list[tuple[float, int, int]]:
        """Return (remaining estimate in seconds, rank, number of processors) of each of these running jobs."""
        ran = self._sharing.ran if self._sharing else {}
        left = list[tuple[float, int, int]]()
        for rank in ranks:
            job, its_run = self._job(rank), ran.get(rank)
            left.append((job.estimate - (self.ran(rank) if its_run is None else its_run), rank, job.procs))
        return left

    def start_of(self, rank: int) -> float | None:
        start = self._ledger.start[rank]
        return None if isnan(start) else start

    @property
    def policy(self) -> Policy:
        return self._policy

    @property
    def step_count(self) -> int:
        return self._step

    @property
    def printed(self) -> list[str]:
        """Return the list to which the lines are added that the policy prints in this step."""
        return self._printed

    @property
    def spec(self) -> str:
        return written_policy(self._policy)

    # Plans

    def planned_starts(self) -> dict[int, float]:
        """Return the planned start, reserved or expected, of each waiting job that has one; the keys are ranks."""
        return {**self._expected, **self._reserved}

    def _present_plan(self) -> Plan:
        """Return a plan of the machine: running jobs until their expected ends, and the current reservations."""
        if self._kept_plan is None:
            self._kept_plan = self._running_plan()
            for rank, at in (self._reserved if self._policy.keeps_reservations else self._granted).items():
                job, start = self._jobs[rank], at if at > self._time else self._time
                promised = self._machine.due(rank, inf)
                self._kept_plan.hold(job, start, start + self.reserved_for(job), promised)
        self._kept_plan.advance(self._time)
        return self._kept_plan

    def _running_plan(self, awaited: int | None = None) -> Plan:
        """Return a plan of the machine with the running jobs and the announced changes, such as maintenance.

        The suspended job whose processors are kept free counts as running on them from now on. It is `awaited` or, if
        that is None, the job that the state awaits.
        """
        if isinstance(self._machine, NodeMachine):
            return NodePlan.of_running(self._time, self._machine, self._stays.ends())
        if awaited is None:
            awaited = self._awaited
        free, ends, changes = self.outlook(awaited)
        if not self._ahead:
            return Profile.of_running(self._time, free, ends)
        ends = [(end if rank == awaited else min(end, self._closes), rank, procs) for end, rank, procs in ends]
        return Profile.of_changes(self._time, free, sorted([*ends, *changes]))

    def outlook(self, awaited: int | None) -> tuple[int, Ends, Ends]:
        """Return three values: the number of free processors, the expected ends of jobs, and the announced changes of
        the machine.

        If `awaited` is the rank of a suspended job, the values are computed as if this job ran on its processors.
        """
        if awaited is None:
            return self._free, self._stays.ends(), self._changes_ahead()
        free, ends = self.prospect(awaited)
        until = next(end for end, rank, _ in ends if rank == awaited)
        return free, ends, self._changes_ahead(self._suspended[awaited], until)

    def _changes_ahead(self, beside: int = 0, until: float = inf) -> Ends:
        """Return (time, -1, change of the number of processors) for each announced change of the machine until `until`.

        -1 is in the place of a job's rank; the change is negative if processors go down. Changes of the processors
        `beside` are left out.
        """
        changes, gone = [], (self._machine.absent & ~beside).bit_count()
        points = sorted([*self._ahead, (until, absent(self._outages, until))]) if beside else self._ahead
        for time, absent_then in points:
            was, gone = gone, (absent_then & ~(beside if time < until else 0)).bit_count()
            if gone != was:
                changes.append((time, -1, was - gone))
        return changes

    def prospect(self, awaited: int) -> tuple[int, Ends]:
        """Return the number of free processors and the expected ends, computed as if the suspended job `awaited` ran on
        its processors from now on.

        This job is expected to end when its remaining estimate has passed since the last end of the jobs that hold its
        processors now.
        """
        own, begins, ends = self._suspended[awaited], self._time, []
        for end, rank, procs in self._stays.ends():
            on_its = (self._machine.held[rank] & own).bit_count()
            if on_its:
                begins = max(begins, end)
            if procs > on_its:
                ends.append((end, rank, procs - on_its))
        lasts = self.remaining_estimate(awaited)
        ends.append((self.clear(own, begins, lasts) + lasts, awaited, own.bit_count()))
        return (self._machine.free_set & ~own).bit_count(), sorted(ends)

    def kept_processors(self, rank: int | None) -> int:
        """Return the processors (bits) kept for the awaited job, which resumes next; 0 if none or if it is `rank`."""
        return 0 if self._awaited is None or self._awaited == rank else self._suspended[self._awaited]

    def _forget_promises(self) -> None:
        """Drop all reservations except granted ones (starts that users requested)."""
        self._reserved.clear()
        self._machine.forget_promises()
        self._reserved.update(self._granted)

    def take_granted(self, plan: Profile) -> None:
        for rank, at in self._granted.items():
            job, start = self._jobs[rank], max(at, self._time)
            plan.take(start, start + job.estimate, job.procs)

    def reserved_for(self, job: Job) -> float:
        return self._lasts.get(job.rank, job.estimate)

    # The machine

    def look_ahead(self, now: float = -inf) -> None:
        """Update, for the time `now`, which changes of the machine are known and lie in the future."""
        times = [time for time in changes_of(self._outages) if time > now]
        self._ahead = tuple(zip(times, absences(self._outages, times), strict=True))
        self._closes = closing(self._outages, now)

    @property
    def gone_for_good(self) -> int:
        return gone_for_good(self._outages, self._time)

    @property
    def most(self) -> int:
        """Return the largest number of processors that will be available at any time from now on."""
        return self._procs - self.gone_for_good.bit_count()

    def back(self, processors: int) -> float:
        """Return the time from which all of these processors (bits) are available again, as far as is known."""
        return self.clear(processors, self._time, 0)

    def clear(self, processors: int, since: float, lasts: float) -> float:
        """Return the first time from `since` on at which these processors (bits) are available for `lasts` seconds."""
        begins = [(self._time, absent(self._outages, self._time)), *self._ahead]
        for (begin, gone), (end, _) in zip(begins, [*self._ahead, (inf, 0)], strict=True):
            if gone & processors and end > since and begin < since + max(lasts, MOMENT) - MOMENT / 2:
                since = end
        return since

    def in_time(self, job: Job) -> bool:
        """Return True if the job, started now with its remaining estimate, would end before the next maintenance."""
        return self._closes == inf or self._time + self.remaining_estimate(job.rank) <= self._closes + MOMENT
