"""Questions of a policy about the present moment. `sim.engine.acting` has the calls by which it acts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import inf
from operator import attrgetter
from types import MappingProxyType
from typing import Any

from sim.decisions.reasons_on_nodes import no_nodes
from sim.decisions.reasons_to_wait import MachineGoesDown, TooFewFree
from sim.decisions.sentences import Reason
from sim.engine.state import State
from sim.engine.stay import Stay
from sim.machine.moment import MOMENT
from sim.machine.nodes import Leftover, NodeMachine, shadow_on_nodes
from sim.machine.plan import Ends, Plan, by_number
from sim.machine.profile import Extra, Profile
from sim.policies.backfill.tails import in_tail
from sim.workload.model import Job
from sim.workload.shape import Seats
from sim.workload.share_tree import ShareTree
from sim.workload.shortage import Shortage


class Asking(State):
    """State at the present moment, with the questions of a policy."""

    def __init__(self) -> None:
        super().__init__()
        self._few = TooFewFree(0)
        """Last answer of `lacks` of this kind, which many jobs get one after another"""
        self._spared: tuple[tuple[int, int, int], Extra | Leftover] | None = None
        """Last answer of `beside` for `spares`: rank of the head, step, number of stays; and what is left over"""

    # Time and machine

    @property
    def time(self) -> float:
        """Return the time of this pass."""
        return self._time

    @property
    def now(self) -> float:
        return self._time

    @property
    def free(self) -> int:
        """Return the number of free processors."""
        return self.free_set.bit_count() if self._is_around else self._free

    @property
    def free_set(self) -> int:
        """Return the free processors, as bits."""
        free = self._machine.free_set
        return free & ~self.kept_processors(None) if self._is_around else free

    @property
    def procs(self) -> int:
        """Return the number of processors that are available now."""
        return self._machine.size

    @property
    def there(self) -> int:
        """Return the available processors, as bits."""
        return self._machine.there

    @property
    def closes(self) -> float:
        """Return the time of the next announced maintenance of the whole machine; inf without one."""
        return self._closes

    @property
    def has_nodes(self) -> bool:
        """Return True if the machine consists of nodes; then free cores may be on the wrong nodes for a job."""
        return self._machine.has_nodes

    @property
    def curious(self) -> bool:
        """Return True if the run is watched, so that its reasons are recorded."""
        return self._curious

    @property
    def notes(self) -> dict[str, Any]:
        """Return the memory of the policy: plain data, or objects with a `copy` method."""
        return self._notes

    @property
    def ended_early(self) -> bool:
        """Return True if a job completed at this instant before its expected end."""
        return self._ended_early

    # Jobs

    def _line(self) -> list[Job]:
        """Return the waiting jobs that the policy is shown, in a list that may not be changed."""
        waiting = self._waiting
        line = waiting.in_order(self._time) if waiting.by_clock else waiting.jobs_in_order
        if self._only is not None:
            line = [job for job in line if job.rank in self._only]
        if self._is_around:
            return [job for job in line if not self._is_hidden(job.rank)]
        if self._limits is not None and not self._policy.asks_limits:
            return [job for job in line if self._limits.over(job.rank) is None]
        return line

    @contextmanager
    def only(self, jobs: Iterable[Job]) -> Iterator[None]:
        """Show only these jobs while the context lasts, to let another policy decide about them:
        `with now.only(jobs): Easy().decide(now)`.
        """
        before, ranks = self._only, frozenset(job.rank for job in jobs)
        self._only = ranks if before is None else before & ranks
        try:
            yield
        finally:
            self._only = before

    def _is_hidden(self, rank: int) -> bool:
        return rank in self._passed_over or (rank in self._granted and not self._policy.grants)

    @property
    def queue(self) -> list[Job]:
        """Return a new list of the waiting jobs in the policy's order."""
        return self._line().copy()

    def queued(self, by: Callable[[Job, float], float] | None = None) -> list[Job]:
        """Return the waiting jobs in the policy's order, or sorted by the key `by(job, now)`."""
        now = self._time
        return sorted(self._line(), key=lambda job: by(job, now)) if by else self._line().copy()

    def behind(self, head: Job) -> list[Job]:
        """Return the waiting jobs behind `head` in the policy's order."""
        line = self._line()
        return line[line.index(head) + 1 :]

    def candidates(self, head: Job | None = None) -> list[Job]:
        """Return the jobs behind `head` (None: all waiting jobs) that fit into the free processors. If the run records
        reasons, and on a machine of nodes, no job is left out.
        """
        return self.easy_candidates(head, inf)

    def easy_candidates(self, head: Job | None, shadow: float, extra: int = 0) -> list[Job]:
        """Return the `candidates` that EASY lets pass the head, which is planned for `shadow` and leaves `extra`
        processors then: each ends by `shadow` (see `is_by`) or needs at most `extra`.

        For policies with EASY's rule or a stricter one: under a looser rule the run depends on whether it is watched.
        """
        now, free, shows_all = self._time, self._free, self._curious or self._machine.has_nodes
        found: list[Job] = []
        if not free and not shows_all:
            return found
        line, until = self._line(), shadow + MOMENT
        first = line.index(head) + 1 if head is not None else 0
        if shows_all:
            return line[first:]
        for place in range(first, len(line)):
            job = line[place]
            procs = job.procs
            if procs <= free and (procs <= extra or now + job.estimate <= until):
                found.append(job)
        return found

    def in_tail(self, jobs: list[Job], tail: str) -> list[Job]:
        """Return the jobs, given in queue order, in the order `tail`; ties stay in queue order."""
        return jobs if tail == "queue" else in_tail(jobs, tail)

    def is_first(self, job: Job) -> bool:
        """Return True if the waiting job is at the front of the queue."""
        if self._has_limits or self._only is not None:
            return next(iter(self._line()), None) is job
        return job.rank in self._waiting.jobs and self._waiting.is_first(job, self._time)

    def job(self, rank: int) -> Job:
        """Return the job of that rank, which must have been submitted."""
        if rank < 0 or not self.has_come(rank):
            raise IndexError(f"no job of rank {rank} has come")
        return self._job(rank)

    def arrivals(self) -> list[Job]:
        """Return the jobs that are new to the policy, in order of rank: the jobs that arrived at this instant. At the
        first pass after a switch of the policy, they are the waiting jobs that it takes over.
        """
        arrived = self._arrived if self._only is None else [job for job in self._arrived if job.rank in self._only]
        return [job for job in arrived if not self._is_hidden(job.rank)] if self._is_around else arrived.copy()

    @property
    def resized(self) -> bool:
        """Return True if processors went down or became available at this instant."""
        return self._resized

    @property
    def arrived(self) -> Sequence[Job]:
        return tuple(self.arrivals())

    @property
    def completed(self) -> Sequence[Job]:
        """Return the jobs completed at this instant, in order of rank; none if the same pass is repeated."""
        return () if self._passed_over else tuple(self._completed)

    @property
    def killed(self) -> Sequence[Job]:
        """Return the jobs whose speculative run reached its limit at this instant; they wait again."""
        return tuple(job for job in self._killed if self._only is None or job.rank in self._only)

    @property
    def ousted(self) -> Sequence[Job]:
        """Return the jobs whose processors went down at this instant; they wait again, or are cancelled."""
        return tuple(self._ousted)

    @property
    def finished(self) -> Sequence[tuple[float, int]]:
        """Return (end, rank) of every completed job, sorted, including jobs completed under earlier policies."""
        return tuple(sorted((end, rank) for rank, end in enumerate(self._ledger.end) if end <= self._time))

    @property
    def running(self) -> Mapping[int, Stay]:
        """Return a mapping from the rank of each running job to its current stay on processors."""
        return MappingProxyType(self._running)

    @property
    def suspended(self) -> Mapping[int, int]:
        """Return a mapping from the rank of each suspended job to its processors, as bits."""
        if self._passed_over:
            return {rank: own for rank, own in self._suspended.items() if rank not in self._passed_over}
        return MappingProxyType(self._suspended)

    def resumable(self, free: int) -> list[Job]:
        """Return the suspended jobs whose processors are all in `free` (bits), in no order."""
        found = self._resting.on(free, self._suspended, self._stays.in_order, self._machine.held)
        return [self._job(rank) for rank in found if rank not in self._passed_over and rank not in self._running]

    @property
    def ends(self) -> Ends:
        """Return the expected end of each running job, as (end, rank, number of processors), sorted."""
        return tuple(self._present_ends())

    def _present_ends(self) -> list[tuple[float, int, int]]:
        if self._is_around and self._awaited is not None:
            return list(self.prospect(self._awaited)[1])
        return self._stays.ends()

    def held(self, rank: int) -> int:
        """Return the processors that a running job holds, as bits."""
        return self._machine.held[rank]

    # Room

    def fits(self, job: Job) -> bool:
        """Return True if the job may start now: enough processors are free, and it ends before maintenance."""
        if self._machine.has_nodes:
            return self._machine.fits(job)
        return job.procs <= self.free and (self._closes == inf or self.in_time(job))

    def has_room(self, job: Job) -> bool:
        """Return True if the resources reserved for the job are free or, without a reservation, enough others."""
        return self._machine.has_room(job)

    def lacks(self, job: Job) -> Reason:
        """Return the reason why the job does not fit: what it lacks."""
        free = self.free
        if job.procs > free:
            if self._few.free != free:
                self._few = TooFewFree(free)
            return self._few
        if self._machine.has_nodes:
            return no_nodes(self._machine.lack(job), self._machine.kept_from(job))
        return MachineGoesDown(self._closes, self._time + self.remaining_estimate(job.rank))

    def shadow(self, job: Job, ends: Ends | None = None) -> tuple[float, int]:
        """Return the shadow time, at which `job` fits (now if it does), and the number of processors left over then.

        `ends` are the expected ends of running jobs, if they differ from the estimates.
        """
        machine, free, procs = self._machine, self.free, job.procs
        if isinstance(machine, NodeMachine):
            time, amounts = shadow_on_nodes(machine, self._stays.ends() if ends is None else ends, job)
            return time, int(amounts[:, 0].sum()) - procs
        plan: Profile | None = None
        if self._ahead and ends is None:
            plan = by_number(self._running_plan())
        elif ends is not None and (changes := self.machine_ahead):
            plan = Profile.of_changes(self._time, free, sorted([*ends, *changes]))
        if plan is not None:
            at = plan.earliest(procs, job.estimate, self._time)
            return at, plan.least(at, at + job.estimate) - procs
        if procs <= free:
            return self._time, free - procs
        until = inf
        if ends is None and self._is_around:
            ends = self._present_ends()
        if ends is not None:
            for end, _, held in ends:
                if end > until:
                    break
                free += held
                if until == inf and free >= procs:
                    at, until = end, end + MOMENT
        else:
            for stay in self._stays.in_order:
                end = stay.expected_end
                if end > until:
                    break
                free += stay.procs
                if until == inf and free >= procs:
                    at, until = end, end + MOMENT
        if until == inf:
            raise ValueError(f"{procs} processors are never free")
        return at, free - procs

    def beside(self, head: Job, extra: int, ends: Ends | None = None) -> Extra | Leftover:
        """Return what is left over when `head` starts at its shadow time. For `ends` see `shadow`."""
        machine = self._machine
        if isinstance(machine, NodeMachine):
            return Leftover(
                machine, head, shadow_on_nodes(machine, self._stays.ends() if ends is None else ends, head)[1]
            )
        return Extra(extra)

    def spares(self, job: Job, head: Job, extra: int) -> bool:
        """Return True if the head can still start at its shadow time although the job runs: the job needs at most
        `extra` processors. On a machine of nodes, the head must still fit on the nodes at that time.
        """
        if not self._machine.has_nodes:
            return job.procs <= extra
        moment = head.rank, self._step, self._stay_count
        if self._spared is None or self._spared[0] != moment:
            self._spared = moment, self.beside(head, extra)
        return self._spared[1].admits(job)

    @property
    def machine_ahead(self) -> Ends:
        """Return each known future change of the machine as (time, -1, number of processors that become available)."""
        return self.outlook(self._awaited)[2] if self._is_around else self._changes_ahead()

    # Plans

    @property
    def reserved(self) -> Mapping[int, float]:
        """Return a mapping from the rank of each job with a reservation to its planned start."""
        return MappingProxyType(self._shown_reservations())

    def _shown_reservations(self) -> dict[int, float]:
        if self._is_around:
            return {rank: at for rank, at in self._reserved.items() if not self._is_hidden(rank)}
        return self._reserved

    def reserved_start(self, job: Job) -> float:
        return self._reserved[job.rank]

    def running_plan(self) -> Plan:
        """Return a new plan with running jobs only, which the policy may change."""
        plan = self._running_plan()
        if self._is_around and not self._policy.grants:
            self.take_granted(by_number(plan))
        return plan

    @property
    def plan(self) -> Plan:
        """Return a plan with running jobs up to their expected ends, and with reservations; copy it to try changes."""
        return self._present_plan()

    def draft(self) -> Plan:
        """Return a copy of the plan of running jobs and reservations; the policy may change this copy."""
        return self._present_plan().copy()

    def earliest(self, job: Job) -> float:
        """Return the job's earliest start in the plan of running jobs and reservations."""
        return self._present_plan().find(job, self._time)

    def due(self) -> list[Job]:
        """Return the waiting jobs whose reserved start has come, in the policy's order."""
        reserved, now = self._shown_reservations(), self._time
        for at in reserved.values():
            if at <= now:
                return [job for job in self._line() if reserved[job.rank] <= now]
        return []

    def unplanned(self) -> list[Job]:
        """Return the waiting jobs without a reservation, in order of rank."""
        return sorted((job for job in self._line() if job.rank not in self.reserved), key=attrgetter("rank"))

    def planned(self) -> list[Job]:
        """Return the jobs with a reservation, in order of rank."""
        return [self._job(rank) for rank in sorted(self._shown_reservations())]

    def where_it_ran(self, job: Job) -> Seats | None:
        """Return the nodes on which the job ran according to the trace if they have room now, otherwise None."""
        return self._machine.where_it_ran(job)

    # Machines of nodes

    @property
    def tiers(self) -> Sequence[int]:
        """Return the tiers of the jobs' partitions, by rank; higher tiers come first. Empty if all are equal."""
        return self._machine.tiers

    @property
    def factors(self) -> Sequence[float]:
        """Return the priority factors of the jobs' partitions, indexed by rank; empty if all are equal."""
        return self._machine.factors

    @property
    def qos_factors(self) -> Sequence[float]:
        """Return the priorities of the jobs' qualities of service as shares of the greatest, by rank; or empty."""
        return self._machine.qos_factors

    @property
    def node_parts(self) -> Sequence[float]:
        """Return, by rank, the least part of all nodes that each job asks for; empty on equal processors."""
        return self._machine.node_parts

    @property
    def accounts(self) -> Sequence[str]:
        """Return the accounts of the jobs, indexed by rank; empty if the trace has none."""
        return self._machine.accounts

    def share_tree(self) -> ShareTree:
        """Return a new tree of the machine's accounts with their shares; every user of a job has an entry in it."""
        return self._share_tree()

    def is_held(self, job: Job) -> bool:
        """Return True if a limit on the job's user, account or array holds the job back now. Such jobs are in `queue`
        only if the policy sets `asks_limits`.
        """
        return self._limits is not None and self._limits.over(job.rank) is not None

    def partitions(self, job: Job) -> tuple[int, ...]:
        """Return the numbers of the partitions of nodes that the job may use; (-1,) stands for the whole machine, a
        number below -1 for a reservation of nodes that the job names.
        """
        return self._machine.partitions(job)

    def open_partitions(self, job: Job, closed: Collection[int]) -> tuple[int, ...]:
        """Return those of the job's partitions that have enough nodes besides the ones in `closed`."""
        return self._machine.open_partitions(job, closed)

    def once_a_partition(self) -> list[tuple[Job, int]]:
        """Return the waiting jobs, once for each partition of nodes that they may use: (job, number of the partition),
        or (job, -1) if there is at most one.

        Partitions with a higher tier come first. Within a tier the jobs are in the order of the queue, in which each
        has the factor of this partition.
        """
        return self._machine.once_a_partition(self._line(), self._key_in_partition)

    def _key_in_partition(self, job: Job, factor: float | None) -> float:
        order, now = self._waiting.order, self._time if self._waiting.by_clock else job.submit
        return order.key(job, now) + (0.0 if factor is None else order.in_partition(job, factor))

    def seats_outside(self, job: Job, closed: Collection[int], only: int = -1) -> Seats | None:
        """Return nodes with room for the job now, without nodes of the partitions in `closed`, in the partition `only`
        or, with -1, in any that the job may use. Return None if too few have room, and on equal processors.
        """
        return self._machine.seats_outside(job, closed, only)

    def lack(self, job: Job) -> Shortage:
        """Return why too few nodes have room for the job, as the fields of the reason `NoNodes`."""
        return self._machine.lack(job)

    def kept_from(self, job: Job) -> tuple[str, float, float, bool] | None:
        """Return (name, start, end, True if the job names it) of the reservation of nodes that keeps the job from
        starting now; None if no reservation does.
        """
        return self._machine.kept_from(job)
