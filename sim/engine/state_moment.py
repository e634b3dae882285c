"""Present moment of a run of this engine: a view of its state for the rest of the program."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import takewhile
from operator import attrgetter
from types import MappingProxyType
from typing import Any

from sim.decisions.decisions import Decision, Keep
from sim.decisions.reasons_on_nodes import AtLimit, NodesKept, no_nodes
from sim.decisions.sentences import Reason
from sim.engine.moment import Where
from sim.engine.sharing import Sharing
from sim.engine.snapshot import Counts, Entry, Queue, Running, Suspended
from sim.engine.state import State
from sim.history.past import Switch
from sim.history.running_totals import Totals
from sim.history.stretch import GANG, KINDS
from sim.machine.moment import MOMENT
from sim.machine.nodes import NodeMachine
from sim.machine.ousterhout_matrix import MatrixPicture, MatrixView
from sim.machine.plan import Plan
from sim.policies.columns import Column
from sim.policies.policy import Policy, columns_of, plans_of
from sim.policies.view import Ends
from sim.workload.limits import Use
from sim.workload.model import Floats, Job, Jobs, Workload
from sim.workload.outages import Outage, capacity
from sim.workload.shape import Seats

_MOST_LACKS = 100
"""Largest number of planned jobs, on a machine of nodes, for which a snapshot contains the resources that they lack;
the earliest starts are chosen.
"""


def _of_state(name: str) -> Any:
    return property(attrgetter(f"_state.{name}"))


def _tuple_of(name: str) -> Any:
    get = attrgetter(name)
    return property(lambda self: tuple(get(self._state)))


def _mapping_of(name: str) -> Any:
    get = attrgetter(name)
    return property(lambda self: MappingProxyType(get(self._state)))


class StateMoment:
    """`LiveMoment` of a run of the engine; nothing is copied before it is asked for."""

    __slots__ = ("_state", "_workload")

    step: int = _of_state("step_count")
    policy: str = _of_state("spec")
    rules: Policy = _of_state("policy")
    procs: int = _of_state("procs")
    absent: int = _of_state("machine.absent")
    there: int = _of_state("machine.size")
    outages: tuple[Outage, ...] = _of_state("outages")
    free: int = _of_state("free")
    free_set: int = _of_state("machine.free_set")
    rebuild: tuple[Decision, ...] = _of_state("rebuild")
    dropped: tuple[int, ...] = _of_state("dropped")
    awaited: int | None = _of_state("awaited")
    wanted: int = _of_state("waiting.wanted")
    owners: tuple[int, ...] = _tuple_of("machine.owners")
    division: tuple[int, ...] = _tuple_of("machine.division")
    printed: tuple[str, ...] = _tuple_of("printed")
    arrived: tuple[Job, ...] = _tuple_of("arrived")
    completed: tuple[Job, ...] = _tuple_of("completed")
    killed: tuple[Job, ...] = _tuple_of("killed")
    decisions: tuple[Decision, ...] = _tuple_of("decisions")
    waiting: tuple[Job, ...] = _tuple_of("line")
    switches: tuple[Switch, ...] = _of_state("switches")
    ends: Ends = _tuple_of("ends")
    rows: MatrixView = _of_state("matrix.view")
    promises: bool = _of_state("promises")
    jobs: Jobs = _of_state("jobs")
    finished: int = _of_state("tally.finished")
    left: int = _of_state("left")
    crowd: int = _of_state("crowd")
    reserved: Mapping[int, float] = _mapping_of("reserved")
    granted: Mapping[int, float] = _mapping_of("granted")
    expected: Mapping[int, float] = _mapping_of("expected")
    has_come: Callable[[int], bool] = _of_state("has_come")
    start_of: Callable[[int], float | None] = _of_state("start_of")
    ran: Callable[[int], float] = _of_state("ran")
    running_plan: Callable[[], Plan] = _of_state("running_plan")

    def __init__(self, state: State, workload: Workload) -> None:
        self._state, self._workload = state, workload

    @property
    def time(self) -> float | None:
        return self._state.now if self._state.step_count else None

    @property
    def outlook(self) -> tuple[int, Ends]:
        free, ends, changes = self._state.outlook(self._state.awaited)
        return free, (*ends, *changes)

    @property
    def nodes(self) -> NodeMachine | None:
        machine = self._state.machine
        return machine if isinstance(machine, NodeMachine) else None

    @property
    def running(self) -> tuple[Running, ...]:
        state = self._state
        if state.sharing is None:
            return _running(state, [rank for _, rank, _ in state.ends])
        shared = (_shared(state, state.sharing, rank) for rank in state.sharing.ran)
        return tuple(sorted(shared, key=lambda r: (r.expected_end, r.job.rank)))

    @property
    def takes_turns(self) -> bool:
        return self._state.sharing is not None

    @property
    def matrix(self) -> MatrixPicture | None:
        sharing = self._state.sharing
        return None if sharing is None else sharing.matrix.picture(sharing.turns.row)

    @property
    def turn_end(self) -> float | None:
        sharing = self._state.sharing
        return None if sharing is None else sharing.turns.end

    @property
    def suspended(self) -> tuple[Suspended, ...]:
        return tuple(_suspended(self._state, rank) for rank in sorted(self._state.suspended))

    @property
    def queue(self) -> Queue:
        state, columns = self._state, self.columns
        return Queue(
            self.waiting, state.now, state.policy, planned=state.planned, moved=state.moved, reserved=state.reserved,
            granted=state.granted, lasts=state.lasts, rows=state.expected_row, why={}, columns=columns,
            notes=_noted(state, columns),
        )  # fmt: skip

    @property
    def most_overtaken(self) -> int:
        state, waiting, jobs = self._state, self._state.waiting.jobs, self._state.jobs
        if not waiting:
            return 0
        if state.releases is None:  # ranks go by submit times
            first = min(waiting)
            many, gone = state.submitted - 1 - first, sum(rank > first for rank in state.dropped)
        else:
            submit, first = min((jobs[rank].submit, rank) for rank in waiting)
            many = state.releases.after(submit, first)
            gone = sum((jobs[rank].submit, rank) > (submit, first) for rank in state.dropped)
        return many - gone - (len(waiting) - 1)  # all others wait behind the first one

    @property
    def queues(self) -> tuple[str, ...]:
        return self._state.policy.queues()

    @property
    def columns(self) -> tuple[Column, ...]:
        return columns_of(self._state.policy)

    @property
    def notes(self) -> Mapping[str, Mapping[int, float]]:
        return _noted(self._state, self.columns)

    @property
    def totals(self) -> Totals:
        state, jobs = self._state, self._workload.jobs
        under_way = sum(state.ran(rank) * state.jobs[rank].procs for rank in {*state.under_way, *state.suspended})
        first = jobs[0].submit if len(jobs) else 0
        return state.tally.totals(capacity(state.outages, state.procs, first, state.now), under_way)

    @property
    def counts(self) -> Counts:
        state = self._state
        return Counts(len(state.waiting.jobs), len(state.under_way), len(state.suspended))

    @property
    def is_led(self) -> bool:
        return self._state.leader is not None

    @property
    def is_to_switch(self) -> bool:
        return self._state.successor is not None

    @property
    def submits(self) -> Floats:
        releases, submit = self._state.releases, self._workload.submit
        return submit if releases is None else releases.submits(submit)

    def moved(self, rank: int) -> float:
        return self._state.moved.get(rank, 0) if rank in self._state.waiting.jobs else 0

    def where(self, rank: int) -> Where | None:
        state = self._state
        if rank in state.under_way:
            return "running" if state.sharing is None else "matrix"
        return "queue" if rank in state.waiting.jobs else "suspended" if rank in state.suspended else None

    def entry(self, rank: int) -> Entry | None:
        state = self._state
        match self.where(rank):
            case "queue":
                return self.queue.entry(rank)
            case "running":
                return _running(state, [rank])[0]
            case "matrix" if state.sharing is not None:
                return _shared(state, state.sharing, rank)
            case "suspended":
                return _suspended(state, rank)
            case _:
                return None

    def is_before(self, other: Job, job: Job) -> bool:
        state = self._state
        order, now = state.policy.line_order(), state.now
        is_own = order == state.policy.queue_order()
        order = state.waiting.order if is_own else order.at_step(state.waiting.step)
        first, second = (
            (order.key(each, now if order.by_clock else each.submit), 0 if is_own else each.submit, each.rank)
            for each in (other, job)
        )
        return first < second

    def ahead_of(self, job: Job) -> list[Job]:
        queue = self.queue
        return queue.ahead_at(sum(self.is_before(other, job) for other in queue.jobs), job)

    def reasons(self) -> Mapping[int, Reason]:
        state = self._state
        looked = state.decisions if state.sharing is None else state.rebuild
        kept = {d.job.rank: d.because for d in looked if isinstance(d, Keep)}
        return _at_limits(state) | _room_on_nodes(state) | kept | _kept_in_plan(state)

    def obstacle(self, job: Job) -> Reason | None:
        state = self._state
        if state.limits is not None and state.limits.over(job.rank):
            return _at_limit(state.limits, job.rank)
        if (machine := self.nodes) is None:
            return None
        if job.procs <= state.free and not machine.fits(job):
            return no_nodes(machine.lack(job), machine.kept_from(job))
        planned = _plans(state)
        if job.rank in planned:
            before = takewhile(lambda rank: rank != job.rank, planned)
            return _nodes_kept(state, machine, job, {rank: planned[rank] for rank in before})
        return _nodes_kept(state, machine, job) if job.rank in state.planned else None


def _noted(state: State, columns: Iterable[Column]) -> Mapping[str, Mapping[int, float]]:
    notes = state.notes
    return {column.name: notes[column.name] for column in columns if column.name in notes}


def _running(state: State, ranks: Iterable[int]) -> tuple[Running, ...]:
    now, predicted, shown = state.now, state.policy.predicted_ends, []
    for rank in ranks:
        run = state.running[rank]
        ran, held = run.ran_by(now), state.machine.held[rank]
        end = predicted.value(state.notes, run.job) if isinstance(predicted, Column) else None
        xfactor, kind = _xfactor(run.job, ran, now), KINDS[run.kind]
        shown.append(Running(run.job, run.since, run.expected_end, held, kind, ran, xfactor, predicted_end=end))
    return tuple(shown)


def _shared(state: State, sharing: Sharing, rank: int) -> Running:
    """Return a job of the matrix as running, whether its row is active or not."""
    end = sharing.expected_end(rank, state.remaining_estimate(rank))
    since, columns = state.start_of(rank), sharing.matrix.columns(rank)
    since = state.now if since is None else since
    job, row = state.jobs[rank], sharing.matrix.home(rank) if rank in sharing.new else None
    ran, owes = state.ran(rank), sharing.stall[rank]
    return Running(job, since, end, columns, KINDS[GANG], ran, _xfactor(job, ran, state.now), row, owes=owes)


def _suspended(state: State, rank: int) -> Suspended:
    processors, job, since, ran = state.suspended[rank], state.jobs[rank], state.suspended_since[rank], state.ran(rank)
    sitting = tuple(other for other, there in state.machine.held.items() if there & processors)
    return Suspended(job, since, processors, ran, _xfactor(job, ran, state.now), sitting)


def _xfactor(job: Job, ran: float, now: float) -> float:
    return (now - job.submit - ran + job.estimate) / job.estimate


def _at_limits(state: State) -> dict[int, Reason]:
    """Return, for the rank of each waiting job that a limit holds back, a reason that names the limit."""
    return {rank: _at_limit(state.limits, rank) for rank in state.held_back()} if state.limits else {}


def _at_limit(use: Use, rank: int) -> AtLimit:
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


def _nodes_kept(
    state: State, machine: NodeMachine, job: Job, before: Mapping[int, tuple[float, Seats]] | None = None
) -> NodesKept | None:
    if job.procs > state.free or not (kept := machine.kept_nodes(job, state.now, state.ends, before)):
        return None
    return NodesKept(state.jobs[kept[0]], *kept[1:])
