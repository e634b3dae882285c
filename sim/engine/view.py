"""View of one moment of a run: all that the rest of the program may ask of it.

A live run and a snapshot both answer in the same words, which `Snapshot` describes; `LiveView` adds what only a live
run knows. It shows the state after the engine's last step; within a step, the state so far. Its values are valid until
the run goes on, and no reader can change the run by them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from itertools import takewhile
from operator import attrgetter
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

from sim.decisions.decisions import Decision, Keep
from sim.decisions.reasons_on_nodes import AtLimit, NodesKept, no_nodes
from sim.decisions.sentences import Reason
from sim.engine.copies import copied
from sim.engine.moment import Moment
from sim.engine.sharing import Sharing
from sim.engine.snapshot import Counts, Entry, Lazily, QueueSeen, Running, Snapshot, Suspended
from sim.engine.stay import Stay
from sim.history.past import Switch
from sim.history.running_totals import Totals
from sim.history.stretch import GANG, KINDS
from sim.machine.moment import MOMENT
from sim.machine.nodes import NodeMachine
from sim.machine.ousterhout_matrix import MatrixPicture, MatrixView
from sim.machine.plan import Ends, Plan
from sim.policies.columns import Column
from sim.policies.policy import Policy, columns_of, plans_of
from sim.workload.limits import LimitUse
from sim.workload.model import Floats, Job, Jobs, Workload
from sim.workload.outages import Outage, capacity
from sim.workload.shape import Seats

Where: TypeAlias = Literal["queue", "running", "suspended", "matrix"]
_MOST_LACKS = 100
"""Largest number of planned jobs, on a machine of nodes, for which a snapshot contains the resources that they lack;
the earliest starts are chosen.
"""


def _of_present(name: str) -> Any:
    return property(attrgetter(f"_present.{name}"))


def _tuple_of(name: str) -> Any:
    get = attrgetter(name)
    return property(lambda self: tuple(get(self._present)))


def _mapping_of(name: str) -> Any:
    get = attrgetter(name)
    return property(lambda self: MappingProxyType(get(self._present)))


class LiveView:
    """Present moment of a run; nothing is copied before it is asked for. Members without a docstring are those of
    `Snapshot`. `queue` has no reasons to wait; `reasons` finds them, which takes longer.
    """

    __slots__ = ("_present", "_workload")

    step: int = _of_present("_step")
    policy: str = _of_present("spec")
    rules: Policy = _of_present("_policy")
    procs: int = _of_present("_procs")
    absent: int = _of_present("_machine.absent")
    there: int = _of_present("_machine.size")
    outages: tuple[Outage, ...] = _of_present("_outages")
    free: int = _of_present("_free")
    free_set: int = _of_present("_machine.free_set")
    rebuild: tuple[Decision, ...] = _of_present("_rebuild")
    dropped: tuple[int, ...] = _of_present("_dropped")
    awaited: int | None = _of_present("_awaited")
    wanted: int = _of_present("_waiting.wanted")
    owners: tuple[int, ...] = _tuple_of("_machine.owners")
    division: tuple[int, ...] = _tuple_of("_machine.division")
    printed: tuple[str, ...] = _tuple_of("_printed")
    arrived: tuple[Job, ...] = _tuple_of("_arrived")
    completed: tuple[Job, ...] = _tuple_of("_completed")
    killed: tuple[Job, ...] = _tuple_of("_killed")
    """Jobs whose speculative run reached its limit in this step; they wait again"""
    decisions: tuple[Decision, ...] = _tuple_of("_decisions")
    switches: tuple[Switch, ...] = _of_present("_switches")
    rows: MatrixView = _of_present("matrix")
    """Matrix itself, as it is from now on, to be read only"""
    promises: bool = _of_present("_promises")
    """True if reservations made now never move to a later time"""
    jobs: Jobs = _of_present("_jobs")
    """All jobs by rank, with their submit times in this run as far as they are known"""
    finished: int = _of_present("_tally.finished")
    left: int = _of_present("left")
    """Number of jobs that wait or are suspended"""
    crowd: int = _of_present("crowd")
    """Number of jobs that the policy may have to consider: waiting, suspended or in the matrix"""
    reserved: Mapping[int, float] = _mapping_of("_reserved")
    granted: Mapping[int, float] = _mapping_of("_granted")
    expected: Mapping[int, float] = _mapping_of("_expected")
    """Planned start, recomputed at each pass, of each waiting job that has one, by rank"""
    has_come: Callable[[int], bool] = _of_present("has_come")
    start_of: Callable[[int], float | None] = _of_present("start_of")
    ran: Callable[[int], float] = _of_present("ran")
    """Seconds for which the job has run so far; for a finished job its run time"""
    running_plan: Callable[[], Plan] = _of_present("_running_plan")

    def __init__(self, present: Moment, workload: Workload) -> None:
        self._present, self._workload = present, workload

    @property
    def time(self) -> float | None:
        return self._present._time if self._present._step else None

    @property
    def waiting(self) -> tuple[Job, ...]:
        return tuple(self._present.line())

    @property
    def ends(self) -> Ends:
        return tuple(self._present._stays.ends())

    @property
    def outlook(self) -> tuple[int, Ends]:
        free, ends, changes = self._present.outlook(self._present._awaited)
        return free, (*ends, *changes)

    @property
    def nodes(self) -> NodeMachine | None:
        machine = self._present._machine
        return machine if isinstance(machine, NodeMachine) else None

    @property
    def running(self) -> Sequence[Running]:
        present = self._present
        if present._sharing is None:
            return _running(present, present._stays.in_order.copy())
        shared = (_shared(present, present._sharing, rank) for rank in present._sharing.ran)
        return tuple(sorted(shared, key=lambda r: (r.expected_end, r.job.rank)))

    @property
    def takes_turns(self) -> bool:
        """Return True if there is a matrix, whose rows take turns."""
        return self._present._sharing is not None

    @property
    def matrix(self) -> MatrixPicture | None:
        sharing = self._present._sharing
        return None if sharing is None else sharing.matrix.picture(sharing.turns.row)

    @property
    def turn_end(self) -> float | None:
        sharing = self._present._sharing
        return None if sharing is None else sharing.turns.end

    @property
    def suspended(self) -> Sequence[Suspended]:
        return _suspended(self._present, sorted(self._present._suspended))

    @property
    def queue(self) -> QueueSeen:
        present, columns = self._present, self.columns
        return QueueSeen(
            self.waiting, present._time, present._policy, len(self.queues), present.planned_starts(), present._moved,
            present._reserved, present._granted, present._lasts, present._expected_row, {}, columns,
            _noted(present, columns),
        )  # fmt: skip

    @property
    def most_overtaken(self) -> int:
        present, waiting, jobs = self._present, self._present._waiting.jobs, self._present._jobs
        if not waiting:
            return 0
        if present._releases is None:  # ranks go by submit times
            first = min(waiting)
            many, gone = present._submitted - 1 - first, sum(rank > first for rank in present._dropped)
        else:
            submit, first = min((jobs[rank].submit, rank) for rank in waiting)
            many = present._releases.after(submit, first)
            gone = sum((jobs[rank].submit, rank) > (submit, first) for rank in present._dropped)
        return many - gone - (len(waiting) - 1)  # all others wait behind the first one

    @property
    def queues(self) -> tuple[str, ...]:
        return self._present._policy.queues()

    @property
    def columns(self) -> tuple[Column, ...]:
        return columns_of(self._present._policy)

    @property
    def notes(self) -> Mapping[str, Mapping[int, float]]:
        return _noted(self._present, self.columns)

    @property
    def totals(self) -> Totals:
        present, jobs = self._present, self._workload.jobs
        first = jobs[0].submit if len(jobs) else 0
        available = capacity(present._outages, present._procs, first, present._time)
        return present._tally.totals(available, present.work_under_way())

    @property
    def counts(self) -> Counts:
        present = self._present
        return Counts(len(present._waiting.jobs), len(present.under_way), len(present._suspended))

    @property
    def is_led(self) -> bool:
        """Return True if an adaptive policy selects the policies."""
        return self._present._leader is not None

    @property
    def is_to_switch(self) -> bool:
        """Return True if an adaptive policy has chosen another policy, to which the run switches in the next step."""
        return self._present._successor is not None

    @property
    def submits(self) -> Floats:
        """Return the submit times of all jobs by rank: those of this run as far as they are known."""
        releases, submit = self._present._releases, self._workload.submit
        return submit if releases is None else releases.submits(submit)

    def moved(self, rank: int) -> float:
        return self._present._moved.get(rank, 0) if rank in self._present._waiting.jobs else 0

    def where(self, rank: int) -> Where | None:
        """Return where the job is; None before its submission and after its end."""
        present = self._present
        if rank in present.under_way:
            return "running" if present._sharing is None else "matrix"
        return "queue" if rank in present._waiting.jobs else "suspended" if rank in present._suspended else None

    def entry(self, rank: int) -> Entry | None:
        present = self._present
        match self.where(rank):
            case "queue":
                return self.queue.entry(rank)
            case "running":
                return _running(present, [present._running[rank]])[0]
            case "matrix" if present._sharing is not None:
                return _shared(present, present._sharing, rank)
            case "suspended":
                return _suspended(present, [rank])[0]
            case _:
                return None

    def is_before(self, other: Job, job: Job) -> bool:
        """Return True if the job `other` is in front of the job in queue order, whether or not it still waits."""
        present = self._present
        order, now = present._policy.line_order(), present._time
        is_own = order == present._policy.queue_order()
        order = present._waiting.order if is_own else order.at_step(present._waiting.step)
        first, second = (
            (order.key(each, now if order.by_clock else each.submit), 0 if is_own else each.submit, each.rank)
            for each in (other, job)
        )
        return first < second

    def ahead_of(self, job: Job) -> list[Job]:
        """Return the jobs that wait in front of the job in its own queue, from which it may just have started."""
        queue = self.queue
        return queue.ahead_at(sum(self.is_before(other, job) for other in queue.jobs), job)

    def reasons(self) -> Mapping[int, Reason]:
        """Return the reasons to wait as a snapshot has them, by rank."""
        present = self._present
        looked = present._decisions if present._sharing is None else present._rebuild
        kept = {d.job.rank: d.because for d in looked if isinstance(d, Keep)}
        if isinstance(present._machine, NodeMachine):
            kept = _room_on_nodes(present, present._machine) | kept | _kept_in_plan(present, present._machine)
        return _at_limits(present, present._limits) | kept if present._limits else kept

    def obstacle(self, job: Job) -> Reason | None:
        """Return the limit that holds a waiting job back, or what keeps it off the nodes; None if neither does."""
        present = self._present
        if present._limits is not None and present._limits.over(job.rank):
            return _at_limit(present._limits, job.rank)
        if (machine := self.nodes) is None:
            return None
        if job.procs <= present._free and not machine.fits(job):
            return no_nodes(machine.lack(job), machine.kept_from(job))
        planned = _plans(present)
        if job.rank in planned:
            before = takewhile(lambda rank: rank != job.rank, planned)
            return _nodes_kept(present, machine, job, {rank: planned[rank] for rank in before})
        return _nodes_kept(present, machine, job) if job.rank in present.planned_starts() else None


View: TypeAlias = LiveView | Snapshot
"""State of a run after one step"""
_same = attrgetter(*(each.name for each in fields(Snapshot)[:-3]))


def take_snapshot(moment: LiveView, next_time: float | None) -> Snapshot:
    nodes = None if moment.nodes is None else moment.nodes.copy()
    queue = moment.queue.frozen(moment.reasons())
    return Snapshot(*(*_same(moment), nodes, queue, next_time))


def _noted(present: Moment, columns: Iterable[Column]) -> Mapping[str, Mapping[int, float]]:
    notes = present._notes
    return {column.name: notes[column.name] for column in columns if column.name in notes}


def _running(present: Moment, stays: Sequence[Stay]) -> Sequence[Running]:
    now, held, column = present._time, present._machine.held.copy(), present._policy.predicted_ends
    notes = copied({column.name: present._notes.get(column.name, {})}) if isinstance(column, Column) else {}

    def made() -> Iterator[Running]:
        for stay in stays:
            ran, end = stay.ran_by(now), column.value(notes, stay.job) if isinstance(column, Column) else None
            kind, xfactor = KINDS[stay.kind], _xfactor(stay.job, ran, now)
            its = held[stay.rank]
            yield Running(stay.job, stay.since, stay.expected_end, its, kind, ran, xfactor, predicted_end=end)

    return Lazily(lambda: tuple(made()))


def _shared(present: Moment, sharing: Sharing, rank: int) -> Running:
    end = sharing.expected_end(rank, present.remaining_estimate(rank))
    since, columns = present.start_of(rank), sharing.matrix.columns(rank)
    since = present._time if since is None else since
    job, row = present._jobs[rank], sharing.matrix.home(rank) if rank in sharing.new else None
    ran, owes = present.ran(rank), sharing.stall[rank]
    return Running(job, since, end, columns, KINDS[GANG], ran, _xfactor(job, ran, present._time), row, owes=owes)


def _suspended(present: Moment, ranks: Sequence[int]) -> Sequence[Suspended]:
    if not ranks:
        return ()
    now, held = present._time, present._machine.held.copy()
    each = [
        (present._job(rank), present._suspended_since[rank], present._suspended[rank], present.ran(rank))
        for rank in ranks
    ]

    def made() -> Iterator[Suspended]:
        for job, since, own, ran in each:
            sitting = tuple(other for other, there in held.items() if there & own)
            yield Suspended(job, since, own, ran, _xfactor(job, ran, now), sitting)

    return Lazily(lambda: tuple(made()))


def _xfactor(job: Job, ran: float, now: float) -> float:
    return (now - job.submit - ran + job.estimate) / job.estimate


def _at_limits(present: Moment, use: LimitUse) -> dict[int, Reason]:
    return {rank: _at_limit(use, rank) for rank in present.held_back()}


def _at_limit(use: LimitUse, rank: int) -> AtLimit:
    over = use.over(rank)
    assert over is not None
    bound, used, needed = over
    return AtLimit(bound.reason, bound.owner, used, bound.most, needed, bound.unit)


def _room_on_nodes(present: Moment, machine: NodeMachine) -> dict[int, Reason]:
    """Return a mapping from the rank of each job that does not fit on the nodes to a reason naming what it lacks. A job
    that fits gets a reason if nodes are reserved for another.

    Only waiting jobs with a planned start count, and only if the total number of free processors is large enough.
    """
    first = sorted(present.planned_starts(), key=present.planned_starts().__getitem__)[:_MOST_LACKS]
    waiting = (present._waiting.jobs[rank] for rank in first if rank in present._waiting.jobs)
    jobs = [job for job in waiting if job.procs <= present._free]
    found: dict[int, Reason] = {}
    for job in jobs:
        if not machine.fits(job):
            found[job.rank] = no_nodes(machine.lack(job), machine.kept_from(job))
        elif kept := _nodes_kept(present, machine, job):
            found[job.rank] = kept
    return found


def _kept_in_plan(present: Moment, machine: NodeMachine) -> dict[int, Reason]:
    """Return a mapping from the rank of each planned job that fits now to a reason, if the policy's last plan keeps
    nodes for jobs before it.
    """
    planned = _plans(present)
    found, before = dict[int, Reason](), dict[int, tuple[float, Seats]]()
    for rank, plan in planned.items():
        if kept := _nodes_kept(present, machine, present._jobs[rank], before):
            found[rank] = kept
        before[rank] = plan
    return found


def _plans(present: Moment) -> dict[int, tuple[float, Seats]]:
    """Return the plans of waiting jobs that the policy tells; a plan whose start has passed is left out."""
    told, waits, now = plans_of(present._policy, present._notes, _MOST_LACKS), present._waiting.jobs, present._time
    return {rank: plan for rank, plan in told.items() if rank in waits and plan[0] >= now - MOMENT}


def _nodes_kept(
    present: Moment, machine: NodeMachine, job: Job, before: Mapping[int, tuple[float, Seats]] | None = None
) -> NodesKept | None:
    if job.procs > present._free or not (kept := machine.kept_nodes(job, present._time, present._stays.ends(), before)):
        return None
    return NodesKept(present._jobs[kept[0]], *kept[1:])
