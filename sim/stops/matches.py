"""All steps of a run that meet a condition, each with its jobs and values, found a little at a time."""

from __future__ import annotations

from time import perf_counter
from typing import NamedTuple

from sim.stops.grammar import Stop
from sim.stops.search import Looker
from sim.support.errors import SchedscopeError
from sim.timeline.branch import Branch
from sim.workload.model import Job

MOST = 1000
"""Largest number of matches that are kept; the others are only counted."""


class Match(NamedTuple):
    step: int
    time: float
    jobs: tuple[Job, ...]
    values: tuple[str, ...]


class Matches:
    def __init__(self, branch: Branch, stop: Stop) -> None:
        self.branch, self.stop = branch, stop
        self.found: list[Match] = []
        self.more = 0
        self.step = 0
        """Number of steps of which it is known whether they meet the condition."""
        self._looker = Looker(branch, (stop,))
        self._looker.look(0)
        self._known = 0
        self._has_failed = False

    @property
    def is_read(self) -> bool:
        return self._has_failed or self.step >= self._to_read

    @property
    def share(self) -> float:
        """Return the share of the computed steps that was searched; below 1 until the run is complete."""
        done = self.step / max(self.branch.computed, 1)
        return done if self.branch.complete else min(done, 0.99)

    @property
    def _to_read(self) -> int:
        """Return the number of steps to read; while the run is computed it grows rarely, as columns are then copied."""
        computed = self.branch.computed
        if self.branch.complete or computed >= 2 * self._known:
            self._known = computed
        return self._known

    def read(self, seconds: float) -> None:
        """Look at more of the computed steps, for about `seconds`, but at least at one."""
        until, last = perf_counter() + seconds, self._to_read
        while self.step < last and not self._has_failed:
            try:
                if self._looker.look(self.step + 1):
                    self._keep(self.step + 1)
            except SchedscopeError:  # reported when that step is shown
                self._has_failed = True
                return
            self.step += 1
            if perf_counter() >= until:
                return

    def _keep(self, step: int) -> None:
        if len(self.found) >= MOST:
            self.more += 1
            return
        findings = [*self._looker.findings(self.stop)]
        jobs = dict.fromkeys(job for job, _ in findings if job is not None)
        values = dict.fromkeys(value for _, value in findings if value)
        self.found.append(Match(step, self.branch.history.time_of(step - 1), (*jobs,), (*values,)))
