"""The immutable view of one moment: all that a screen may see."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, overload

from sim.decisions.decisions import Decision, Keep
from sim.decisions.sentences import Reason
from sim.engine.sharing import Sharing
from sim.history.history import GANG, KINDS, PolicyChange
from sim.history.tally import Totals
from sim.machine.matrix import MatrixPicture
from sim.policies.policy import Policy, written_policy
from sim.workload.model import Job

if TYPE_CHECKING:
    from sim.engine.engine import Engine


@dataclass(frozen=True, slots=True)
class Running:
    """A job that runs: since when, until when by its estimate, on which processors."""

    job: Job
    since: float
    expected_end: float
    processors: int
    kind: str
    """run, speculative, suspending, resuming: as in `sim.history.history.KINDS`."""
    ran: float
    """Seconds of progress so far."""
    xfactor: float


@dataclass(frozen=True, slots=True)
class Suspended:
    """A job that was stopped: since when, on which processors it must go on, what it has done."""

    job: Job
    since: float
    processors: int
    ran: float
    xfactor: float
    blocked_by: tuple[int, ...]
    """The ranks of the jobs that sit on its processors; none: it can go on."""


@dataclass(frozen=True, slots=True)
class Queued:
    """A job that waits. `planned` and `why` are None where the policy plans or says nothing."""

    job: Job
    waited: float
    planned: float | None
    moved: float
    """By how much its planned start moved in this step; negative is earlier."""
    reserved: bool
    """Does the planned start stand as a reservation? Else it is a plan, made anew at each pass."""
    granted: bool
    """Did its user ask for it? Then no switch of the policy moves it."""
    place: int
    """Which of the policy's queues it stands in."""
    row: int | None
    """The row of the matrix in which it is planned to start."""
    xfactor: float
    """The expansion factor, (wait + estimate) / estimate."""
    why: Reason | None
    """Why it was kept waiting at this step; None: the policy did not consider it."""


class Queue(Sequence[Queued]):
    """The jobs that wait, front to back: a tuple whose members are made when somebody looks at them."""

    __slots__ = ("_granted", "_jobs", "_moved", "_now", "_planned", "_policy", "_reserved", "_rows", "_why")

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
        rows: Mapping[int, int],
        why: Mapping[int, Reason],
    ) -> None:
        """The arguments are the queue's own from now on."""
        self._jobs, self._now, self._policy = jobs, now, policy
        self._planned, self._moved, self._reserved, self._granted = planned, moved, reserved, granted
        self._rows, self._why = rows, why

    @property
    def jobs(self) -> tuple[Job, ...]:
        """The jobs alone."""
        return self._jobs

    def place_of(self, rank: int) -> int | None:
        """How many stand before that job; None: it does not wait."""
        return next((place for place, job in enumerate(self._jobs) if job.rank == rank), None)

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

    def _queued(self, job: Job) -> Queued:
        rank, waited = job.rank, self._now - job.submit
        return Queued(
            job=job,
            waited=waited,
            planned=self._planned.get(rank),
            moved=self._moved.get(rank, 0),
            reserved=rank in self._reserved,
            granted=rank in self._granted,
            place=self._policy.queue_of(job),
            row=self._rows.get(rank),
            xfactor=(waited + job.estimate) / job.estimate,
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
    """The policy itself, for what it declares of itself."""
    procs: int
    free: int
    free_set: int
    running: tuple[Running, ...]
    """By expected end."""
    matrix: MatrixPicture | None
    """The Ousterhout matrix, where jobs share processors in time; then `running` are the jobs in it."""
    rebuild: tuple[Decision, ...]
    """What the last rebuild of the matrix did, phase by phase."""
    turn_end: float | None
    """When the row on turn hands over; None: it does not."""
    suspended: tuple[Suspended, ...]
    """By rank."""
    awaited: int | None
    """The suspended job, by rank, for which its processors are kept, so that it goes on when they are free."""
    queue: Queue
    """In the policy's order."""
    wanted: int
    """Processors that those who wait ask for together."""
    owners: tuple[int, ...]
    """Which processors each partition owns; empty where there are no partitions."""
    division: tuple[int, ...]
    """Which it owned at first: `owners[p] & division[q]` is what p has borrowed from q."""
    queues: tuple[str, ...]
    """The names of the policy's queues, where it has several; `Queued.place` is an index into them."""
    arrived: tuple[Job, ...]
    completed: tuple[Job, ...]
    decisions: tuple[Decision, ...]
    """What was decided in this step, in order, and why jobs were kept."""
    totals: Totals
    switches: tuple[PolicyChange, ...]
    """Every switch of the policy so far."""
    next_time: float | None
    """When the next step will be; None: the run is over."""


def take_snapshot(engine: Engine) -> Snapshot:
    """What an engine looks like between two steps."""
    machine, sharing = engine.machine, engine.sharing
    return Snapshot(
        step=engine.step_count,
        time=engine.now if engine.step_count else None,
        policy=written_policy(engine.policy),
        rules=engine.policy,
        procs=engine.procs,
        free=engine.free,
        free_set=machine.free_set,
        running=_running(engine) if sharing is None else _sharing(engine, sharing),
        matrix=None if sharing is None else sharing.matrix.picture(sharing.turns.row),
        rebuild=engine.rebuild,
        turn_end=None if sharing is None else sharing.turns.end,
        suspended=_suspended(engine),
        awaited=engine.awaited,
        queue=_queued(engine),
        wanted=engine.wanted,
        owners=tuple(machine.owners),
        division=tuple(machine.division),
        queues=engine.policy.queues(),
        arrived=tuple(engine.arrived),
        completed=tuple(engine.completed),
        decisions=tuple(engine.decisions),
        totals=_totals(engine),
        switches=tuple(PolicyChange(s.step, s.time, s.was, s.spec) for s in engine.switches),
        next_time=engine.next_time(),
    )


def _running(engine: Engine) -> tuple[Running, ...]:
    held, now, shown = engine.machine.held, engine.now, []
    for _, rank, _ in engine.ends:
        run = engine.running[rank]
        ran, xfactor = run.ran_by(now), _xfactor(engine, run.job)
        shown.append(Running(run.job, run.since, run.expected_end, held[rank], KINDS[run.kind], ran, xfactor))
    return tuple(shown)


def _sharing(engine: Engine, sharing: Sharing) -> tuple[Running, ...]:
    """The jobs in the matrix, on turn or not."""
    running = []
    for rank in sharing.remaining:
        end = sharing.expected_end(rank, engine.remaining_estimate(rank))
        since, columns = engine.start_of(rank), sharing.matrix.columns(rank)
        since = engine.now if since is None else since
        job = engine.job(rank)
        running.append(Running(job, since, end, columns, KINDS[GANG], engine.ran(rank), _xfactor(engine, job)))
    return tuple(sorted(running, key=lambda r: (r.expected_end, r.job.rank)))


def _suspended(engine: Engine) -> tuple[Suspended, ...]:
    held, shown = engine.machine.held.items(), []
    for rank, processors in sorted(engine.suspended.items()):
        job, since = engine.job(rank), engine.suspended_since[rank]
        sitting = tuple(other for other, there in held if there & processors)
        shown.append(Suspended(job, since, processors, engine.ran(rank), _xfactor(engine, job), sitting))
    return tuple(shown)


def _xfactor(engine: Engine, job: Job) -> float:
    return (engine.now - job.submit - engine.ran(job.rank) + job.estimate) / job.estimate


def _queued(engine: Engine) -> Queue:
    looked = engine.decisions if engine.sharing is None else engine.rebuild
    return Queue(
        tuple(engine.queue),
        engine.now,
        engine.policy,
        planned={**engine.expected, **engine.reserved},
        moved=engine.moved.copy(),
        reserved=frozenset(engine.reserved),
        granted=frozenset(engine.granted),
        rows=engine.expected_row.copy(),
        why={d.job.rank: d.because for d in looked if isinstance(d, Keep)},
    )


def _totals(engine: Engine) -> Totals:
    ranks = engine.running if engine.sharing is None else engine.sharing.remaining
    under_way = sum(engine.ran(rank) * engine.job(rank).procs for rank in {*ranks, *engine.suspended})
    first = engine.workload.jobs[0].submit if len(engine.workload) else 0
    return engine.tally.totals(engine.now - first, engine.procs, under_way)
