"""Comparison of two timelines while their runs are computed, one small part at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from math import inf, nextafter
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sim.comparison.differences import Comparison, compare
from sim.comparison.divergence import Account, Divergence, Side, account, names_of_ranks, part
from sim.history.past import Past
from sim.timeline.branch import Branch
from sim.timeline.timeline import Timeline
from sim.workload.categories import TAU
from sim.workload.model import Floats
from sim.workload.pairing import Pairing, paired

WINDOW = 256
"""Number of steps of each run that are compared in one call of `advance`."""
Branches: TypeAlias = tuple[Branch, Branch]


class Shifts(NamedTuple):
    """Numbers of jobs that start earlier, at the same time, and later in the second run than in the first."""

    earlier: int
    same: int
    later: int


class CommonJobs(NamedTuple):
    """Metrics of two runs, each over the jobs that have finished in both runs."""

    jobs: int
    only: tuple[int, int]
    """Number of jobs that have finished only in the first run, and number that have finished only in the second run."""
    mean_wait: tuple[float, float]
    max_wait: tuple[float, float]
    mean_bounded_slowdown: tuple[float, float]
    max_bounded_slowdown: tuple[float, float]

    @property
    def is_level(self) -> bool:
        """Return True if at most a tenth as many jobs have finished in one run as in both."""
        return self.jobs > 0 and 10 * sum(self.only) <= self.jobs


class LiveComparison:
    """Comparison of two runs, made in small parts. It starts anew if the user changes to another branch of one of the
    runs.

    >>> from sim.workload.source import Source
    >>> one = Timeline(Source("z-figure4").read()[1], "fcfs")
    >>> other = one.twin()
    >>> _ = other.switch("easy", at_step=0)
    >>> one.compute_all()
    >>> other.compute_all()
    >>> both = LiveComparison(one, other)
    >>> while not both.is_done:
    ...     both.advance()
    >>> int(both.parting.time), both.shifts(600)
    (600, Shifts(earlier=1, same=2, later=0))
    """

    def __init__(self, one: Timeline, other: Timeline) -> None:
        self.timelines = one, other
        self._begin()

    def _begin(self) -> None:
        one, other = self.timelines
        self.branches: Branches = one.branch, other.branch
        self.pairing = paired(*(branch.engine.workload for branch in self.branches))
        """Jobs that both runs have; None if they have the same"""
        self._search = Search(self.branches, shared_steps(one, other), self.pairing)
        self.accounts: list[tuple[Account, ...]] = []
        """Deeds of each run with the jobs of the first difference, one run after the other."""
        self.comparison: Comparison | None = None
        """Comparison of the whole runs; None until both are computed to their ends"""

    def follow(self) -> None:
        """Begin the comparison again if the user has changed to another branch of one of the runs."""
        if not self._is_current:
            self._begin()

    def advance(self) -> None:
        """Do the next part, which takes milliseconds; the last, the metrics of whole runs, takes 0.1 s."""
        self.follow()
        if not self._search.is_over:
            self._search.advance()
        elif self.parting is not None and len(self.accounts) < len(self.branches):
            side = len(self.accounts)
            self.accounts.append(_accounts(self.branches[side], side, self.parting, self.pairing))
        elif self.comparison is None and all(branch.complete for branch in self.branches):
            first, second = (branch.engine.schedule() for branch in self.branches)
            self.comparison = compare(first, second)

    @property
    def is_done(self) -> bool:
        return self.comparison is not None and self._is_current

    @property
    def parting(self) -> Divergence | None:
        return self._search.found

    @property
    def read_until(self) -> float:
        return self._search.since

    @property
    def never(self) -> bool:
        """Return True once it is certain that the runs do not differ."""
        return self._search.is_over and self.parting is None

    @property
    def _is_current(self) -> bool:
        return self.branches == tuple(timeline.branch for timeline in self.timelines)

    def later(self, first: bool) -> NDArray[np.int8]:
        """Return 1 for each job that starts later in the chosen run than in the other, -1 if earlier, else 0."""
        own, there = self._aligned(_starts, first)
        return later_or_earlier(own, there, min(map(_computed_until, self.branches)))

    def shift(self, first: bool, moment: float) -> Floats:
        """Return the seconds by which each job starts later in the chosen run; infinite if only one run has a start.

        It is 0 for jobs that only the chosen run has.
        """
        own, there = self._aligned(_starts, first)
        until = min(moment, *map(_computed_until, self.branches))
        here, other = np.where(own <= until, own, inf), np.where(there <= until, there, inf)
        with np.errstate(invalid="ignore"):
            shift: Floats = np.nan_to_num(here - other, nan=0.0, posinf=inf, neginf=-inf)
        if self.pairing is not None:
            shift[self.pairing[not first] < 0] = 0.0
        return shift

    def _aligned(self, of: Callable[[Branch], Floats], first: bool = True) -> tuple[Floats, Floats]:
        """Return times of all jobs in the chosen run and in the other, by rank in the chosen one; nan if not there."""
        own, there = (of(branch) for branch in (self.branches if first else self.branches[::-1]))
        if self.pairing is None:
            return own, there
        pairing = self.pairing if first else self.pairing.turned
        return np.where(pairing.there >= 0, own, np.nan), pairing.on_first(there)

    def level(self, moment: float) -> CommonJobs:
        """Return metrics of both runs up to the time `moment`, over the jobs that have finished in both by then."""
        until = min(moment, *map(_computed_until, self.branches))
        ends = [end <= until for end in self._aligned(_ends)]
        both = ends[0] & ends[1]
        waits, slowdowns = [], []
        of_both = both, both if self.pairing is None else self.pairing.there[both]
        for branch, chosen in zip(self.branches, of_both, strict=True):
            start, end = _starts(branch)[chosen], _ends(branch)[chosen]
            workload, submits = branch.engine.workload, branch.engine.moment.submits
            known = replace(workload, submit=submits) if workload.follows else workload
            submit, run = known.submit[chosen], known.runtime[chosen]
            waits.append(np.maximum(start - known.due[chosen], 0))
            slowdowns.append(1 + (end - submit - run) / np.maximum(run, TAU))
        return CommonJobs(
            int(both.sum()),
            (int((ends[0] & ~both).sum()), int((ends[1] & ~both).sum())),
            *(
                (measure(values[0]), measure(values[1]))
                for values in (waits, slowdowns)
                for measure in (_mean, _largest)
            ),
        )

    def shifts(self, moment: float) -> Shifts:
        """Return how many jobs start earlier, together and later in the second run, if they have started in one."""
        one, other = self._aligned(_starts)
        until = min(moment, *map(_computed_until, self.branches))
        later = later_or_earlier(other, one, until)
        earlier_ones, later_ones = int((later < 0).sum()), int((later > 0).sum())
        begun = int(((one <= until) | (other <= until)).sum())
        return Shifts(earlier_ones, begun - earlier_ones - later_ones, later_ones)


# The first difference


class Search:
    """Search for the first difference of two runs, one window of steps of both histories at a time."""

    def __init__(self, branches: Branches, shared: int, pairing: Pairing | None = None) -> None:
        self.found: Divergence | None = None
        self.is_over = False
        """True if the difference was found, or if it is certain that there is none"""
        self._branches = branches
        self.since = branches[0].history.time_of(shared - 1) if shared else -inf
        """Time up to which both runs were compared without finding a difference"""
        self._first = shared, shared
        """Number of the first step that has not been compared, for each of the two runs"""
        self._schedules = branches[0].engine.schedule(), branches[1].engine.schedule()
        self._named = names_of_ranks(pairing)

    def advance(self) -> None:
        """Compare the next window of steps, which is shorter if a run has not been computed that far."""
        until = self._end_of_window()
        if until > self.since:
            sides = self._side_until(0, until), self._side_until(1, until)
            self.found = part(*sides)
            self.since = min(side.history.last_time for side in sides)
            self._first = _steps_until(sides[0].history, self.since), _steps_until(sides[1].history, self.since)
        ends = any(branch.complete and branch.history.last_time <= self.since for branch in self._branches)
        self.is_over = ends or self.found is not None

    def _end_of_window(self) -> float:
        """Return the end of the next window, without the last instant of an unfinished run, which may get events."""
        ahead, known = -inf, inf
        for branch, first in zip(self._branches, self._first, strict=True):
            history, last = branch.history, branch.history.last_time
            known = min(known, last if branch.complete else nextafter(last, -inf))
            if first < history.steps:
                ahead = max(ahead, history.time_of(min(first + WINDOW, history.steps) - 1))
        return min(ahead, known)

    def _side_until(self, place: int, until: float) -> Side:
        """Return the run with the index `place`, limited to steps up to `until` that have not been compared."""
        branch = self._branches[place]
        end = _ends(branch)
        end[~((end >= self.since) & (end <= until))] = np.nan
        history = branch.history.as_of(_steps_until(branch.history, until))
        return Side(history, replace(self._schedules[place], end=end), self._first[place], self._named[place])


def _steps_until(history: Past, time: float) -> int:
    last = history.step_at(time)
    return 0 if last is None else last + 1


def shared_steps(one: Timeline, other: Timeline) -> int:
    """Return the number of first steps that two shown runs share; 0 if no branch is an ancestor of both."""
    ours = dict(_lineage(one))
    return max((min(steps, ours[branch]) for branch, steps in _lineage(other) if branch in ours), default=0)


def _lineage(timeline: Timeline) -> Iterator[tuple[Branch, int]]:
    branch, steps = timeline.branch, timeline.branch.computed
    yield branch, steps
    while branch.parent is not None:
        steps = min(steps, branch.forked_at)
        branch = timeline.branches[branch.parent]
        yield branch, steps


# Reasons


def _accounts(branch: Branch, side: int, parting: Divergence, pairing: Pairing | None) -> tuple[Account, ...]:
    engine = branch.replay(parting.steps[side])
    assert engine is not None  # the replay cannot be cancelled
    return tuple(account(engine, rank, parting.time) for rank in parting.ranks_in(side, pairing))


# Earlier and later jobs


def later_or_earlier(own: Floats, there: Floats, until: float) -> NDArray[np.int8]:
    """Return 1 for each job whose start is later in `own`, -1 if earlier, 0 if equal or unknown at `until`.

    >>> later_or_earlier(np.array([5, 9, 5, 30]), np.array([5, 7, np.nan, np.nan]), 20).tolist()
    [0, 1, -1, 0]
    """
    here, other = np.where(own <= until, own, inf), np.where(there <= until, there, inf)
    return (here > other).astype(np.int8) - (here < other)


def _mean(values: Floats) -> float:
    return float(values.mean()) if len(values) else 0.0


def _largest(values: Floats) -> float:
    return float(values.max(initial=0))


def _starts(branch: Branch) -> Floats:
    return branch.history.starts(len(branch.engine.workload))


def _ends(branch: Branch) -> Floats:
    return branch.history.ends(len(branch.engine.workload))


def _computed_until(branch: Branch) -> float:
    return inf if branch.complete else branch.history.last_time
