"""The state of a simulation (`State`), and what is hidden from the policy: the true ends of running jobs (`Future`).

`State` is what may be known at the present moment. `Future` is what only the engine knows. A policy is shown the state,
from which it can reach neither the future nor the run times. Only modules of `sim.engine` change the two; a checkpoint
has a copy of both.

A run is curious if a user watches it: then the reason why each considered job waits is recorded.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping
from math import inf, isnan
from typing import Any

from sim.decisions.decisions import Decision
from sim.decisions.matrix import ReserveRow
from sim.engine.allocation import Allocation
from sim.engine.copies import copied
from sim.engine.queue import Queue
from sim.engine.releases import Releases
from sim.engine.sharing import Sharing
from sim.errors import DecisionError, PolicyError
from sim.history.ledger import Ledger
from sim.history.past import Switch
from sim.history.running_totals import RunningTotals
from sim.machine.moment import MOMENT
from sim.machine.node_plan import NodePlan
from sim.machine.nodes import Leftover, NodeMachine, shadow_on_nodes
from sim.machine.ousterhout_matrix import Matrix
from sim.machine.plan import Plan, machine_of
from sim.machine.processors import Placement
from sim.machine.profile import Extra, Profile, shadow
from sim.machine.turns import Turns
from sim.policies.policy import Policy, written_policy
from sim.policies.view import Ends
from sim.workload.limits import Use
from sim.workload.model import Job, Jobs, Workload
from sim.workload.outages import Outage, absences, absent, changes_of, closing, gone_for_good, known
from sim.workload.share_tree import share_trees


class State:
    """Current state of a run: jobs that wait, run, are suspended or are in the matrix; plans; and totals."""

    __slots__ = (
        "ahead", "arrived", "awaited", "before", "chosen", "closes", "completed", "curious", "decisions", "dropped",
        "ended_early", "ends", "expected", "expected_row", "free", "granted", "has_limits", "interrupted", "jobs",
        "kept_plan", "killed", "lasts", "leader", "led", "ledger", "limits", "machine", "moved", "node_times",
        "not_passed", "notes", "now", "ousted", "outages", "policy", "printed", "procs", "promises", "rebuild",
        "releases", "renewed", "reserved", "resized", "row_planned", "running", "share_tree", "sharing", "step_count",
        "submitted", "successor", "suspended", "suspended_since", "switches", "tally", "timers", "upset", "waiting",
        "wake_at", "wakes",
    )  # fmt: skip

    def __init__(self, workload: Workload, policy: Policy, placement: Placement, curious: bool) -> None:
        self.chosen, self.leader = policy, policy if policy.leads() else None
        """Policy with which the user began the run; adaptive policy that selects, after each step, the policy that
        decides next (None if there is no such policy)
        """
        self.led: dict[str, float] = {}
        """Mapping from name to value, for the values that the adaptive policy keeps from one step to the next"""
        self.successor: Policy | None = None
        """Policy that the adaptive policy has selected for the next step; None if the present policy stays"""
        self.policy = policy = policy.first()
        self.curious = curious
        """True if a user watches the run. This changes only which reasons are recorded, never a decision."""
        self.step_count = 0
        self.now: float = 0
        self.procs = workload.procs
        """Largest number of processors that the machine ever has."""
        self.machine, self.share_tree = machine_of(workload, placement), share_trees(workload)
        self.has_limits = workload.limits is not None and any(workload.limits.demands)
        """True if users, accounts or arrays have limits on what runs"""
        self.node_times = tuple(workload.shape.turns) if workload.shape else ()
        """Times at which reservations of nodes begin or end, or users withdraw waiting jobs."""
        self.refuse_unsupported(self.leader or policy)
        self.machine.lose(absent(workload.outages, -inf))
        self.free = self.machine.free
        self.outages = known(workload.outages, -inf)
        """Known periods in which processors are unavailable, including past ones."""
        self.ahead: tuple[tuple[float, int], ...] = ()
        """Known future changes of the machine, in order of time, as (time, processors that are down from then until the
        next change, as bits)
        """
        self.closes: float = inf
        """Time of the next announced maintenance of the whole machine; inf if none is known. No job that would still
        run then may start
        """
        self.look_ahead()
        self.jobs: Jobs = workload.jobs
        """All jobs by rank, including jobs that have not arrived"""
        self.submitted = 0
        """Number of jobs that have arrived, which are the first ones by rank. In a run with `releases`: one more than
        the highest rank that has arrived
        """
        self.releases = Releases(workload) if workload.follows else None
        """Submissions in a run in which some jobs wait for the start or end of other jobs; None if all jobs have a
        fixed submit time
        """
        if self.releases is not None:
            self.jobs = self.releases.jobs_of(self.jobs)
        self.limits = Use(workload.limits) if workload.limits is not None else None
        """Amount in use of each limit of a user, account or array; None if the workload has no limits"""
        self.waiting = Queue(policy.queue_order())
        self.ledger = Ledger(len(workload))
        self.tally = RunningTotals()
        self.switches: tuple[Switch, ...] = ()
        # Events of this instant
        self.arrived: list[Job] = []
        self.completed: list[Job] = []
        self.killed: list[Job] = []
        self.ended_early = False
        self.interrupted: list[Job] = []
        """Jobs that were interrupted in this step because their processors went down, and that now wait again"""
        self.ousted: list[Job] = []
        """Jobs whose processors went down in this step, including jobs that ended in the same step"""
        self.renewed: list[Job] = []
        """Jobs whose reservations were dropped because of a failure, in the order in which they are planned again"""
        self.resized = self.upset = False
        """True if the machine changed in this step (`resized`), and if plans were dropped because of that (`upset`)"""
        self.dropped: tuple[int, ...] = ()
        """Ranks of the jobs that were cancelled because the machine will never again have enough processors"""
        self.moved: dict[int, float] = {}
        """For the rank of each job whose planned start moved in this step: seconds by which it moved. Starts planned in
        rows of a matrix are included only if a user watches the run
        """
        self.decisions: list[Decision] = []
        """Decisions of the last step in order, with reasons to wait; empty if no user watches the run"""
        self.printed: list[str] = []
        """Lines that a user-defined policy printed in the last step"""
        # Places of the jobs
        self.running: dict[int, Allocation] = {}
        self.ends: list[tuple[float, int, int]] = []
        """Expected ends of the running jobs as (time, rank, number of processors), in order of time"""
        self.suspended: dict[int, int] = {}
        self.suspended_since: dict[int, float] = {}
        self.awaited: int | None = None
        """Rank of the suspended job that resumes next; its processors are kept free. None if there is no such job"""
        turns = policy.turns()
        if turns is not None and not isinstance(turns, Turns):
            raise PolicyError(f"{policy.name}: turns() is expected to give Turns or None, got {turns!r:.60}")
        self.sharing = Sharing(workload.procs, turns, self.machine.there) if turns is not None else None
        """Ousterhout matrix with the clock of its rows and the progress of its jobs; None if rows take no turns"""
        self.rebuild: tuple[Decision, ...] = ()
        """Decisions of the last rebuild of the matrix, phase by phase; empty if no user watches the run"""
        # Plans
        self.reserved: dict[int, float] = {}
        self.before: dict[int, float] = {}
        """For the rank of each job: start that the previous pass reserved. Filled only for policies that make all
        reservations anew at each pass
        """
        self.lasts: dict[int, float] = {}
        """For each rank whose reservation is not as long as the estimate: length of the reservation in seconds"""
        self.granted: dict[int, float] = {}
        """For the rank of each waiting job whose user requested a reservation: its start, kept at policy switches"""
        self.promises = policy.promises() and not self.has_limits
        """True if reservations made now are promises, which never move to a later time"""
        self.expected: dict[int, float] = {}
        self.expected_row: dict[int, int] = {}
        """For the rank of each job with a start planned in the matrix: row in which it is expected to start"""
        self.row_planned: dict[int, float] = {}
        """For the rank of each job: its planned start in a row as last written to the history. A new start is written
        only if it differs by at least a turn
        """
        self.not_passed: list[ReserveRow] = []
        """Planned starts in rows from the last rebuild, written to the history when a job is next placed in the matrix.

        If a user watches the run the list is empty, because planned starts are written at once.
        """
        self.kept_plan: Plan | None = None
        self.timers: list[tuple[float, int, float]] = []
        """Heap of timers (time, rank, since), at which the policy makes a pass.

        (time, rank, inf): the job's reservation is due. (time, -1, inf): the policy requested a pass at this time.
        (time, rank, since): the timer is valid only while the job stays on the processors that it has held since the
        time `since`.
        """
        self.wakes: set[tuple[float, int, float]] = set()
        self.wake_at = inf
        """Time of the next pass that the policy requested in its last pass; inf for no request. A request is valid
        until the next pass, which may make another
        """
        self.notes: dict[str, Any] = {}

    def refuse_unsupported(self, policy: Policy) -> None:
        """Raise an error if a policy that may decide does not support this kind of machine or the workload's limits."""
        for each in policy.deciders():
            who = each.name if each is policy else f"{each.name}, to which {policy.name} may switch,"
            if self.machine.has_nodes and not each.on_nodes:
                why = "it counts processors; --procs N makes equal ones"
                raise PolicyError(f"{who} cannot run on a machine of nodes: {why}")
            if self.has_limits and not each.keeps_limits:
                why = "it promises starts or suspends jobs; slurm, easy, replan, firstfit and fcfs can"
                raise PolicyError(f"{who} cannot keep limits of users: {why}")

    def copy(self) -> State:
        """Return a copy of the state without its large parts, which `Checkpoint.state` makes again."""
        twin = State.__new__(State)
        for name in _SMALL:
            setattr(twin, name, copied(getattr(self, name)))
        return twin

    # Waiting jobs

    @property
    def queue(self) -> list[Job]:
        """Return a new list of the waiting jobs in the order of the queue (`Policy.queue_order`)."""
        return self.waiting.in_order(self.now)

    @property
    def line(self) -> list[Job]:
        """Return a new list of the waiting jobs in the order in which the policy considers them (`Policy.line_order`),
        which can differ from the queue's order.
        """
        jobs, order, now = self.queue, self.policy.line_order(), self.now
        if order != self.policy.queue_order():
            jobs.sort(key=lambda job: order.key(job, now))  # jobs with the same key stay in the queue's order
        return jobs

    def held_back(self) -> list[int]:
        """Return the ranks of the waiting jobs that a limit holds back now."""
        use = self.limits
        return [] if use is None else [rank for rank in self.waiting.jobs if use.over(rank) is not None]

    def has_come(self, rank: int) -> bool:
        """Return True if the job has been submitted."""
        return rank < self.submitted and (self.releases is None or self.releases.has_come(rank))

    def come(self) -> set[int]:
        """Return the ranks of all jobs that have been submitted so far."""
        return set(filter(self.has_come, range(self.submitted)))

    @property
    def left(self) -> int:
        """Return the number of jobs that wait or are suspended now."""
        return len(self.waiting.jobs) + len(self.suspended)

    @property
    def crowd(self) -> int:
        """Return the number of jobs that the policy may have to consider: waiting, suspended or in the matrix."""
        return self.left + (len(self.sharing.ran) if self.sharing else 0)

    # Places of the jobs

    @property
    def free_set(self) -> int:
        return self.machine.free_set

    @property
    def under_way(self) -> Mapping[int, object]:
        """Return a mapping whose keys are the ranks of all running jobs; with a matrix, of all jobs in it. The values
        have no common meaning.
        """
        return self.running if self.sharing is None else self.sharing.ran

    @property
    def matrix(self) -> Matrix:
        if self.sharing is None:
            raise DecisionError("a policy without turns has no matrix")
        return self.sharing.matrix

    def ran(self, rank: int) -> float:
        """Return the seconds that a job has run so far; for a finished job its run time."""
        if self.sharing is not None:
            ran = self.sharing.ran.get(rank)
            return self.ledger.ran[rank] if ran is None else ran
        allocation = self.running.get(rank)
        return self.ledger.ran[rank] if allocation is None else allocation.ran_by(self.now)

    def remaining_estimate(self, rank: int) -> float:
        return self.jobs[rank].estimate - self.ran(rank)

    def remaining_estimates(self, ranks: Iterable[int]) -> list[tuple[float, int, int]]:
        """Return (remaining estimate in seconds, rank, number of processors) of each of these running jobs."""
        jobs, ran = self.jobs, self.sharing.ran if self.sharing else {}
        known = [(jobs[rank], ran[rank] if rank in ran else self.ran(rank)) for rank in ranks]
        return [(job.estimate - its_run, job.rank, job.procs) for job, its_run in known]

    def start_of(self, rank: int) -> float | None:
        """Return the time at which the job first started; None if it has not."""
        start = self.ledger.start[rank]
        return None if isnan(start) else start

    @property
    def spec(self) -> str:
        """Return the policy's spec: its name and its parameters as text."""
        return written_policy(self.policy)

    # Plans

    @property
    def planned(self) -> dict[int, float]:
        """Return the planned start, reserved or expected, of each waiting job that has one; the keys are ranks."""
        return {**self.expected, **self.reserved}

    @property
    def plan(self) -> Plan:
        """Return a plan of the machine: running jobs until their expected ends, and the current reservations."""
        if self.kept_plan is None:
            self.kept_plan = self.running_plan()
            for rank, at in (self.reserved if self.policy.keeps_reservations else self.granted).items():
                job, start = self.jobs[rank], at if at > self.now else self.now
                promised = self.machine.due(rank, inf)
                self.kept_plan.hold(job, start, start + self.reserved_for(job), promised)
        self.kept_plan.advance(self.now)
        return self.kept_plan

    def running_plan(self, awaited: int | None = None) -> Plan:
        """Return a plan of the machine with the running jobs and the announced changes, such as maintenance.

        The suspended job whose processors are kept free counts as running on them from now on. It is `awaited` or, if
        that is None, the job that the state awaits.
        """
        if isinstance(self.machine, NodeMachine):
            return NodePlan.of_running(self.now, self.machine, self.ends)
        if awaited is None:
            awaited = self.awaited
        free, ends, changes = self.outlook(awaited)
        if not self.ahead:
            return Profile.of_running(self.now, free, ends)
        ends = [(end if rank == awaited else min(end, self.closes), rank, procs) for end, rank, procs in ends]
        return Profile.of_changes(self.now, free, sorted([*ends, *changes]))

    def outlook(self, awaited: int | None) -> tuple[int, Ends, Ends]:
        """Return three values: the number of free processors, the expected ends of jobs, and the announced changes of
        the machine.

        If `awaited` is the rank of a suspended job, the values are computed as if this job ran on its processors.
        """
        if awaited is None:
            return self.free, self.ends, self.machine_ahead()
        free, ends = self.prospect(awaited)
        until = next(end for end, rank, _ in ends if rank == awaited)
        return free, ends, self.machine_ahead(self.suspended[awaited], until)

    def machine_ahead(self, beside: int = 0, until: float = inf) -> Ends:
        """Return (time, -1, change of the number of processors) for each announced change of the machine until `until`.

        -1 is in the place of a job's rank; the change is negative if processors go down. Changes of the processors
        `beside` are left out.
        """
        changes, gone = [], (self.machine.absent & ~beside).bit_count()
        points = sorted([*self.ahead, (until, absent(self.outages, until))]) if beside else self.ahead
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
        own, begins, ends = self.suspended[awaited], self.now, []
        for end, rank, procs in self.ends:
            on_its = (self.machine.held[rank] & own).bit_count()
            if on_its:
                begins = max(begins, end)
            if procs > on_its:
                ends.append((end, rank, procs - on_its))
        lasts = self.remaining_estimate(awaited)
        ends.append((self.clear(own, begins, lasts) + lasts, awaited, own.bit_count()))
        return (self.free_set & ~own).bit_count(), sorted(ends)

    def reserved_for(self, job: Job) -> float:
        """Return the length of the job's reservation in seconds."""
        return self.lasts.get(job.rank, job.estimate)

    def shadow(self, job: Job, ends: Ends | None = None) -> tuple[float, int]:
        """Return (shadow time, extra): first time at which the job fits, number of processors left over then.

        `ends` are the ends of running jobs to assume; None means their ends by the estimates.
        """
        ends = self.ends if ends is None else ends
        if isinstance(self.machine, NodeMachine):
            time, amounts = shadow_on_nodes(self.machine, ends, job)
            return time, int(amounts[:, 0].sum()) - job.procs
        if self.ahead:
            plan = self.running_plan()
            at = plan.earliest(job.procs, job.estimate, self.now)
            return at, plan.least(at, at + job.estimate) - job.procs
        if job.procs <= self.free:
            return self.now, self.free - job.procs
        time, free = shadow(self.free, ends, job.procs)
        return time, free - job.procs

    def beside(self, head: Job, extra: int, ends: Ends | None = None) -> Extra | Leftover:
        """Return what is left over when `head` starts at its shadow time: `extra` processors or, on a machine of nodes,
        resources of nodes. For the shadow time and `ends` see `shadow`.
        """
        if isinstance(self.machine, NodeMachine):
            return Leftover(
                self.machine, head, shadow_on_nodes(self.machine, self.ends if ends is None else ends, head)[1]
            )
        return Extra(extra)

    # The machine

    def look_ahead(self, now: float = -inf) -> None:
        """Update, for the time `now`, which changes of the machine are known and lie in the future."""
        times = [time for time in changes_of(self.outages) if time > now]
        self.ahead = tuple(zip(times, absences(self.outages, times), strict=True))
        self.closes = closing(self.outages, now)

    @property
    def gone_for_good(self) -> int:
        """Return the processors, as bits, that will never be available again as far as is known."""
        return gone_for_good(self.outages, self.now)

    @property
    def most(self) -> int:
        """Return the largest number of processors that will be available at any time from now on."""
        return self.procs - self.gone_for_good.bit_count()

    def back(self, processors: int) -> float:
        """Return the time from which all of these processors (bits) are available again, as far as is known."""
        return self.clear(processors, self.now, 0)

    def clear(self, processors: int, since: float, lasts: float) -> float:
        """Return the first time from `since` on at which these processors (bits) are available for `lasts` seconds."""
        begins = [(self.now, absent(self.outages, self.now)), *self.ahead]
        for (begin, gone), (end, _) in zip(begins, [*self.ahead, (inf, 0)], strict=True):
            if gone & processors and end > since and begin < since + max(lasts, MOMENT) - MOMENT / 2:
                since = end
        return since

    def in_time(self, job: Job) -> bool:
        """Return True if the job, started now with its remaining estimate, would end before the next maintenance."""
        return self.now + self.remaining_estimate(job.rank) <= self.closes + MOMENT


class Future:
    """Future events that only the engine knows: true ends of running jobs, and unannounced changes of the machine."""

    __slots__ = ("applied", "changes", "leaves", "leaving", "outages")

    def __init__(self, outages: tuple[Outage, ...] = ()) -> None:
        self.outages = outages
        """All periods in which processors are unavailable, announced or not"""
        self.changes = changes_of(outages)
        self.applied = -inf
        """Time up to which the changes of the machine have been applied to the state"""
        self.leaves: dict[int, float] = {}
        """For the rank of each running job: true end of its current stay on processors"""
        self.leaving: list[tuple[float, int]] = []
        """Heap of (time, rank) of true ends; an entry is void if the job has left its processors before its time"""

    def copy(self) -> Future:
        twin = Future.__new__(Future)
        twin.outages, twin.changes, twin.applied = self.outages, self.changes, self.applied
        twin.leaves, twin.leaving = self.leaves.copy(), self.leaving.copy()
        return twin

    def add(self, outage: Outage) -> None:
        """Add a period in which processors are unavailable without having been announced."""
        self.outages = tuple(sorted((*self.outages, outage)))
        self.changes = changes_of(self.outages)

    def next_change(self) -> float:
        """Return the time of the next change of the machine that has not been applied; inf if there is none."""
        place = bisect_right(self.changes, self.applied)
        return self.changes[place] if place < len(self.changes) else inf

    def last_change(self, until: float) -> float:
        """Return the time of the latest change of the machine up to `until` not yet applied; -inf if there is none."""
        place = bisect_right(self.changes, until)
        return self.changes[place - 1] if place and self.changes[place - 1] > self.applied else -inf


_LARGE = {"curious", "jobs", "ledger", "waiting"}
_SMALL = tuple(name for name in State.__slots__ if name not in _LARGE)
