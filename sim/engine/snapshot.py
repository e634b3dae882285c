"""The immutable view of one moment: all that a screen may see."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import overload

from sim.decisions.decisions import Decision, Keep
from sim.decisions.reasons_on_nodes import NoNodes
from sim.decisions.sentences import Reason
from sim.engine.sharing import Sharing
from sim.engine.state import State, copied
from sim.formatting import clock
from sim.history.past import Switch
from sim.history.running_totals import Totals
from sim.history.stretch import GANG, KINDS
from sim.machine.ousterhout_matrix import MatrixPicture
from sim.policies.columns import Column
from sim.policies.policy import Policy, columns_of, written_policy
from sim.policies.view import Ends
from sim.workload.model import Job, Workload
from sim.workload.outages import Outage, capacity

_MOST_LACKS = 100
"""Number of planned jobs for which a snapshot finds what they lack on nodes."""


@dataclass(frozen=True, slots=True)
class Running:
    """A job that runs: since when, until when by its estimate, on which processors."""

    job: Job
    since: float
    expected_end: float
    processors: int
    kind: str
    """run, speculative, suspending, resuming: as in `sim.history.stretch.KINDS`."""
    ran: float
    """Seconds of progress so far."""
    xfactor: float
    row: int | None = None
    """Home row, if it is in a matrix and has not had a turn."""
    predicted_end: float | None = None
    """End that the policy predicts, if it does."""
    owes: float = 0.0
    """Seconds of its turns that a migration still costs it, before it makes progress."""


@dataclass(frozen=True, slots=True)
class Suspended:
    """Suspended job: since when, the processors it needs, and its progress."""

    job: Job
    since: float
    processors: int
    ran: float
    xfactor: float
    blocked_by: tuple[int, ...]
    """Ranks of the jobs on its processors; empty if it can resume."""


@dataclass(frozen=True, slots=True)
class Queued:
    """Waiting job. `planned` and `why` are None if the policy gives none."""

    job: Job
    waited: float
    planned: float | None
    moved: float
    """Move of its planned start in this step; negative is earlier."""
    reserved: bool
    """True if the planned start is a reservation; otherwise it is recomputed at each pass."""
    granted: bool
    """True if its user requested the reservation; then no switch of the policy moves it."""
    place: int
    """Number of its queue among the policy's queues."""
    in_line: bool
    """True if it is in a queue, unlike jobs with a reservation that is granted or for a trial."""
    lasts: float
    """Planned length in seconds: its estimate, or its trial's."""
    row: int | None
    """The row of the matrix in which it is planned to start."""
    xfactor: float
    """The expansion factor, (wait + estimate) / estimate."""
    why: Reason | None
    """Reason to wait at this step; None if the policy did not consider it."""
    own: tuple[float | None, ...] = ()
    """Numbers of the policy's own, one for each of `Snapshot.columns`."""


class Queue(Sequence[Queued]):
    """Waiting jobs from front to back, as a tuple whose members are made on access."""

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
        """Take over the arguments as the queue's own."""
        self._jobs, self._now, self._policy, self._many = jobs, now, policy, len(policy.queues())
        self._planned, self._moved, self._reserved, self._granted = planned, moved, reserved, granted
        self._lasts, self._rows, self._why = lasts, rows, why
        self._columns, self._notes = columns_of(policy), notes

    @property
    def jobs(self) -> tuple[Job, ...]:
        """Return the jobs alone."""
        return self._jobs

    def unplanned(self) -> Queue:
        """Return the same jobs without planned starts and reasons."""
        return Queue(
            self._jobs, self._now, self._policy, planned={}, moved={}, reserved=(), granted=self._granted,
            lasts=self._lasts, rows={}, why={}, notes=self._notes,
        )  # fmt: skip

    def place_of(self, rank: int) -> int | None:
        """Return how many jobs are before that job; None if it does not wait."""
        return next((place for place, job in enumerate(self._jobs) if job.rank == rank), None)

    def planned_before(self, time: float, looked_at: int) -> list[Queued]:
        """Return the jobs planned before that moment, of the first `looked_at`."""
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

    def _place(self, job: Job) -> int:
        """Return the number of its queue, 0 if the policy names one that does not exist."""
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
            place=self._place(job),
            in_line=rank not in (self._reserved if self._policy.grants else self._granted),
            lasts=self._lasts.get(rank, job.estimate),
            row=self._rows.get(rank),
            xfactor=(self._now - job.submit + job.estimate) / job.estimate,
            own=tuple(column.value(self._notes, job) for column in self._columns),
            why=self._why.get(rank),
        )


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The state after one step."""

    step: int
    """Steps made so far; 0 before the first."""
    time: float | None
    policy: str
    rules: Policy
    """Policy, for its declared properties."""
    procs: int
    """All processors that there will ever be."""
    absent: int
    """Set of the unavailable processors."""
    outages: tuple[Outage, ...]
    """Known times at which processors are unavailable, including past ones."""
    outlook: tuple[int, Ends]
    """Free processors, and (time, rank or -1, additional processors) of all expected ends and announced changes of the
    machine, as if the awaited job ran on its processors.
    """
    free: int
    free_set: int
    running: tuple[Running, ...]
    """Running jobs by expected end."""
    matrix: MatrixPicture | None
    """The Ousterhout matrix, where jobs share processors in time; then `running` are the jobs in it."""
    rebuild: tuple[Decision, ...]
    """Phases of the last rebuild of the matrix."""
    turn_end: float | None
    """End of the current turn, or None."""
    suspended: tuple[Suspended, ...]
    """Suspended jobs by rank."""
    dropped: tuple[int, ...]
    """The ranks of the jobs that were given up: wider than all that there will ever be again."""
    awaited: int | None
    """Rank of the suspended job for which processors are reserved until it can resume."""
    queue: Queue
    """Waiting jobs in the policy's order."""
    wanted: int
    """Total of the processors that waiting jobs request."""
    owners: tuple[int, ...]
    """Processors of each partition; empty without partitions."""
    division: tuple[int, ...]
    """Processors that each partition owned at first: `owners[p] & division[q]` is what p has borrowed from q."""
    queues: tuple[str, ...]
    """The names of the policy's queues, where it has several; `Queued.place` is an index into them."""
    columns: tuple[Column, ...]
    """Numbers of the policy; `Queued.own` has those of a job."""
    printed: tuple[str, ...]
    """Lines that the policy printed in this step: untrusted text."""
    arrived: tuple[Job, ...]
    completed: tuple[Job, ...]
    decisions: tuple[Decision, ...]
    """Decisions of this step in order, with reasons to wait."""
    totals: Totals
    switches: tuple[Switch, ...]
    """Every switch of the policy so far."""
    next_time: float | None
    """Time of the next step; None if the run is over."""

    def unplanned(self) -> Snapshot:
        """Return the same moment without plans and decisions, for questions about the future."""
        return replace(
            self, queue=self.queue.unplanned(), decisions=(), rebuild=(), awaited=None, outlook=(self.free, ())
        )

    @property
    def there(self) -> int:
        """Return the number of available processors."""
        return self.procs - self.absent.bit_count()

    def __repr__(self) -> str:
        at = "before the first step" if self.time is None else clock(self.time)
        jobs = f"{len(self.running):,} running, {len(self.queue):,} waiting, {len(self.suspended):,} suspended"
        return f"<Snapshot {self.policy}: step {self.step:,}, {at}, {jobs}>"


def take_snapshot(state: State, workload: Workload, next_time: float | None) -> Snapshot:
    """Return the state of a run between two steps."""
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
        running=_running(state) if sharing is None else _sharing(state, sharing),
        matrix=None if sharing is None else sharing.matrix.picture(sharing.turns.row),
        rebuild=state.rebuild,
        turn_end=None if sharing is None else sharing.turns.end,
        suspended=_suspended(state),
        dropped=state.dropped,
        awaited=state.awaited,
        queue=_queued(state),
        wanted=state.waiting.wanted,
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
    """Return the jobs in the matrix, whether their row is active or not."""
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
        why=_room_on_nodes(state) | {d.job.rank: d.because for d in looked if isinstance(d, Keep)},
        notes={column.name: copied(state.notes.get(column.name)) for column in columns_of(state.policy)},
    )


def _room_on_nodes(state: State) -> dict[int, Reason]:
    """Return the resources that planned jobs lack on nodes, which numbers of processors do not show."""
    if not state.machine.has_nodes:
        return {}
    first = sorted(state.planned, key=state.planned.__getitem__)[:_MOST_LACKS]
    waiting = (state.waiting.jobs[rank] for rank in first if rank in state.waiting.jobs)
    jobs = [job for job in waiting if job.procs <= state.free]
    return {job.rank: NoNodes(*state.machine.lack(job)) for job in jobs if not state.machine.fits(job)}


def _totals(state: State, workload: Workload) -> Totals:
    under_way = sum(state.ran(rank) * state.jobs[rank].procs for rank in {*state.under_way, *state.suspended})
    first = workload.jobs[0].submit if len(workload) else 0
    return state.tally.totals(capacity(state.outages, state.procs, first, state.now), under_way)
