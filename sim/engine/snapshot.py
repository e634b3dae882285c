"""Snapshot: a copy of the state after a step that never changes, with everything that a screen shows.

It is made from a moment of a run (`sim.engine.view`), and answers what a moment does.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import NamedTuple, TypeAlias, TypeVar, overload

from sim.decisions.decisions import Decision
from sim.decisions.sentences import Reason
from sim.engine.copies import copied
from sim.history.past import Switch
from sim.history.running_totals import Totals
from sim.machine.nodes import NodeMachine
from sim.machine.ousterhout_matrix import MatrixPicture
from sim.machine.plan import Ends
from sim.policies.columns import Column
from sim.policies.policy import Policy
from sim.support.formatting import clock
from sim.workload.model import Job
from sim.workload.outages import Outage

_Shown = TypeVar("_Shown")


class Lazily(Sequence[_Shown]):
    """Immutable sequence that is made when it is first accessed."""

    __slots__ = ("_made",)

    def __init__(self, make: Callable[[], tuple[_Shown, ...]]) -> None:
        """`make` returns the members; it asks nothing that can change."""
        self._made: Callable[[], tuple[_Shown, ...]] | tuple[_Shown, ...] = make

    @property
    def _members(self) -> tuple[_Shown, ...]:
        if not isinstance(self._made, tuple):
            self._made = self._made()
        return self._made

    def __len__(self) -> int:
        return len(self._members)

    @overload
    def __getitem__(self, index: int) -> _Shown: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[_Shown, ...]: ...
    def __getitem__(self, index: int | slice) -> _Shown | tuple[_Shown, ...]:
        return self._members[index]

    def __iter__(self) -> Iterator[_Shown]:
        return iter(self._members)

    def __eq__(self, other: object) -> bool:
        return self._members == tuple(other) if isinstance(other, Lazily | tuple) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._members)

    def __repr__(self) -> str:
        return repr(self._members)

    def __reduce__(self) -> tuple[type[tuple[_Shown, ...]], tuple[tuple[_Shown, ...]]]:
        return tuple, (self._members,)


@dataclass(frozen=True, slots=True)
class Running:
    """Running job as a snapshot shows it: since when it runs, its end by the estimate, and its processors."""

    job: Job
    since: float
    expected_end: float
    processors: int
    kind: str
    """Kind of the stay on processors, such as run, speculative, suspending or resuming; see
    `sim.history.stretch.KINDS`.
    """
    ran: float
    """Seconds for which the job has run so far."""
    xfactor: float
    row: int | None = None
    """Home row in the matrix, if the job has not had its first turn; None for any other job."""
    predicted_end: float | None = None
    """End that the policy predicts for the job; None if the policy makes no predictions."""
    owes: float = 0.0
    """Seconds of its turns in which the job still makes no progress because of migrations."""


@dataclass(frozen=True, slots=True)
class Suspended:
    """Suspended job as a snapshot shows it: time since which it is suspended, processors that it needs to resume, and
    progress.
    """

    job: Job
    since: float
    processors: int
    ran: float
    xfactor: float
    blocked_by: tuple[int, ...]
    """Ranks of the jobs that hold some of the suspended job's processors."""


@dataclass(frozen=True, slots=True)
class Queued:
    """Waiting job as a snapshot shows it. `planned` is the job's planned start in seconds; None if no start is
    planned.
    """

    job: Job
    waited: float
    planned: float | None
    moved: float
    """Seconds by which the job's planned start moved in this step; negative if it moved to an earlier time."""
    reserved: bool
    """True if the planned start is a reservation. False if it is only expected: then the policy computes it anew at
    each pass.
    """
    granted: bool
    """True if the user requested the reservation, so that it is kept when the policy is switched."""
    place: int
    """Index of the job's queue in the policy's list of queues."""
    in_line: bool
    """True if the job is in a queue; False for a job with a granted reservation or a planned speculative run."""
    lasts: float
    """Seconds for which the job is planned to run: its estimate, or the limit of its speculative run."""
    row: int | None
    """Row of the matrix in which the job is planned to start; None if no row is planned."""
    xfactor: float
    """Expansion factor of the job, (wait + estimate) / estimate."""
    why: Reason | None
    """Reason why the job waits at this step; None if it is unknown, for instance because the policy did not consider
    the job.
    """
    own: tuple[float | None, ...] = ()
    """Numbers that the policy wrote for the job, one for each column in `Snapshot.columns`; None where missing."""


class Counts(NamedTuple):
    """Numbers of jobs that wait, that run or are in the matrix, and that are suspended."""

    waiting: int
    running: int
    suspended: int


@dataclass(frozen=True, eq=False, repr=False)
class QueueSeen(Sequence[Queued]):
    """Waiting jobs from front to back. It is an immutable sequence; a member is made only when it is accessed.

    Collections have ranks, and mappings have them as keys; they are not copied, so they must not change.
    """

    jobs: tuple[Job, ...]
    """Waiting jobs as plain jobs, without plans and reasons, from front to back"""
    now: float
    policy: Policy
    queues: int
    """Number of the policy's queues"""
    planned: Mapping[int, float]
    moved: Mapping[int, float]
    reserved: Collection[int]
    granted: Collection[int]
    lasts: Mapping[int, float]
    rows: Mapping[int, int]
    why: Mapping[int, Reason]
    columns: tuple[Column, ...]
    notes: Mapping[str, Mapping[int, float]]
    """Numbers of the policy's columns, by the name of the column"""

    def frozen(self, why: Mapping[int, Reason]) -> QueueSeen:
        """Return a copy with the reasons `why`, which shares no collection with a run."""
        return replace(
            self, moved=dict(self.moved), reserved=frozenset(self.reserved), granted=frozenset(self.granted),
            lasts=dict(self.lasts), rows=dict(self.rows), why=why, notes=copied(self.notes),
        )  # fmt: skip

    def unplanned(self) -> QueueSeen:
        return replace(self, planned={}, moved={}, reserved=(), rows={}, why={})

    def place_of(self, rank: int) -> int | None:
        """Return the number of waiting jobs in front of the job `rank` in the queue; None if this job does not wait."""
        return next((place for place, job in enumerate(self.jobs) if job.rank == rank), None)

    def entry(self, rank: int) -> Queued | None:
        return next((self._queued(job) for job in self.jobs if job.rank == rank), None)

    def ahead_of(self, rank: int) -> list[Job]:
        """Return the jobs in front of a waiting job in its own queue; empty if the job is in no queue."""
        place = self.place_of(rank)
        return [] if place is None else self.ahead_at(place, self.jobs[place])

    def ahead_at(self, place: int, of: Job) -> list[Job]:
        """Return those of the first `place` waiting jobs that are in the same queue as the job `of`; empty if that job
        is in no queue.
        """
        own = self._queue_index(of)
        if not self._is_in_line(of.rank):
            return []
        return [job for job in self.jobs[:place] if self._queue_index(job) == own and self._is_in_line(job.rank)]

    def plans(self) -> Iterator[tuple[Job, float, float]]:
        planned, lasts = self.planned, self.lasts
        return ((q, planned[q.rank], lasts.get(q.rank, q.estimate)) for q in self.jobs if q.rank in planned)

    def planned_before(self, time: float, looked_at: int) -> list[Queued]:
        """Return the jobs whose planned start is before `time`, among the first `looked_at` jobs of the queue."""
        planned = self.planned
        return [self._queued(job) for job in self.jobs[:looked_at] if planned.get(job.rank, inf) < time]

    def __len__(self) -> int:
        return len(self.jobs)

    @overload
    def __getitem__(self, index: int) -> Queued: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Queued, ...]: ...
    def __getitem__(self, index: int | slice) -> Queued | tuple[Queued, ...]:
        if isinstance(index, slice):
            return tuple(map(self._queued, self.jobs[index]))
        return self._queued(self.jobs[index])

    def __iter__(self) -> Iterator[Queued]:
        return map(self._queued, self.jobs)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, QueueSeen | tuple):
            return NotImplemented
        return len(self) == len(other) and all(mine == theirs for mine, theirs in zip(self, other, strict=True))

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return f"QueueSeen({list(self)!r})"

    def _queue_index(self, job: Job) -> int:
        """Return the index of the job's queue in the policy's queues; 0 if the policy gives an index that does not
        exist.
        """
        try:
            place = self.policy.queue_of(job)
        except Exception:
            return 0
        return place if place in range(self.queues) else 0

    def _is_in_line(self, rank: int) -> bool:
        return rank not in (self.reserved if self.policy.grants else self.granted)

    def _queued(self, job: Job) -> Queued:
        rank, waited = job.rank, job.waited(self.now)
        return Queued(
            job=job,
            waited=waited,
            planned=self.planned.get(rank),
            moved=self.moved.get(rank, 0),
            reserved=rank in self.reserved,
            granted=rank in self.granted,
            place=self._queue_index(job),
            in_line=self._is_in_line(rank),
            lasts=self.lasts.get(rank, job.estimate),
            row=self.rows.get(rank),
            xfactor=(self.now - job.submit + job.estimate) / job.estimate,
            own=tuple(column.value(self.notes, job) for column in self.columns),
            why=self.why.get(rank),
        )


Entry: TypeAlias = Queued | Suspended | Running


@dataclass(frozen=True, slots=True)
class Snapshot:
    """State of a run after one step."""

    step: int
    """Number of steps made so far; 0 before the first."""
    time: float | None
    policy: str
    rules: Policy
    """Policy that decides now, as an object; `policy` is its name as text."""
    procs: int
    """Largest number of processors that the machine ever has."""
    absent: int
    """Processors that are unavailable at this step, as bits."""
    outages: tuple[Outage, ...]
    """Known periods in which processors are unavailable, including past ones."""
    outlook: tuple[int, Ends]
    """Number of free processors, and known future changes: (time, rank, change of the number of free processors).

    First come the expected ends of jobs, then the changes of the machine with -1 in place of a rank; both parts are
    sorted by time. The suspended job that resumes next counts as if it ran on its processors.
    """
    free: int
    free_set: int
    running: Sequence[Running]
    """Running jobs in order of their expected ends."""
    matrix: MatrixPicture | None
    """Copy of the Ousterhout matrix; None if rows do not take turns. With a matrix, `running` has all jobs in it, in
    whichever row.
    """
    rebuild: tuple[Decision, ...]
    """Decisions of the last rebuild of the matrix; empty if there was none."""
    turn_end: float | None
    """Time at which the current turn of a row ends; None if no rows take turns."""
    suspended: Sequence[Suspended]
    """Suspended jobs in order of rank, as a snapshot shows them."""
    dropped: tuple[int, ...]
    """Ranks of the jobs cancelled until now, because the machine will never again have enough processors."""
    awaited: int | None
    """Rank of the suspended job that resumes next, whose processors are kept free for it; None if there is no such
    job.
    """
    wanted: int
    """Total number of processors that the waiting jobs request."""
    most_overtaken: int
    """Largest number of later jobs that have passed one waiting job."""
    owners: tuple[int, ...]
    """For each partition: processors that it owns now, as bits; empty without partitions."""
    division: tuple[int, ...]
    """For each partition: processors that it owned when the machine was divided, as bits. `owners[p] & division[q]` are
    the processors that p has borrowed from q.
    """
    queues: tuple[str, ...]
    """Names of the policy's queues, empty if it has only one. `Queued.place` is an index into these names."""
    columns: tuple[Column, ...]
    """Columns of numbers from the policy that tables of jobs show; `Queued.own` has one number for each of these
    columns.
    """
    printed: tuple[str, ...]
    """Lines that the policy's code printed in this step; they may contain any text."""
    arrived: tuple[Job, ...]
    completed: tuple[Job, ...]
    decisions: tuple[Decision, ...]
    """Decisions of this step in order, including the statements that jobs wait, with reasons."""
    totals: Totals
    switches: tuple[Switch, ...]
    """All changes of the policy up to and including this step."""
    nodes: NodeMachine | None
    """Copy of the machine of nodes, with what each running job holds; None for equal processors."""
    queue: QueueSeen
    """Waiting jobs in the policy's order."""
    next_time: float | None
    """Time of the next step; None at the end of the run."""

    def unplanned(self) -> Snapshot:
        """Return a copy without plans, ends in turns and decisions, for quizzes in which the user has to find them."""
        since = self.time or 0.0
        running = tuple(replace(run, expected_end=since) if run.kind == "gang" else run for run in self.running)
        return replace(
            self, queue=self.queue.unplanned(), running=running, decisions=(), rebuild=(), awaited=None,
            outlook=(self.free, ()),
        )  # fmt: skip

    @property
    def there(self) -> int:
        return self.procs - self.absent.bit_count()

    @property
    def waiting(self) -> tuple[Job, ...]:
        return self.queue.jobs

    @property
    def counts(self) -> Counts:
        return Counts(len(self.queue), len(self.running), len(self.suspended))

    @property
    def notes(self) -> Mapping[str, Mapping[int, float]]:
        """Return the numbers that `columns` show, by the name of the column."""
        return self.queue.notes

    def moved(self, rank: int) -> float:
        queued = self.queue.entry(rank)
        return 0 if queued is None else queued.moved

    def entry(self, rank: int) -> Entry | None:
        """Return the job among the waiting, suspended or running jobs; None if it has ended or not arrived."""
        begun: tuple[Suspended | Running, ...] = (*self.suspended, *self.running)
        return self.queue.entry(rank) or next((entry for entry in begun if entry.job.rank == rank), None)

    @property
    def ends(self) -> Ends:
        """Return (expected end, rank, processors) of each running job, sorted; empty if there is a matrix."""
        return () if self.matrix else [(run.expected_end, run.job.rank, run.job.procs) for run in self.running]

    def __repr__(self) -> str:
        at = "before the first step" if self.time is None else clock(self.time)
        jobs = f"{len(self.running):,} running, {len(self.queue):,} waiting, {len(self.suspended):,} suspended"
        return f"<Snapshot {self.policy}: step {self.step:,}, {at}, {jobs}>"
