"""The pass that a policy by calls sees in the fast loop, if the policy is not compiled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf
from operator import attrgetter
from types import MappingProxyType
from typing import Any

from sim.engine.allocation import Allocation, allocated
from sim.engine.state import State
from sim.engine.state_view import StatePass
from sim.history.stretch import RUN
from sim.kernel.calls import Pass
from sim.kernel.checked_calls import CheckedCalls
from sim.machine.plan import Plan
from sim.machine.profile import Extra, Profile, shadow
from sim.policies.view import Ends, RunningJob
from sim.workload.model import Job

_CALLS = (
    "backfill", "begin", "behind", "candidates", "compress", "due", "earliest", "easy_candidates", "fits", "is_first",
    "keep", "reserve", "start", "start_in_order", "wake_once",
)  # fmt: skip
"""Members that are methods of `CheckedCalls`"""
_AS_EVER = {
    "accounts", "factors", "has_nodes", "in_tail", "in_time", "is_held", "job", "lacks", "machine_ahead",
    "new_ranking", "node_parts", "notes", "now", "open_partitions", "owners", "planned", "procs", "qos_factors",
    "queued", "reserved_start", "seats_outside", "share_tree", "spares", "there", "tiers", "time", "unplanned",
    "finished", "reserved", "suspended",
}  # fmt: skip
"""Members of `StatePass` that are right in the loop, too: what they ask is constant, up to date or asked of this
object
"""


class LoopPass(StatePass):
    """Pass over the columns of the fast loop. For questions that these cannot answer, the engine takes over."""

    __slots__ = (*_CALLS, "_calls", "_present", "_stays", "_stays_at")
    _calls: CheckedCalls
    _present: Pass
    _stays: dict[int, Allocation]
    _stays_at: tuple[int, int]
    curious = False
    closes = inf
    resized = False
    killed: Sequence[Job] = ()
    ousted: Sequence[Job] = ()
    ended_early = property(attrgetter("_present.ended_early"))

    def __init__(self, state: State, loop: Pass, calls: CheckedCalls) -> None:
        _keep(self, "_state", state)
        _keep(self, "_present", loop)
        _keep(self, "_calls", calls)
        _keep(self, "_stays", dict(state.running))
        _keep(self, "_stays_at", (-1, -1))
        _keep(self, "reserved", MappingProxyType(state.reserved))
        _keep(self, "suspended", MappingProxyType(state.suspended))
        for name in _CALLS:
            _keep(self, name, getattr(calls, name))

    def _let_engine_answer(self) -> StatePass:
        engine: StatePass = self._calls.engine()
        return engine

    def __getattr__(self, name: str) -> Any:
        return getattr(self._let_engine_answer(), name)

    @property
    def free(self) -> int:
        return self._present.free if self._calls.is_open else self._let_engine_answer().free

    @property
    def queue(self) -> list[Job]:
        return self._calls.queue()

    _line = queue

    @property
    def arrived(self) -> Sequence[Job]:
        return tuple(self._calls.arrivals())

    def arrivals(self) -> list[Job]:
        return self._calls.arrivals()

    @property
    def completed(self) -> Sequence[Job]:
        return tuple(self._calls.completed())

    @property
    def ends(self) -> Ends:
        return tuple(self._calls.ends())

    @property
    def running(self) -> Mapping[int, RunningJob]:  # type: ignore[override]
        stays, calls = self._stays, self._calls
        if not calls.is_open:
            return self._let_engine_answer().running
        at = self._present.begun, self._present.finished
        if at != self._stays_at:
            ranks = {rank for _, rank, _ in calls.ends()}
            for rank in stays.keys() - ranks:
                del stays[rank]
            new = [calls.stay(rank) for rank in ranks - stays.keys()]
            for stretch, rank, since, end in sorted(new):
                stays[rank] = allocated((self._state.jobs[rank], since, end, RUN, stretch, 0.0))
            _keep(self, "_stays_at", at)
        return MappingProxyType(stays)

    def ran(self, rank: int) -> float:
        stay = self.running.get(rank)
        return self._state.ledger.ran[rank] if stay is None else stay.ran_by(self.now)

    def remaining_estimate(self, rank: int) -> float:
        return self._state.jobs[rank].estimate - self.ran(rank)

    def shadow(self, job: Job, ends: Ends | None = None) -> tuple[float, int]:
        if not self._calls.is_open:
            return self._let_engine_answer().shadow(job, ends)
        found: tuple[float, int] | None = self._calls.shadow_of(job) if ends is None else None
        if found is not None:
            return found
        time, free = shadow(self.free, self.ends if ends is None else ends, job.procs)
        return time, free - job.procs

    def beside(self, head: Job, extra: int, ends: Ends | None = None) -> Extra:
        return Extra(extra)

    def has_room(self, job: Job) -> bool:
        return self.fits(job)

    def partitions(self, job: Job) -> tuple[int, ...]:
        return (-1,)

    def kept_from(self, job: Job) -> None:
        return None

    def where_it_ran(self, job: Job) -> None:
        return None

    def draft(self) -> Plan:
        if not self._calls.is_open:
            return self._let_engine_answer().draft()
        return Profile.of_steps(self._calls.steps())

    def running_plan(self) -> Plan:
        if not self._calls.is_open:
            return self._let_engine_answer().running_plan()
        return Profile.of_running(self.now, self.free, self.ends)


def _keep(view: LoopPass, name: str, value: object) -> None:
    object.__setattr__(view, name, value)


def _asked_of_engine(name: str) -> property:
    return property(lambda self: getattr(self._let_engine_answer(), name))


for _name in dir(StatePass):
    if not _name.startswith("_") and _name not in _AS_EVER and _name not in vars(LoopPass):
        setattr(LoopPass, _name, _asked_of_engine(_name))
