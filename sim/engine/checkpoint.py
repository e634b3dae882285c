"""Checkpoints: compact copies of the state of a run, from which it can continue.

The results of finished jobs are not copied, because they never change: a later state of the same run supplies them. A
copy is small: it contains the state of the running and suspended jobs (a few hundred), and of the waiting jobs only the
ranks.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from dataclasses import dataclass
from sys import getsizeof
from typing import Any

from sim.engine.queue import Queue
from sim.engine.state import Future, State
from sim.history.ledger import JobResults
from sim.policies.orders import Order
from sim.workload.model import Workload

_PER_ITEM = 72
"""Approximate size in bytes of one item in a container, such as a number or a tuple, including the pointer to it."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """Copy of the state of a run after one step. It shares no mutable data with an engine, and never changes."""

    small: State
    """State of the run without those parts that the other fields of the checkpoint contain or that can be computed
    again.
    """
    future: Future
    waiting: array[int]
    """Ranks of the waiting jobs."""
    seen: Order | None
    """Rule that sorts the queue, with the data that it used at the last pass. None if the rule depends only on the job
    and the clock.
    """
    unfinished: tuple[int, ...]
    """Ranks of the jobs that run or are suspended."""
    entries: Mapping[int, JobResults]
    """Mapping from the rank of each unfinished job that already has results, such as its first start, to these
    results.
    """

    @classmethod
    def of(cls, state: State, future: Future) -> Checkpoint:
        """Return a checkpoint of this state; `future` are the events that only the engine knows. Call this method
        between two steps only.
        """
        unfinished = {*state.running, *state.suspended, *state.under_way}
        waiting, ledger = state.waiting.ranks(), state.ledger
        told = {*unfinished, *ledger.told(waiting)}
        entries = {rank: ledger.entry(rank) for rank in told}
        return cls(state.copy(), future.copy(), waiting, state.waiting.seen, tuple(unfinished), entries)

    def state(self, later: State, workload: Workload, *, is_copied: bool = True) -> State:
        """Return the state at the checkpoint. Results of finished jobs, which a checkpoint does not contain, are taken
        from `later`, a later state of the same run. They are copied if `is_copied`, otherwise looked up in `later` when
        they are read.
        """
        state = self.small.copy()
        state.curious, state.jobs, unfinished = later.curious, workload.jobs, [*self.waiting, *self.unfinished]
        if state.releases is not None:
            state.jobs = state.releases.jobs_of(workload.jobs)
            unfinished += (rank for rank in range(state.submitted) if not state.releases.has_come(rank))
        state.waiting = Queue.of(state.policy.queue_order(), map(state.jobs.__getitem__, self.waiting))
        state.waiting.step, state.waiting.seen = self.step - 1, self.seen
        state.ledger = later.ledger.as_of(state.submitted, unfinished, self.entries, is_copied=is_copied)
        return state

    @property
    def step(self) -> int:
        """Return the number of steps made until the checkpoint."""
        return self.small.step_count

    @property
    def time(self) -> float:
        return self.small.now

    @property
    def free(self) -> int:
        """Return the number of free processors at the checkpoint."""
        return self.small.free

    @property
    def size(self) -> int:
        """Return the approximate size of the checkpoint in bytes."""
        return _size(self.small) + _size(self.future) + _size(self.waiting) + 2 * _size(self.entries)


def _size(value: Any) -> int:
    if isinstance(value, array):
        return getsizeof(value)
    if isinstance(value, dict) and any(hasattr(item, "copy") for item in value.values()):
        return getsizeof(value) + sum(map(_size, value.values()))
    if isinstance(value, dict | list | set | tuple):
        return getsizeof(value) + _PER_ITEM * len(value)
    names = getattr(type(value), "__slots__", ())
    return getsizeof(value) + sum(_size(getattr(value, name)) for name in names if hasattr(value, name))
