"""Read-only view of the state for policies, with the members of `sim.policies.view.View`.

The view holds only the state, which contains no true run times; a policy cannot reach the engine through the view.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Iterable, Mapping, Sequence
from math import inf
from operator import attrgetter
from types import MappingProxyType
from typing import Any

from sim.decisions.decisions import Backfill, Expect, Keep, Reserve, Resume, Start, Suspend, Wake, check_reason
from sim.decisions.matrix import Phase, PhaseName, Replicate
from sim.decisions.sentences import Reason
from sim.engine.state import State
from sim.machine.moment import MOMENT
from sim.machine.nodes import Leftover
from sim.machine.ousterhout_matrix import MatrixView
from sim.machine.plan import Plan
from sim.machine.profile import Extra
from sim.policies.backfill.tails import in_tail
from sim.policies.calls import acting, compress, in_order, is_by_calls, no_room, on_nodes
from sim.policies.gang import rows_pass
from sim.policies.gang.ranked_rows import RowQuestions
from sim.policies.multiqueue import divided_pass
from sim.policies.multiqueue.partitions import Classes
from sim.policies.multiqueue.pivots import Pivots
from sim.policies.ranking import Ranking
from sim.policies.view import Ends, GivenView, RunningJob
from sim.workload.model import Job
from sim.workload.shape import Seats
from sim.workload.share_tree import ShareTree
from sim.workload.shortage import Shortage

_made: Callable[[type, tuple[object, ...]], Any] = tuple.__new__
"""Constructor of a decision from its class and the values of all its fields. It is faster than the class itself, and
runs make many decisions
"""


def _property_of_state(name: str) -> Any:
    return property(attrgetter(name))


class StateView(RowQuestions, GivenView):
    """View of the current state for policies."""

    __slots__ = (
        "_state", "beside", "closes", "curious", "held", "ran", "remaining_estimate", "remaining_estimates", "reserved",
        "running", "running_plan", "shadow", "suspended",
    )  # fmt: skip

    closes: float
    curious: bool
    reserved: Mapping[int, float]
    running: Mapping[int, RunningJob]
    suspended: Mapping[int, int]
    time: float = _property_of_state("_state.now")
    now = property(attrgetter("_state.now"))  # as properties for mypy, because classes derived from this have their own
    free = property(attrgetter("_state.free"))
    free_set = property(attrgetter("_state.machine.free_set"))
    procs: int = _property_of_state("_state.machine.size")
    there: int = _property_of_state("_state.machine.there")
    resized: bool = _property_of_state("_state.resized")
    ended_early: bool = _property_of_state("_state.ended_early")
    notes: dict[str, Any] = _property_of_state("_state.notes")
    plan: Plan = _property_of_state("_state.plan")
    has_nodes: bool = _property_of_state("_state.machine.has_nodes")
    tiers: Sequence[int] = _property_of_state("_state.machine.tiers")
    factors: Sequence[float] = _property_of_state("_state.machine.factors")
    qos_factors: Sequence[float] = _property_of_state("_state.machine.qos_factors")
    node_parts: Sequence[float] = _property_of_state("_state.machine.node_parts")
    accounts: Sequence[str] = _property_of_state("_state.machine.accounts")
    beside: Callable[..., Extra | Leftover]
    held: Callable[[int], int]
    ran: Callable[[int], float]
    remaining_estimate: Callable[[int], float]
    remaining_estimates: Callable[[Iterable[int]], list[tuple[float, int, int]]]
    running_plan: Callable[[], Plan]
    shadow: Callable[..., tuple[float, int]]

    def __init__(self, state: State) -> None:
        self._state: State
        _keep(self, "_state", state)
        renew(state, self)
        for name in ("reserved", "running", "suspended"):
            _keep(self, name, MappingProxyType(getattr(state, name)))
        for name in ("beside", "ran", "remaining_estimate", "remaining_estimates", "running_plan", "shadow"):
            _keep(self, name, getattr(state, name))
        _keep(self, "held", MappingProxyType(state.machine.held).__getitem__)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a policy cannot change the view's {name}; it yields decisions")

    def share_tree(self) -> ShareTree:
        return self._state.share_tree()

    @property
    def queue(self) -> list[Job]:
        return [*self._line]

    @property
    def _line(self) -> list[Job]:
        """Return the jobs of `queue` in a list that may not be changed."""
        state = self._state
        waiting = state.waiting
        queue = waiting.in_order(state.now) if waiting.by_clock else waiting.jobs_in_order
        if state.limits is None or state.policy.asks_limits:
            return queue
        return [job for job in queue if state.limits.over(job.rank) is None]

    def queued(self, by: Callable[[Job, float], float] | None = None) -> list[Job]:
        now = self.now
        return sorted(self._line, key=lambda job: by(job, now)) if by else self.queue

    def behind(self, head: Job) -> list[Job]:
        line = self._line
        return line[line.index(head) + 1 :]

    def candidates(self, head: Job | None = None) -> list[Job]:
        return self.easy_candidates(head)

    def easy_candidates(self, head: Job | None, shadow: float = inf, extra: int = 0) -> list[Job]:
        state = self._state
        now, free, shows_all = state.now, state.free, state.curious or state.machine.has_nodes
        if not free and not shows_all:
            return []
        jobs = self.behind(head) if head else self._line
        if shows_all:
            return jobs if head else jobs.copy()
        found, until = [], shadow + MOMENT
        for job in jobs:  # a comprehension would make cells of these variables, and take longer on short queues
            if (procs := job.procs) <= free and (procs <= extra or now + job.estimate <= until):
                found.append(job)  # noqa: PERF401
        return found

    def in_tail(self, jobs: list[Job], tail: str) -> list[Job]:
        return jobs if tail == "queue" else in_tail(jobs, tail)

    def arrivals(self) -> list[Job]:
        return [*self.arrived]

    def due(self) -> list[Job]:
        reserved, now = self.reserved, self.now
        if min(reserved.values(), default=inf) > now:
            return []
        return [job for job in self._line if reserved[job.rank] <= now]

    def unplanned(self) -> list[Job]:
        return sorted((job for job in self._line if job.rank not in self.reserved), key=attrgetter("rank"))

    def planned(self) -> list[Job]:
        return [self.job(rank) for rank in sorted(self.reserved)]

    def reserved_start(self, job: Job) -> float:
        return self.reserved[job.rank]

    def pivots(self, classes: str, came: Sequence[Job]) -> Pivots:
        return Pivots(self, Classes.read(classes), len(came))

    def is_first(self, job: Job) -> bool:
        state = self._state
        return self._line[0] is job if state.has_limits else state.waiting.is_first(job, state.now)

    def spares(self, job: Job, head: Job, extra: int) -> bool:
        return self.beside(head, extra).admits(job) if self.has_nodes else job.procs <= extra

    def lacks(self, job: Job) -> Reason:
        return no_room(self, job)

    def new_ranking(self) -> Ranking:
        return Ranking()

    def draft(self) -> Plan:
        return self.plan.copy()

    def earliest(self, job: Job) -> float:
        return self.plan.find(job, self.now)

    @property
    def arrived(self) -> Sequence[Job]:
        return tuple(self._state.arrived)

    @property
    def completed(self) -> Sequence[Job]:
        return tuple(self._state.completed)

    @property
    def finished(self) -> Sequence[tuple[float, int]]:
        return tuple(sorted((end, rank) for rank, end in enumerate(self._state.ledger.end) if end <= self._state.now))

    @property
    def killed(self) -> Sequence[Job]:
        return tuple(self._state.killed)

    @property
    def ousted(self) -> Sequence[Job]:
        return tuple(self._state.ousted)

    @property
    def ends(self) -> Ends:
        return tuple(self._state.ends)

    @property
    def owners(self) -> Sequence[int]:
        return tuple(self._state.machine.owners)

    @property
    def matrix(self) -> MatrixView:
        sharing = self._state.sharing
        return self._state.matrix.view if sharing is None else sharing.matrix.view

    @property
    def migrated(self) -> int:
        sharing = self._state.sharing
        return sharing.migrated if sharing else 0

    @property
    def machine_ahead(self) -> Ends:
        return self._state.machine_ahead()

    def fits(self, job: Job) -> bool:
        state = self._state
        if state.machine.has_nodes:
            return state.machine.fits(job)
        return job.procs <= state.free and (state.closes == inf or state.in_time(job))

    def is_held(self, job: Job) -> bool:
        return self._state.limits is not None and self._state.limits.over(job.rank) is not None

    def has_room(self, job: Job) -> bool:
        return self._state.machine.has_room(job)

    def partitions(self, job: Job) -> tuple[int, ...]:
        return self._state.machine.partitions(job)

    def open_partitions(self, job: Job, closed: Collection[int]) -> tuple[int, ...]:
        return self._state.machine.open_partitions(job, closed)

    def once_a_partition(self) -> list[tuple[Job, int]]:
        waiting, now = self._state.waiting, self.now

        def key(job: Job, factor: float | None) -> float:
            more = 0.0 if factor is None else waiting.order.in_partition(job, factor)
            return waiting.order.key(job, now if waiting.by_clock else job.submit) + more

        return self._state.machine.once_a_partition(self._line, key)

    def seats_outside(self, job: Job, closed: Collection[int], only: int = -1) -> Seats | None:
        return self._state.machine.seats_outside(job, closed, only)

    def lack(self, job: Job) -> Shortage:
        return self._state.machine.lack(job)

    def kept_from(self, job: Job) -> tuple[str, float, float, bool] | None:
        return self._state.machine.kept_from(job)

    def where_it_ran(self, job: Job) -> Seats | None:
        return self._state.machine.where_it_ran(job)

    def in_time(self, job: Job) -> bool:
        return self._state.closes == inf or self._state.in_time(job)

    def only(self, jobs: Iterable[Job]) -> StateView:
        return _NarrowView(self._state, frozenset(job.rank for job in jobs))

    def job(self, rank: int) -> Job:
        state = self._state
        if 0 <= rank < state.submitted and state.releases is None and (made := state.jobs.made[rank]) is not None:
            return made
        if rank < 0 or not state.has_come(rank):
            raise IndexError(f"no job of rank {rank} has come")
        return state.jobs.made[rank] or state.jobs[rank]


class _NarrowView(StateView):
    """View of the state in which the queue has only some of the waiting jobs (those with the ranks `_ranks`)."""

    __slots__ = ("_ranks",)
    _ranks: frozenset[int]

    def __init__(self, state: State, ranks: frozenset[int]) -> None:
        super().__init__(state)
        object.__setattr__(self, "_ranks", ranks)

    @property
    def _line(self) -> list[Job]:
        return self._visible(super()._line)

    @property
    def arrived(self) -> Sequence[Job]:
        return self._visible(super().arrived)

    @property
    def killed(self) -> Sequence[Job]:
        return self._visible(super().killed)

    def is_first(self, job: Job) -> bool:
        return self._line[0] is job

    def only(self, jobs: Iterable[Job]) -> StateView:
        return super().only(self._visible(jobs))

    def _visible(self, jobs: Iterable[Job]) -> list[Job]:
        return [job for job in jobs if job.rank in self._ranks]


def _acting(decide: Callable[..., Iterable[Any]]) -> Callable[..., None]:
    """Return a method of `StatePass` that carries out the decisions which the function `decide` yields."""

    def act(self: StatePass, *given: Any) -> None:
        apply = self._apply
        for decision in decide(self, *given):
            apply[type(decision)](decision)

    return act


def _answering(decide: Callable[..., Generator[Any, None, Any]]) -> Callable[..., Any]:
    """Return a method of `StatePass` that carries out the decisions of `decide`, and returns what this returns."""

    def act(self: StatePass, *given: Any) -> Any:
        decisions = decide(self, *given)
        while True:
            try:
                decision = next(decisions)
            except StopIteration as end:
                return end.value
            self._apply[type(decision)](decision)

    return act


class StatePass(StateView):
    """View of the state for policies that act by calling methods instead of yielding decisions
    (`sim.policies.calls.Pass`).
    """

    __slots__ = ("_apply",)
    _apply: Mapping[type, Callable[[Any], None]]

    def __init__(self, state: State, apply: Mapping[type, Callable[[Any], None]]) -> None:
        super().__init__(state)
        object.__setattr__(self, "_apply", apply)

    def start(self, job: Job, because: Reason, on: Seats | None = None) -> None:
        state = self._state
        if state.machine.has_nodes:
            because = on_nodes(because)
        waiting = state.waiting
        is_first = waiting.is_first(job, state.now) if waiting.by_clock else waiting.jobs_in_order[0] is job
        kind = Start if is_first else Backfill
        self._apply[kind](_made(kind, (job, because, on, None)))

    def begin(self, job: Job, because: Reason, on: Seats | int | None = None) -> None:
        self._apply[Start](_made(Start, (job, because, on, None)))

    divide = _acting(divided_pass.divide)
    reserve_trial = _acting(divided_pass.reserve_trial)
    start_in = _acting(divided_pass.start_in)
    backfill_in = _acting(divided_pass.backfill_in)
    try_in = _acting(divided_pass.try_in)
    clean = _acting(rows_pass.clean)
    drop_rows = _acting(rows_pass.drop_rows)
    open_row = _answering(rows_pass.open_row)
    place = _acting(rows_pass.place)
    rehome = _acting(rows_pass.rehome)
    migrate = _acting(rows_pass.migrate)
    stall = _acting(rows_pass.stall)
    forget_reservations = _acting(rows_pass.forget_reservations)
    reserve_row = _acting(rows_pass.reserve_row)
    _resume_in_rows = _answering(rows_pass.resume_in_rows)

    def phase(self, name: PhaseName) -> None:
        self._apply[Phase](_made(Phase, (name,)))

    def replicate(self, job: Job, row: int) -> None:
        self._apply[Replicate](_made(Replicate, (job, row)))

    def resume_in_rows(self, mpl: int) -> bool:
        return not self.suspended or bool(self._resume_in_rows(mpl))

    def expect(self, job: Job, at: float) -> None:
        self._apply[Expect](_made(Expect, (job, at)))

    def backfill(self, job: Job, because: Reason, on: Seats | None = None) -> None:
        self._apply[Backfill](_made(Backfill, (job, because, on, None)))

    def start_in_order(self) -> Job | None:
        state, fits = self._state, self.fits
        start, waiting = self._apply[Start], state.waiting
        if not waiting.by_clock:
            line, counts = waiting.jobs_in_order, not state.machine.has_nodes and state.closes == inf
            while line:
                head, free = line[0], state.free
                if head.procs > free if counts else not fits(head):
                    return head
                start(_made(Start, (head, in_order(free), None, None)))
            return None
        for job in self.queue:
            if not fits(job):
                return job
            start(_made(Start, (job, in_order(state.free), None, None)))
        return None

    def reserve(self, job: Job, at: float, because: Reason, on: Seats | None = None) -> None:
        if self._state.machine.has_nodes:
            because = on_nodes(because)
        self._apply[Reserve](_made(Reserve, (job, at, because, None, on)))

    def compress(self, by: str) -> None:
        for decision in compress(self, by):
            self._apply[Reserve](decision)

    def suspend(self, job: Job, because: Reason, overhead: float = 0) -> None:
        self._apply[Suspend](_made(Suspend, (job, because, overhead)))

    def resume(self, job: Job, because: Reason, overhead: float = 0, on: int | None = None) -> None:
        self._apply[Resume](_made(Resume, (job, because, overhead, on)))

    def wake(self, at: float, during: Job | None = None) -> None:
        self._apply[Wake](Wake(at, during))

    def wake_once(self, at: float) -> None:
        if not at >= self._state.wake_at < inf:
            self._apply[Wake](_made(Wake, (at, None, True)))

    def keep(self, job: Job, because: Reason | None = None) -> None:
        if self.curious:
            if because is None:
                because = no_room(self, job)
            elif self._state.machine.has_nodes:
                because = on_nodes(because)
            self._apply[Keep](_made(Keep, (job, because)))
        elif because is not None:
            check_reason(job, because)


def shown_view(
    view: StateView, state: State, apply: Mapping[type, Callable[[Any], None]]
) -> tuple[StateView, Callable[[Any], None] | None]:
    """Return the view to show to the policy, and the method that acts on this view or None (see `acting`). The view is
    a `StatePass` if the policy acts by calls and the run has no limits, otherwise `view`.
    """
    is_direct = is_by_calls(type(state.policy).decide) and not state.has_limits
    return (StatePass(state, apply), acting(state.policy)) if is_direct else (view, None)


def renew(state: State, *views: StateView) -> None:
    """Update those members of each view that seldom change."""
    for view in views:
        _keep(view, "closes", state.closes)
        _keep(view, "curious", state.curious)


def _keep(view: StateView, name: str, value: object) -> None:
    """Set an attribute of the view, which otherwise cannot be changed."""
    getattr(StateView, name).__set__(view, value)
