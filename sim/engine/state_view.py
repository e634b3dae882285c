"""What a policy is given: the members of `sim.policies.view.View`, read-only.

Only the state is behind it, in which there are no run times; the engine cannot be reached from here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import inf
from operator import attrgetter
from types import MappingProxyType
from typing import Any

from sim.engine.state import State
from sim.machine.matrix import MatrixView
from sim.machine.profile import Profile
from sim.policies.view import Ends, RunningJob
from sim.workload.model import Job


def _is(name: str) -> Any:
    return property(attrgetter(name))


class StateView:
    """The present, as a policy sees it."""

    __slots__ = ("_held", "_reserved", "_running", "_state", "_suspended")

    reserved: Mapping[int, float] = _is("_reserved")
    running: Mapping[int, RunningJob] = _is("_running")
    suspended: Mapping[int, int] = _is("_suspended")
    now: float = _is("_state.now")
    procs: int = _is("_state.machine.size")
    there: int = _is("_state.machine.there")
    resized: bool = _is("_state.resized")
    closes: float = _is("_state.closes")
    free: int = _is("_state.free")
    free_set: int = _is("_state.machine.free_set")
    curious: bool = _is("_state.curious")
    ended_early: bool = _is("_state.ended_early")
    notes: dict[str, Any] = _is("_state.notes")
    queue: list[Job] = _is("_state.queue")
    plan: Profile = _is("_state.plan")
    held: Callable[[int], int] = _is("_held.__getitem__")

    def __init__(self, state: State) -> None:
        self._state: State
        self._keep(_state=state)
        for name in ("reserved", "running", "suspended"):
            self._keep(**{f"_{name}": MappingProxyType(getattr(state, name))})
        self._keep(_held=MappingProxyType(state.machine.held))

    def _keep(self, **own: object) -> None:
        for name, value in own.items():
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a policy cannot change the view's {name}; it yields decisions")

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
    def ends(self) -> Ends:
        return tuple(self._state.ends)

    @property
    def owners(self) -> Sequence[int]:
        return tuple(self._state.machine.owners)

    @property
    def matrix(self) -> MatrixView:
        return self._state.matrix.view

    @property
    def machine_ahead(self) -> Ends:
        return self._state.machine_ahead()

    def ran(self, rank: int) -> float:
        return self._state.ran(rank)

    def remaining_estimate(self, rank: int) -> float:
        return self._state.remaining_estimate(rank)

    def remaining_estimates(self, ranks: Iterable[int]) -> list[tuple[float, int, int]]:
        return self._state.remaining_estimates(ranks)

    def running_plan(self) -> Profile:
        return self._state.running_plan()

    def fits(self, job: Job) -> bool:
        state = self._state
        return job.procs <= self.free and (state.closes == inf or state.in_time(job))

    def in_time(self, job: Job) -> bool:
        return self._state.closes == inf or self._state.in_time(job)

    def shadow(self, job: Job) -> tuple[float, int]:
        return self._state.shadow(job)

    def job(self, rank: int) -> Job:
        if not 0 <= rank < self._state.submitted:
            raise IndexError(f"no job of rank {rank} has come")
        return self._state.jobs[rank]
