"""Checkpoints: compact copies of the state of a run, from which it can continue.

The results of finished jobs are not copied, because they never change: a later state of the same run supplies them. A
copy is small: it contains the state of the running and suspended jobs (a few hundred), and of the waiting jobs only the
ranks.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from sys import getsizeof
from typing import Any

from sim.engine.fields import Fields
from sim.engine.future import Future
from sim.engine.moment import Moment
from sim.engine.queue import Queue
from sim.history.history import History
from sim.history.ledger import JobResults
from sim.policies.orders import Order
from sim.workload.model import Workload

_PER_ITEM = 72
"""Approximate size in bytes of one item in a container, such as a number or a tuple, including the pointer to it."""


class Checkpoint:
    """Copy of the state of a run after one step. It shares no mutable data with an engine, and never changes."""

    def __init__(self, moment: Moment, future: Future) -> None:
        """Copy this moment, and the events to come that only the engine knows, between two steps."""
        waiting, ledger = moment._waiting.ranks(), moment._ledger
        self.future = future.copy()
        self._small = Fields()
        self._small._take(moment)
        self._waiting: array[int] = waiting
        """Ranks of the waiting jobs."""
        self._seen: Order | None = moment._waiting.seen
        """Rule that sorts the queue, with the data that it used at the last pass. None if the rule depends only on the
        job and the clock.
        """
        self._unfinished = sorted({*moment._running, *moment._suspended, *moment.under_way})
        """Ranks of the jobs that run or are suspended."""
        self._entries: Mapping[int, JobResults] = {
            rank: ledger.entry(rank) for rank in {*self._unfinished, *ledger.told(waiting)}
        }
        """Mapping from the rank of each unfinished job with results, such as its first start, to these results."""

    def moment(self, later: Moment, workload: Workload, history: History, *, is_copied: bool) -> Moment:
        """Return the moment of the checkpoint, which writes to `history`. Results of finished jobs, which a checkpoint
        does not contain, are taken from `later`, a later moment of the same run. They are copied if `is_copied`,
        otherwise looked up in `later` when they are read.
        """
        moment = Moment(history)
        moment._take(self._small)
        moment._curious, moment._jobs, unfinished = later._curious, workload.jobs, [*self._waiting, *self._unfinished]
        if moment._releases is not None:
            moment._jobs = moment._releases.jobs_of(workload.jobs)
            unfinished += (rank for rank in range(moment._submitted) if not moment._releases.has_come(rank))
        moment._waiting = Queue.of(moment._policy.queue_order(), map(moment._jobs.__getitem__, self._waiting))
        moment._waiting.step, moment._waiting.seen = self.step - 1, self._seen
        moment._ledger = later._ledger.as_of(moment._submitted, unfinished, self._entries, is_copied=is_copied)
        return moment

    @property
    def step(self) -> int:
        return self._small._step

    @property
    def free(self) -> int:
        return self._small._free

    @property
    def size(self) -> int:
        """Return the approximate size of the checkpoint in bytes."""
        small = self._small
        parts = (
            small._running, small._stays.in_order, small._suspended, small._reserved, small._expected, small._lasts,
            small._granted, small._timers, small._notes, small._machine.held, self.future.leaving, self._waiting,
            self._entries, self._entries,
        )  # fmt: skip
        return 2_000 + sum(map(_size, parts))


def _size(value: Any) -> int:
    if isinstance(value, array):
        return getsizeof(value)
    if isinstance(value, dict) and any(isinstance(item, dict) for item in value.values()):
        return getsizeof(value) + sum(map(_size, value.values()))
    return getsizeof(value) + (_PER_ITEM * len(value) if isinstance(value, dict | list | set | tuple) else 0)
