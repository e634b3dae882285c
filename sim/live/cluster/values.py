"""Immutable values that describe a cluster at one time, of any scheduler; times are seconds since 1970."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

from sim.workload.formats.slurm_text import GONE

WAITING = frozenset({"PENDING", "REQUEUED", "REQUEUE_FED", "REQUEUE_HOLD", "SPECIAL_EXIT", "RESV_DEL_HOLD"})
RUNNING = frozenset({"RUNNING", "COMPLETING", "CONFIGURING", "STAGE_OUT", "SIGNALING", "RESIZING", "STOPPED"})
"""States between the start of a job and the moment at which the last of its nodes is ready for another one."""
COMPLETING = "COMPLETING"
"""State in which a job has ended but its nodes are not cleaned up; its cores, limits and licenses are free again."""
SUSPENDED = "SUSPENDED"
"""State in which a job keeps its nodes, while its cores may be given to other jobs."""
PLANNED_FOR = frozenset({"Priority", "Resources"})
"""Reasons to wait with which the expected start is part of a plan; with others the job may start otherwise."""
NODES_AWAY = ("Nodes required for job", "ReqNodeNotAvail")
"""Beginnings of Slurm's reasons when some of a job's nodes are drained, reserved or planned for others."""
NEVER = frozenset({
    "PartitionTimeLimit", "PartitionNodeLimit", "DependencyNeverSatisfied", "BadConstraints", "InvalidAccount",
    "InvalidQOS", "AccountNotAllowed", "QOSNotAllowed", "PartitionConfig",
})  # fmt: skip
"""Slurm's reasons to wait of jobs that can start only after a limit, a request or a dependency is changed."""


@dataclass(frozen=True, slots=True)
class Node:
    """Node of a cluster with its resources, how much of them is in use, and its state."""

    name: str
    cpus: int
    memory: int = 0
    """Memory of the node in MB."""
    gpus: int = 0
    states: frozenset[str] = frozenset()
    reason: str = ""
    """Reason that an administrator wrote for draining the node or taking it down. It may contain any text."""
    partitions: tuple[str, ...] = ()
    cpus_taken: int = 0
    memory_taken: int = 0
    gpus_taken: int = 0
    features: tuple[str, ...] = ()

    @property
    def is_gone(self) -> bool:
        """Return True if no job can start on the node, because it is drained, down or failing."""
        return bool(self.states & GONE)


@dataclass(frozen=True, slots=True)
class Partition:
    """Partition: a set of nodes with its own limits."""

    name: str
    nodes: tuple[str, ...] = ()
    max_time: float | None = None
    """Longest run time in seconds; None if unlimited."""
    default_time: float | None = None
    state: str = "UP"
    is_default: bool = False
    is_exclusive: bool = False
    """True if each job in the partition gets whole nodes."""
    max_nodes: int | None = None
    allowed_accounts: tuple[str, ...] = ()
    """Accounts that may use the partition; empty for all."""
    tier: int = 1
    """Tier of the partition: jobs of higher tiers come first (PriorityTier)."""
    factor: int = 1
    """Weight of the partition in the priority of its jobs (PriorityJobFactor)."""


@dataclass(frozen=True, slots=True)
class Reservation:
    """Reservation: nodes that are kept for some users, or for maintenance."""

    name: str
    start: float
    end: float
    nodes: tuple[str, ...] = ()
    users: tuple[str, ...] = ()
    accounts: tuple[str, ...] = ()
    flags: frozenset[str] = frozenset()

    is_new: bool = False
    """True for the frame of a job that does not exist yet, which charts draw over the plan."""

    @property
    def is_maintenance(self) -> bool:
        return "MAINT" in self.flags


@dataclass(frozen=True, slots=True)
class Limit:
    """Limit of an account, a user or a QOS: `most`, with the amount in use, `used`."""

    kind: str
    """Kind of the owner: `account`, `user`, `qos`, `qos of a user` or `qos of an account`; `license` for the number of
    a license that there is.
    """
    name: str
    what: str
    """Name of the limit in the scheduler, such as `GrpTRES=cpu` or `MaxJobsPU`."""
    most: float
    used: float


@dataclass(frozen=True, slots=True)
class Share:
    """Share of an account, or of a user in an account, in the scheduler's tree of accounts (fair share)."""

    id: str
    """Number of the association in the scheduler."""
    account: str
    user: str = ""
    """Name of the user; "" for the account itself."""
    parent: str = ""
    """Account above this one in the tree; for a user the user's own account. "" for the root of the tree."""
    shares: int | None = 1
    """Shares relative to the other entries with this parent; None if the entry takes part with those of its parent."""
    usage: float = 0.0
    """Past usage in processor seconds, of which older ones count less."""


@dataclass(frozen=True, slots=True)
class Cores:
    """Cores of one node that a job holds: bit i is CPU i of that node."""

    node: str
    mask: int


@dataclass(frozen=True, slots=True)
class ClusterJob:
    """Job, or one task of an array of jobs."""

    id: str
    """Id as users write it: `17`, `6_4`, `123+1`. A job keeps its id, even if it is a task of an array."""
    number: str
    """Number of the job in the scheduler; the waiting tasks of an array have the same number."""
    state: str
    name: str = ""
    reason: str = ""
    user: str = ""
    account: str = ""
    partition: str = ""
    """Partition of the job; a waiting job may name several, separated by commas."""
    qos: str = ""
    cpus: int = 1
    nodes_wanted: int = 1
    memory: int = 0
    """Requested memory in MB: for each node or for each CPU, as the job's request says."""
    gpus: int = 0
    limit: float | None = None
    """Time limit in seconds; None if unlimited or unknown."""
    submit: float = 0.0
    eligible: float | None = None
    start: float | None = None
    """Start of the job; for a waiting job the start that the scheduler expects."""
    end: float | None = None
    """End of the job; for a running job the time at which it reaches its limit."""
    priority: int = 0
    nodes: tuple[str, ...] = ()
    planned_nodes: tuple[str, ...] = ()
    cores: tuple[Cores, ...] = ()
    """Cores that the job holds on each node; empty if unknown."""
    dependency: str = ""
    reservation: str = ""
    array: str = ""
    """Number of the array that the job belongs to; "" if it belongs to none."""
    workdir: str = ""
    tres: str = ""
    """Resources that the job holds or requests, as the scheduler writes them: `cpu=4,mem=4000M,node=1`; "" if unknown.
    """
    is_exclusive: bool = False
    """True if the job requests whole nodes (`--exclusive`)."""
    at_once: int = 0
    """Largest number of tasks of the job's array that may run at the same time; 0 if unlimited or unknown."""
    most_nodes: int | None = None
    """Largest number of nodes that a waiting job accepts; 0 for any number; None if unknown."""
    restarts: int | None = None
    """Number of times that the job was requeued after a start; None if unknown."""
    features: str = ""
    """Features of nodes that the job requests, as an expression of the scheduler: `fast&(a|b)`."""
    required: tuple[str, ...] = ()
    """Names of nodes that must be among the job's nodes (`-w`)."""
    excluded: tuple[str, ...] = ()
    """Names of nodes that the job must not get (`-x`)."""
    licenses: str = ""
    """Licenses that the job requests or holds, as the scheduler writes them: `matlab:2,ansys:1`."""
    deadline: float | None = None
    """Time by which the job must end; the scheduler removes a job that can no longer do so."""

    @property
    def may_spread(self) -> bool:
        """Return True if the job is known to accept more nodes than the `nodes_wanted` that it needs at least."""
        return self.most_nodes is not None and (not self.most_nodes or self.most_nodes > self.nodes_wanted)

    @property
    def spread(self) -> Mapping[str, int]:
        """Return node -> number of cores, divided evenly, for a job whose real numbers are unknown."""
        each, more = divmod(self.cpus, max(len(self.nodes), 1))
        return {name: each + (place < more) for place, name in enumerate(self.nodes)}

    @property
    def is_waiting(self) -> bool:
        return self.state in WAITING

    @property
    def is_running(self) -> bool:
        """Return True if the job runs, or has ended and is completing."""
        return self.state in RUNNING

    @property
    def has_ended(self) -> bool:
        return not (self.is_waiting or self.is_running or self.state == SUSPENDED)

    @property
    def is_planned(self) -> bool:
        """Return True if the job's expected start is part of a plan of the scheduler. Charts show only such starts."""
        return self.is_waiting and self.reason in PLANNED_FOR and self.start is not None

    @property
    def is_held_until_start(self) -> bool:
        """Return True if the job's expected start is a time before which it cannot start."""
        return self.is_waiting and self.reason == "BeginTime" and self.start is not None


Parts = Mapping[str, float]
"""Mapping from each part of a priority (age, fairshare, job size and so on) to its points."""


@dataclass(frozen=True)
class Cluster:
    """Cluster at the time `at`, as one poll found it: nodes, partitions, reservations, limits and jobs."""

    at: float
    name: str = ""
    version: str = ""
    nodes: tuple[Node, ...] = ()
    """Nodes in the order of the scheduler, in which charts show them."""
    partitions: tuple[Partition, ...] = ()
    reservations: tuple[Reservation, ...] = ()
    jobs: tuple[ClusterJob, ...] = ()
    limits: tuple[Limit, ...] = ()
    parts: Mapping[str, Parts] = field(default_factory=dict)
    """Mapping from each job number to the parts of the job's priority."""
    is_private: bool = False
    """True if the scheduler hides the jobs of other users, so that no plan can be computed."""
    cost: float = 0.0
    """Seconds that the commands of this poll took."""
    me: str = ""
    """Name of the user who runs this program."""
    shares: tuple[Share, ...] = ()
    """Tree of accounts with their shares and past usage; empty if the scheduler does not report it."""
    settings: str = ""
    """Settings of the scheduler's priorities and backfill, a line each, as its configuration has them."""
    unread: int = 0
    """Number of lines in the scheduler's answers to this poll that could not be read."""

    @cached_property
    def job_of(self) -> Mapping[str, ClusterJob]:
        return {job.id: job for job in self.jobs}

    @cached_property
    def node_of(self) -> Mapping[str, Node]:
        return {node.name: node for node in self.nodes}

    @cached_property
    def cpus(self) -> int:
        return sum(node.cpus for node in self.nodes)

    @cached_property
    def queue(self) -> tuple[ClusterJob, ...]:
        """Return the waiting jobs by priority, the highest first, then by submission and number."""
        waiting = (job for job in self.jobs if job.is_waiting)
        return tuple(sorted(waiting, key=lambda job: (-job.priority, job.submit, len(job.number), job.number)))

    @cached_property
    def running(self) -> tuple[ClusterJob, ...]:
        """Return the jobs that hold cores."""
        return tuple(job for job in self.jobs if job.is_running and job.state != COMPLETING)

    @cached_property
    def taken(self) -> Mapping[str, int]:
        """Return each node's name -> its cores in use, by its report if jobs of other users are hidden."""
        if self.is_private:
            return {node.name: node.cpus_taken for node in self.nodes}
        found = dict.fromkeys(self.node_of, 0)
        for job in self.running:
            for name, cpus in ({c.node: c.mask.bit_count() for c in job.cores} or job.spread).items():
                found[name] = found.get(name, 0) + cpus
        return found

    @cached_property
    def job_of_number(self) -> Mapping[str, ClusterJob]:
        """Return jobs by number; of an array's tasks, which may share one, the first."""
        return {job.number: job for job in reversed(self.jobs)}

    @cached_property
    def sharing(self) -> Mapping[str, Mapping[str, int]]:
        """Return, for each partition, itself and the partitions that share nodes with it, each with its tier."""
        nodes = {each.name: frozenset(each.nodes) for each in self.partitions}
        return {
            own: {each.name: each.tier for each in self.partitions if each.name == own or names & nodes[each.name]}
            for own, names in nodes.items()
        }

    @cached_property
    def considered(self) -> Mapping[str, Mapping[int, tuple[int, ...]]]:
        """Return, for each partition and tier, the indices in `queue` of the waiting jobs that could take nodes of the
        partition with this tier as their highest, and that wait only for resources or priority.
        """
        alike: dict[str, list[int]] = {}
        for place, job in enumerate(self.queue):
            if job.reason in PLANNED_FOR or job.reason.startswith(NODES_AWAY) or not job.reason:
                alike.setdefault(job.partition, []).append(place)
        found: dict[str, dict[int, list[int]]] = {}
        for names, places in alike.items():
            tiers: dict[str, int] = {}
            for name in names.split(","):
                for near in (sharing := self.sharing.get(name, {name: 0})):
                    tiers[near] = max(sharing[name], tiers.get(near, sharing[name]))
            for near, tier in tiers.items():
                found.setdefault(near, {}).setdefault(tier, []).extend(places)
        return {near: {tier: tuple(sorted(places)) for tier, places in of.items()} for near, of in found.items()}

    @cached_property
    def place_of(self) -> Mapping[str, int]:
        return {job.id: place for place, job in enumerate(self.queue)}

    def find(self, word: str) -> ClusterJob | None:
        """Return the job that a user means by `word`: the job's id or number, with or without a leading J. For an array
        such as `7` or `7_[3-9%2]` it is the first task that waits or, if none waits, the first one. Return None if
        there is no such job.
        """
        word = word.strip()
        word = word[1:].strip() if word[:1] in ("j", "J") else word
        if (found := self.job_of.get(word)) is not None:
            return found
        array = word.partition("_[")[0]
        tasks = [job for job in self.jobs if job.array == array] if array else []
        return (
            next((job for job in tasks if job.is_waiting), None)
            or self.job_of_number.get(array)
            or next(iter(tasks), None)
        )


class ClusterSource(Protocol):
    """Interface of a scheduler that is read from outside: Slurm now, PBS or Flux later."""

    def snapshot(self) -> Cluster:
        """Return the current state; raise `ClusterError` if the controller cannot be reached or refuses."""

    def history(self, since: float) -> tuple[ClusterJob, ...]:
        """Return the jobs that ended since `since`, from the accounting; empty if the site keeps none."""
