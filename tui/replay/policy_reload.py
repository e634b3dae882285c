"""Reload: the run is repeated with changed code up to the present time, in small parts in the background."""

from __future__ import annotations

from math import inf
from time import perf_counter
from typing import TYPE_CHECKING

from sim.comparison.comparison_sentences import how_it_differs
from sim.comparison.live_comparison import LiveComparison
from sim.policies.policy import Policy, written_policy
from sim.support.errors import SchedscopeError
from sim.support.formatting import clock, printable
from tui.replay.requests import Renew

if TYPE_CHECKING:
    from sim.comparison.divergence import Divergence
    from sim.timeline.branch import Branch
    from sim.timeline.timeline import Timeline


class PolicyReload:
    def __init__(self, timeline: Timeline, order: Renew) -> None:
        self.title = printable(order.title)
        self.old = timeline.branch
        self.new: Branch | None = None
        """Branch with the new code; None before the reload begins, or if the branch does not use the changed code"""
        self.later: SchedscopeError | None = None
        self._order, self._here, self._there = order, timeline.twin(), timeline.twin()
        self._both: LiveComparison | None = None
        self._share = 0.0

    def _renewed(self, policy: Policy) -> Policy:
        return self._order.policies.get(written_policy(policy), policy)

    def _name(self) -> str:
        """Return a free name for the new branch: `fair.py 2`, `fair.py 3` and so on."""
        names = self._there.branches
        return next(n for number in range(2, len(names) + 3) if (n := f"{self.title} {number}") not in names)

    def advance(self, seconds: float, moment: float) -> bool:
        """Compute the new run for about `seconds`; return True once it is compared up to `moment`."""
        until = perf_counter() + seconds
        if self._both is None:
            self.new = self._there.remake(self._renewed, self._name())
            if self.new is None:
                return True
            self._both = LiveComparison(self._here, self._there)
        while not self._there.complete and self._there.history.last_time <= moment:
            self._compute(max(until - perf_counter(), 0), moment)
            if perf_counter() >= until:
                return False
        while not (self._both.parting or self._both.never or self._both.read_until >= moment):
            was = self._both.read_until
            self._both.advance()
            if perf_counter() >= until or self._both.read_until == was:
                return self._both.parting is not None or self._both.never
        return True

    def look_ahead(self, seconds: float) -> bool:
        """Compute and compare both runs for about `seconds`; True when the first difference is known, or none."""
        both = self._both
        if both is None or self.later is not None:
            return True
        for timeline in (self._there, self._here):
            if not timeline.complete:
                timeline.compute_for(seconds / 2)
        until, was = perf_counter() + seconds, -inf
        while not self.is_known and both.read_until > was:
            was = both.read_until
            both.advance()
            if perf_counter() >= until:
                break
        return self.is_known

    @property
    def is_known(self) -> bool:
        return self._both is not None and (self._both.parting is not None or self._both.never)

    def _compute(self, seconds: float, moment: float) -> None:
        there = self._there
        try:
            there.compute_for(seconds)
        except SchedscopeError as error:
            failure = there.branch.error
            if failure is None or failure.time <= moment:
                raise
            self.later = error
        self._share = there.computed / max(there.computed, self.old.computed, 1)

    @property
    def progress(self) -> tuple[str, float]:
        return f"{self.title} again", self._share

    @property
    def parting(self) -> Divergence | None:
        return self._both.parting if self._both else None

    @property
    def told(self) -> str:
        if self.new is None:
            return f"{self.title} is as this run has it"
        if self.parting is None:
            where = "in the whole run" if self.is_known and not self.later else "up to here"
            return f"{self.title}: nothing differs {where}"
        what = printable(how_it_differs(self.parting, self._here.workload))
        return f"{self.title}: first difference at {clock(self.parting.time)}, {what}"
