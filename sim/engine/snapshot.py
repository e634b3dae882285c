"""Snapshot: a copy of the state after a step that never changes, with everything that a screen shows."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from math import inf
from typing import overload

from sim.decisions.decisions import Decision, Keep
from sim.decisions.reasons_on_nodes import AtLimit, NodesKept, no_nodes
from sim.decisions.sentences import Reason
from sim.engine.arrivals import most_overtaken
from sim.engine.sharing import Sharing
from sim.engine.state import State, copied
from sim.formatting import clock
from sim.history.past import Switch
from sim.history.running_totals import Totals
from sim.history.stretch import GANG, KINDS
from sim.machine.moment import MOMENT
from sim.machine.nodes import NodeMachine
from sim.machine.ousterhout_matrix import MatrixPicture
from sim.policies.columns import Column
from sim.policies.policy import Policy, columns_of, plans_of, written_policy
from sim.policies.view import Ends
from sim.workload.limits import Use
from sim.workload.model import Job, Workload
from sim.workload.outages import Outage, capacity
from sim.workload.shape import Seats

_MOST_LACKS = 100
"""Largest number of planned jobs, on a machine of nodes, for which a snapshot contains the resources that they lack;
the earliest starts are chosen.
"""


@dataclass(frozen=True, slots=True)
class Running:
    """Running job as a snapshot shows it: time since which it runs, end expected from the estimate, and its
    processors.
    """

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
    """Numbers that the policy wrote for the job, one for each column in `Snapshot.columns`; None where a number is
    missing.
    """


class Queue(Sequence[Queued]):
    """Waiting jobs from front to back. It is an immutable sequence; a member is made only when it is accessed."""

    __slots__ = (
        "_columns", "_granted", "_jobs", "_lasts", "_many", "_moved", "_notes", "_now", "_planned", "_policy",
        "_reserved", "_rows", "_why",
    )  # fmt: skip

    def __init__(
        self,
        jobs: tuple[Job, ...],
        now: float,
        policy: Policy,
        *,
        planned: Mapping[int, float],
        moved: Mapping[int, float],
        reserved: Collection[int],
        granted: Collection[int],
        lasts: Mapping[int, float],
        rows: Mapping[int, int],
        why: Mapping[int, Reason],
        notes: Mapping[str, Mapping[int, float]],
    ) -> None:
        """Make the queue from `jobs`, and from collections of ranks and mappings whose keys are ranks.

        The collections and mappings are not copied, so they must not change.
        """
        self._jobs, self._now, self._policy, self._many = jobs, now, policy, len(policy.queues())
        self._planned, self._moved, self._reserved, self._granted = planned, moved, reserved, granted
        self._lasts, self._rows, self._why = lasts, rows, why
        self._columns, self._notes = columns_of(policy), notes

    @property
    def jobs(self) -> tuple[Job, ...]:
        """Return the waiting jobs as plain jobs, without plans and reasons, from front to back."""
        return self._jobs

    def unplanned(self) -> Queue:
        """Return a copy of the queue without planned starts and reasons to wait."""
        return Queue(
            self._jobs, self._now, self._policy, planned={}, moved={}, reserved=(), granted=self._granted,
            lasts=self._lasts, rows={}, why={}, notes=self._notes,
        )  # fmt: skip

    def place_of(self, rank: int) -> int | None:
        """Return the number of waiting jobs in front of the job `rank` in the queue; None if this job does not wait."""
        return next((place for place, job in enumerate(self._jobs) if job.rank == rank), None)

    def planned_before(self, time: float, looked_at: int) -> list[Queued]:
        """Return the jobs whose planned start is before `time`, among the first `looked_at` jobs of the queue."""
        planned = self._planned
        return [self._queued(job) for job in self._jobs[:looked_at] if planned.get(job.rank, inf) < time]

    def __len__(self) -> int:
        return len(self._jobs)

    @overload
    def __getitem__(self, index: int) -> Queued: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Queued, ...]: ...
    def __getitem__(self, index: int | slice) -> Queued | tuple[Queued, ...]:
        if isinstance(index, slice):
            return tuple(map(self._queued, self._jobs[index]))
        return self._queued(self._jobs[index])

    def __iter__(self) -> Iterator[Queued]:
        return map(self._queued, self._jobs)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Queue | tuple):
            return NotImplemented
        return len(self) == len(other) and all(mine == theirs for mine, theirs in zip(self, other, strict=True))

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return f"Queue({list(self)!r})"

    def _queue_index(self, job: Job) -> int:
        """Return the index of the job's queue in the policy's queues; 0 if the policy gives an index that does not
        exist.
        """
        try:
            place = self._policy.queue_of(job)
        except Exception:
            return 0
        return place if place in range(self._many) else 0

    def _queued(self, job: Job) -> Queued:
        rank, waited = job.rank, job.waited(self._now)
        return Queued(
            job=job,
            waited=waited,
            planned=self._planned.get(rank),
            moved=self._moved.get(rank, 0),
            reserved=rank in self._reserved,
            granted=rank in self._granted,
            place=self._queue_index(job),
            in_line=rank not in (self._reserved if self._policy.grants else self._granted),
            lasts=self._lasts.get(rank, job.estimate),
            row=self._rows.get(rank),
            xfactor=(self._now - job.submit + job.estimate) / job.estimate,
            own=tuple(column.value(self._notes, job) for column in self._columns),
            why=self._why.get(rank),
        )


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
    nodes: NodeMachine | None
    """Copy of the machine of nodes, with what each running job holds; None for equal processors."""
    running: tuple[Running, ...]
    """Running jobs in order of their expected ends."""
    matrix: MatrixPicture | None
    """Copy of the Ousterhout matrix; None if rows do not take turns. With a matrix, `running` has all jobs in it, in
    whichever row.
    """
    rebuild: tuple[Decision, ...]
    """Decisions of the last rebuild of the matrix; empty if there was none."""
    turn_end: float | None
    """Time at which the current turn of a row ends; None if no rows take turns."""
    suspended: tuple[Suspended, ...]
    """Suspended jobs in order of rank, as a snapshot shows them."""
    dropped: tuple[int, ...]
    """Ranks of the jobs that were cancelled until now, because the machine will never again have enough processors for
    them.
    """
    awaited: int | None
    """Rank of the suspended job that resumes next, whose processors are kept free for it; None if there is no such
    job.
    """
    queue: Queue
    """Waiting jobs in the policy's order."""
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
    next_time: float | None
    """Time of the next step; None at the end of the run."""

    def unplanned(self) -> Snapshot:
        """Return a copy without plans and decisions, for quizzes in which the user has to find them."""
        return replace(
            self, queue=self.queue.unplanned(), decisions=(), rebuild=(), awaited=None, outlook=(self.free, ())
        )

    @property
    def there(self) -> int:
        """Return the number of processors that are available (not down)."""
        return self.procs - self.absent.bit_count()

    def __repr__(self) -> str:
        at = "before the first step" if self.time is None else clock(self.time)
        jobs = f"{len(self.running):,} running, {len(self.queue):,} waiting, {len(self.suspended):,} suspended"
        return f"<Snapshot {self.policy}: step {self.step:,}, {at}, {jobs}>"


def take_snapshot(state: State, workload: Workload, next_time: float | None) -> Snapshot:
    """Return a snapshot of the state between two steps."""
    machine, sharing = state.machine, state.sharing
    free, ends, changes = state.outlook(state.awaited)
    return Snapshot(
        step=state.step_count,
        time=state.now if state.step_count else None,
        policy=written_policy(state.policy),
        rules=state.policy,
        procs=state.procs,
        absent=machine.absent,
        outages=state.outages,
        outlook=(free, (*ends, *changes)),
        free=state.free,
        free_set=machine.free_set,
        nodes=machine.copy() if isinstance(machine, NodeMachine) else None,
        running=_running(state) if sharing is None else _sharing(state, sharing),
        matrix=None if sharing is None else sharing.matrix.picture(sharing.turns.row),
        rebuild=state.rebuild,
        turn_end=None if sharing is None else sharing.turns.end,
        suspended=_suspended(state),
        dropped=state.dropped,
        awaited=state.awaited,
        queue=_queued(state),
        wanted=state.waiting.wanted,
        most_overtaken=most_overtaken(state),
        owners=tuple(machine.owners),
        division=tuple(machine.division),
        queues=state.policy.queues(),
        columns=columns_of(state.policy),
        printed=tuple(state.printed),
        arrived=tuple(state.arrived),
        completed=tuple(state.completed),
        decisions=tuple(state.decisions),
        totals=_totals(state, workload),
        switches=state.switches,
        next_time=next_time,
    )


def _running(state: State) -> tuple[Running, ...]:
    held, now, shown = state.machine.held, state.now, []
    predicted = state.policy.predicted_ends
    for _, rank, _ in state.ends:
        run = state.running[rank]
        ran, xfactor = run.ran_by(now), _xfactor(state, run.job)
        end = predicted.value(state.notes, run.job) if isinstance(predicted, Column) else None
        shown.append(
            Running(run.job, run.since, run.expected_end, held[rank], KINDS[run.kind], ran, xfactor, predicted_end=end)
        )
    return tuple(shown)


def _sharing(state: State, sharing: Sharing) -> tuple[Running, ...]:
    """Return the running jobs of a matrix: all jobs in it, in the active row or not, in order of their expected
    ends.
    """
    running = []
    for rank in sharing.ran:
        end = sharing.expected_end(rank, state.remaining_estimate(rank))
        since, columns = state.start_of(rank), sharing.matrix.columns(rank)
        since = state.now if since is None else since
        job, row = state.jobs[rank], sharing.matrix.home(rank) if rank in sharing.new else None
        ran, xfactor, owes = state.ran(rank), _xfactor(state, job), sharing.stall[rank]
        running.append(Running(job, since, end, columns, KINDS[GANG], ran, xfactor, row, owes=owes))
    return tuple(sorted(running, key=lambda r: (r.expected_end, r.job.rank)))


def _suspended(state: State) -> tuple[Suspended, ...]:
    held, shown = state.machine.held.items(), []
    for rank, processors in sorted(state.suspended.items()):
        job, since = state.jobs[rank], state.suspended_since[rank]
        sitting = tuple(other for other, there in held if there & processors)
        shown.append(Suspended(job, since, processors, state.ran(rank), _xfactor(state, job), sitting))
    return tuple(shown)


def _xfactor(state: State, job: Job) -> float:
    return (state.now - job.submit - state.ran(job.rank) + job.estimate) / job.estimate


def _queued(state: State) -> Queue:
    looked = state.decisions if state.sharing is None else state.rebuild
    return Queue(
        tuple(state.line),
        state.now,
        state.policy,
        planned=state.planned,
        moved=state.moved.copy(),
        reserved=frozenset(state.reserved),
        granted=frozenset(state.granted),
        lasts=state.lasts.copy(),
        rows=state.expected_row.copy(),
        why=_at_limits(state)
        | _room_on_nodes(state)
        | {d.job.rank: d.because for d in looked if isinstance(d, Keep)}
        | _kept_in_plan(state),
        notes={column.name: copied(state.notes.get(column.name)) for column in columns_of(state.policy)},
    )


def _at_limits(state: State) -> dict[int, Reason]:
    """Return, for the rank of each waiting job that a limit holds back, a reason that names the limit."""
    return {rank: at_limit(state.limits, rank) for rank in state.held_back()} if state.limits else {}


def at_limit(use: Use, rank: int) -> AtLimit:
    """Return the reason with the limit that holds back the job `rank`; `use` has the amounts in use of all limits."""
    over = use.over(rank)
    assert over is not None
    bound, used, needed = over
    return AtLimit(bound.reason, bound.owner, used, bound.most, needed, bound.unit)


def _room_on_nodes(state: State) -> dict[int, Reason]:
    """Return a mapping from the rank of each job that does not fit on the nodes to a reason naming what it lacks. A job
    that fits gets a reason if nodes are reserved for another.

    Only waiting jobs with a planned start count, and only if the total number of free processors is large enough.
    """
    if not isinstance(state.machine, NodeMachine):
        return {}
    first = sorted(state.planned, key=state.planned.__getitem__)[:_MOST_LACKS]
    waiting = (state.waiting.jobs[rank] for rank in first if rank in state.waiting.jobs)
    jobs = [job for job in waiting if job.procs <= state.free]
    machine = state.machine
    found: dict[int, Reason] = {}
    for job in jobs:
        if not machine.fits(job):
            found[job.rank] = no_nodes(machine.lack(job), machine.kept_from(job))
        elif kept := _nodes_kept(state, machine, job):
            found[job.rank] = kept
    return found


def _kept_in_plan(state: State) -> dict[int, Reason]:
    """Return a mapping from the rank of each planned job that fits now to a reason, if the policy's last plan keeps
    nodes for jobs before it.
    """
    machine = state.machine
    if not isinstance(machine, NodeMachine):
        return {}
    planned = _plans(state)
    found, before = dict[int, Reason](), dict[int, tuple[float, Seats]]()
    for rank, plan in planned.items():
        if kept := _nodes_kept(state, machine, state.jobs[rank], before):
            found[rank] = kept
        before[rank] = plan
    return found


def _plans(state: State) -> dict[int, tuple[float, Seats]]:
    """Return the plans of waiting jobs that the policy tells; a plan whose start has passed is left out."""
    told, waits, now = plans_of(state.policy, state.notes, _MOST_LACKS), state.waiting.jobs, state.now
    return {rank: plan for rank, plan in told.items() if rank in waits and plan[0] >= now - MOMENT}


def nodes_kept(state: State, job: Job) -> NodesKept | None:
    """Return the reason that nodes are kept from a job which fits now, as snapshots have it for all jobs. The result is
    None if the policy keeps no nodes from the job.
    """
    machine = state.machine
    if not isinstance(machine, NodeMachine):
        return None
    planned = _plans(state)
    if job.rank in planned:
        before = takewhile(lambda rank: rank != job.rank, planned)
        return _nodes_kept(state, machine, job, {rank: planned[rank] for rank in before})
    return _nodes_kept(state, machine, job) if job.rank in state.planned else None


def _nodes_kept(
    state: State, machine: NodeMachine, job: Job, before: Mapping[int, tuple[float, Seats]] | None = None
) -> NodesKept | None:
    if job.procs > state.free or not (kept := machine.kept_nodes(job, state.now, state.ends, before)):
        return None
    return NodesKept(state.jobs[kept[0]], *kept[1:])


def _totals(state: State, workload: Workload) -> Totals:
    under_way = sum(state.ran(rank) * state.jobs[rank].procs for rank in {*state.under_way, *state.suspended})
    first = workload.jobs[0].submit if len(workload) else 0
    return state.tally.totals(capacity(state.outages, state.procs, first, state.now), under_way)
