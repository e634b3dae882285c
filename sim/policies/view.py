"""View of the current state that a policy gets; it lacks the run times, which only the engine knows."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Protocol

from sim.decisions.sentences import Reason
from sim.machine.nodes import Leftover
from sim.machine.plan import Plan
from sim.machine.profile import Extra
from sim.policies.ranking import Ranking
from sim.workload.model import Job
from sim.workload.shape import Seats
from sim.workload.share_tree import ShareTree
from sim.workload.shortage import Shortage

Ends = Sequence[tuple[float, int, int]]
"""List of (expected end, rank, number of processors) of running jobs, sorted."""


class RunningJob(Protocol):
    """Running job as a policy sees it, with its current stay on processors: from its start or resumption to its end or
    suspension.
    """

    @property
    def job(self) -> Job: ...

    @property
    def since(self) -> float:
        """Return the time at which this stay began."""

    @property
    def expected_end(self) -> float:
        """Return the time at which the job ends according to its estimate."""

    @property
    def ran_before(self) -> float:
        """Return the seconds that the job had run before this stay."""

    def ran_by(self, now: float) -> float:
        """Return the seconds that the job will have run by `now` over all its stays on processors, if this stay lasts
        until then.
        """

    @property
    def runs(self) -> bool:
        """Return True if the job can be suspended: it is not a speculative run, and it is not being suspended or
        resumed now.
        """


class GivenView:
    """Base class of the views that an engine gives to policies: reading their members runs no code of a policy."""

    __slots__ = ()


class View(Protocol):
    """State of the simulation at one pass; it changes as the engine applies each yielded decision."""

    @property
    def now(self) -> float:
        """Return the time of this pass."""

    @property
    def time(self) -> float:
        """Return the time of this pass, the same as `now`: policies that call their view `now` write `now.time`."""

    @property
    def procs(self) -> int:
        """Return the number of processors available now."""

    @property
    def there(self) -> int:
        """Return the available processors, as bits."""

    @property
    def resized(self) -> bool:
        """Return True if processors went down or became available at this instant."""

    @property
    def closes(self) -> float:
        """Return the time at which the next announced maintenance of the whole machine begins, which no job may run
        into; inf without one.
        """

    @property
    def free(self) -> int:
        """Return the number of free processors."""

    @property
    def queue(self) -> list[Job]:
        """Return a new list of the waiting jobs in the policy's order."""

    def queued(self, by: Callable[[Job, float], float] | None = None) -> list[Job]:
        """Return the waiting jobs in the policy's order, or sorted by the key `by(job, now)`."""

    def behind(self, head: Job) -> list[Job]:
        """Return the waiting jobs behind `head` in the policy's order."""

    def candidates(self, head: Job | None = None) -> list[Job]:
        """Return the jobs behind `head` (None: all waiting jobs) that fit into the free processors. If the run records
        reasons, and on a machine of nodes, no job is left out.
        """

    def easy_candidates(self, head: Job, shadow: float, extra: int = 0) -> list[Job]:
        """Return the `candidates` that EASY lets pass the head, which is planned for `shadow` and leaves `extra`
        processors then: each ends by `shadow` (see `is_by`) or needs at most `extra`.

        For policies with EASY's rule or a stricter one: under a looser rule the run depends on whether it is watched.
        """

    def in_tail(self, jobs: list[Job], tail: str) -> list[Job]:
        """Return the jobs, given in queue order, in the order `tail`; ties stay in queue order."""

    def arrivals(self) -> list[Job]:
        """Return the jobs that are new to the policy, in order of rank: the jobs that arrived at this instant. At the
        first pass after a switch of the policy, they are the waiting jobs that it takes over.
        """

    def due(self) -> list[Job]:
        """Return the waiting jobs whose reserved start has come, in the policy's order."""

    def is_first(self, job: Job) -> bool:
        """Return True if the waiting job is at the front of the queue."""

    def spares(self, job: Job, head: Job, extra: int) -> bool:
        """Return True if the head can still start at its shadow time although the job runs: the job needs at most
        `extra` processors. On a machine of nodes, the head must still fit on the nodes at that time.
        """

    def lacks(self, job: Job) -> Reason:
        """Return the reason why the job does not fit: what it lacks."""

    def new_ranking(self) -> Ranking:
        """Return a new, empty `Ranking` (jobs sorted by a number), which the policy can fill at this pass."""

    def draft(self) -> Plan:
        """Return a copy of the plan of running jobs and reservations; the policy may change this copy."""

    def earliest(self, job: Job) -> float:
        """Return the job's earliest start in the plan of running jobs and reservations."""

    @property
    def arrived(self) -> Sequence[Job]:
        """Return the jobs submitted at this instant, in order of rank."""

    @property
    def completed(self) -> Sequence[Job]:
        """Return the jobs completed at this instant, in order of rank; empty if the policy is called again at the same
        instant.
        """

    @property
    def finished(self) -> Sequence[tuple[float, int]]:
        """Return (end, rank) of every completed job, sorted, including jobs completed under earlier policies."""

    @property
    def killed(self) -> Sequence[Job]:
        """Return the jobs whose speculative run reached its limit at this instant; they wait again."""

    @property
    def ousted(self) -> Sequence[Job]:
        """Return the jobs whose processors went down at this instant; they wait again, or are cancelled."""

    @property
    def ended_early(self) -> bool:
        """Return True if a job completed at this instant before its expected end."""

    @property
    def ends(self) -> Ends:
        """Return the expected end of each running job, as (end, rank, number of processors), sorted."""

    @property
    def reserved(self) -> Mapping[int, float]:
        """Return a mapping from the rank of each job with a reservation to its planned start."""

    @property
    def running(self) -> Mapping[int, RunningJob]:
        """Return a mapping from the rank of each running job to its current stay on processors."""

    @property
    def suspended(self) -> Mapping[int, int]:
        """Return a mapping from the rank of each suspended job to its processors, as bits. It resumes on these unless
        the policy chooses others.
        """

    @property
    def free_set(self) -> int:
        """Return the free processors, as bits."""

    @property
    def owners(self) -> Sequence[int]:
        """Return the processors that each partition owns, as bits; empty without partitions."""

    def held(self, rank: int) -> int:
        """Return the processors that a running job holds, as bits."""

    def ran(self, rank: int) -> float:
        """Return the seconds that a job has run so far, over all its stays on processors; for a finished job its run
        time.
        """

    def remaining_estimate(self, rank: int) -> float:
        """Return the job's estimate minus the time that it has run, in seconds."""

    @property
    def plan(self) -> Plan:
        """Return a plan with running jobs up to their expected ends, and with reservations; to try changes, copy it
        first.
        """

    def running_plan(self) -> Plan:
        """Return a new plan with running jobs only, which the policy may change."""

    @property
    def notes(self) -> dict[str, Any]:
        """Return the memory of the policy: plain data, or objects with a `copy` method, so that a run can be
        branched.
        """

    @property
    def curious(self) -> bool:
        """Return True if the run is watched, that is, its reasons are recorded. The policy then gives the reason why
        each considered job waits.
        """

    @property
    def machine_ahead(self) -> Ends:
        """Return each known future change of the machine as (time, -1, number of processors that become available).

        The number is negative if processors go down. The form is that of expected ends, with -1 in place of a rank.
        """

    def fits(self, job: Job) -> bool:
        """Return True if the job may start or resume now: enough processors are free, and it ends before maintenance
        (`in_time`).
        """

    @property
    def has_nodes(self) -> bool:
        """Return True if the machine consists of nodes; then free cores may be on the wrong nodes for a job."""

    @property
    def tiers(self) -> Sequence[int]:
        """Return the tiers of the jobs' partitions, indexed by rank; jobs of a higher tier come first. Empty if all are
        equal.
        """

    @property
    def factors(self) -> Sequence[float]:
        """Return the priority factors of the jobs' partitions, indexed by rank; empty if all are equal."""

    @property
    def qos_factors(self) -> Sequence[float]:
        """Return the priorities of the jobs' qualities of service as shares of the greatest, indexed by rank; empty if
        all are equal.
        """

    @property
    def node_parts(self) -> Sequence[float]:
        """Return, for each job by rank, the least number of nodes that it asks for, as a share of all nodes; empty on
        equal processors.
        """

    @property
    def accounts(self) -> Sequence[str]:
        """Return the accounts of the jobs, indexed by rank; empty if the trace has none."""

    def share_tree(self) -> ShareTree:
        """Return a new tree of the machine's accounts with their shares; every user of a job has an entry in it."""

    def is_held(self, job: Job) -> bool:
        """Return True if a limit on the job's user, account or array holds the job back now. Such jobs are in `queue`
        only if the policy sets `asks_limits`.
        """

    def has_room(self, job: Job) -> bool:
        """Return True if enough resources are free for the job: the resources reserved for it or, without a
        reservation, any free ones.
        """

    def partitions(self, job: Job) -> tuple[int, ...]:
        """Return the numbers of the partitions of nodes that the job may use; (-1,) stands for the whole machine, a
        number below -1 for a reservation of nodes that the job names.
        """

    def open_partitions(self, job: Job, closed: Collection[int]) -> tuple[int, ...]:
        """Return those of the job's partitions that have as many nodes as the job needs at least, not counting nodes of
        the partitions in `closed`.
        """

    def once_a_partition(self) -> list[tuple[Job, int]]:
        """Return the waiting jobs, once for each partition of nodes that they may use: (job, number of the partition),
        or (job, -1) if there is at most one.

        Partitions with a higher tier come first. Within a tier the jobs are in the order of the queue, in which each
        has the factor of this partition.
        """

    def seats_outside(self, job: Job, closed: Collection[int], only: int = -1) -> Seats | None:
        """Return nodes with room for the job now, without nodes of the partitions in `closed`, in the partition `only`
        or, with -1, in any that the job may use. Return None if too few have room, and on equal processors.
        """

    def lack(self, job: Job) -> Shortage:
        """Return why too few nodes have room for the job, as the fields of the reason `NoNodes`."""

    def kept_from(self, job: Job) -> tuple[str, float, float, bool] | None:
        """Return (name, start, end, True if the job names it) of the reservation of nodes that keeps the job from
        starting now; None if no reservation does.
        """

    def where_it_ran(self, job: Job) -> Seats | None:
        """Return the nodes on which the job ran according to the trace if they have room now, otherwise None."""

    def beside(self, head: Job, extra: int, ends: Ends | None = None) -> Extra | Leftover:
        """Return the resources left over when `head` starts at its shadow time. Jobs that end after this time may start
        if the result's method `admits` accepts them.

        `extra` is the number of processors left over, which is used on equal processors only; `ends` replaces the
        expected ends of running jobs on nodes.
        """

    def in_time(self, job: Job) -> bool:
        """Return True if the job's remaining estimate ends before the next announced maintenance of the machine."""

    def shadow(self, job: Job, ends: Ends | None = None) -> tuple[float, int]:
        """Return the shadow time, at which `job` fits (now if it does), and the number of processors left over then.

        `ends` are the expected ends of running jobs, if they differ from the estimates.
        """

    def only(self, jobs: Iterable[Job]) -> Any:
        """Return a view in which only these jobs wait, to give to another policy; it changes together with this
        view. The moment of `sim.core` returns a context instead, in which it shows only these jobs.
        """

    def job(self, rank: int) -> Job:
        """Return the job of that rank."""
