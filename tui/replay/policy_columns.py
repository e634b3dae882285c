"""Numbers in a user-defined policy's notes about one job, collected while the worker is idle."""

from __future__ import annotations

from time import perf_counter
from typing import TypeAlias

from sim.engine.engine import Engine
from sim.policies.columns import Column
from sim.support.errors import SchedscopeError
from sim.timeline.branch import Branch
from sim.workload.model import Job

Numbers: TypeAlias = tuple[tuple[float, float], ...]
"""Pairs (time, value), one for each change of a number"""
MOST = 2000
"""Largest number of values of a column that are kept; if there are more, every second value is dropped."""


class OwnNumbers:
    """Numbers in the policy's notes about a job while it waited; those about its user, over the whole run."""

    def __init__(self, branch: Branch, job: Job) -> None:
        self._branch, self._job = branch, job
        self._has_others = any(column.of != "rank" for column in branch.engine.moment.columns)
        before = None if self._has_others else branch.history.step_at(job.submit)
        self._step = 0 if before is None else before
        self._engine: Engine | None = None
        self._is_over = False
        self._found: dict[Column, list[tuple[float, float]]] = {}

    def is_of(self, branch: Branch, job: Job) -> bool:
        return (self._branch, self._job) == (branch, job)

    def has_read(self, step: int) -> bool:
        return self._is_over or self._step >= step

    def read(self, step: int, seconds: float) -> None:
        """Collect numbers up to step `step`, for about `seconds` of computing time, but at least one step."""
        until = perf_counter() + seconds
        while not self.has_read(step):
            self._step += 1
            try:
                self._engine = self._branch.replay(self._step, self._engine)
            except SchedscopeError:  # reported when that step is shown
                self._engine = None
            if self._engine is None:
                self._is_over = True
                return
            self._look(self._engine)
            if perf_counter() >= until:
                return

    def _look(self, engine: Engine) -> None:
        moment, now = engine.moment, engine.now
        waits = moment.where(self._job.rank) == "queue"
        self._is_over = now >= self._job.submit and not waits and not self._has_others
        for column in moment.columns:
            if (waits or column.of != "rank") and (value := column.value(moment.notes, self._job)) is not None:
                values = self._found.setdefault(column, [])
                values.append((now, value))
                if len(values) > MOST:
                    del values[1:-1:2]

    @property
    def found(self) -> tuple[tuple[Column, Numbers], ...]:
        return tuple((column, tuple(values)) for column, values in self._found.items())
