"""Two timelines beside each other, compared piece by piece while they are computed.

Where they part and why, which jobs come earlier, and what it comes to in the end. Histories are read in windows, each
instant once, and what has been found is never looked for again; whoever has time calls `advance`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import inf, nextafter
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sim.comparison.differences import Comparison, compare
from sim.comparison.parting import Account, Parting, Side, account, part
from sim.history.past import Past
from sim.timeline.branch import Branch
from sim.timeline.timeline import Timeline
from sim.workload.categories import TAU
from sim.workload.model import Floats

WINDOW = 256
"""Steps of either run that are compared at a time."""
Branches: TypeAlias = tuple[Branch, Branch]


class Shifts(NamedTuple):
    """How many jobs start earlier and later in the second run than in the first, and at the same time."""

    earlier: int
    same: int
    later: int


class Level(NamedTuple):
    """Two runs by the same jobs: those that have ended in both."""

    jobs: int
    only: tuple[int, int]
    """How many have ended in one of them alone."""
    mean_wait: tuple[float, float]
    max_wait: tuple[float, float]
    mean_bounded_slowdown: tuple[float, float]
    max_bounded_slowdown: tuple[float, float]

    @property
    def is_level(self) -> bool:
        """Are so few jobs left out that one may be called the better? At most one in ten."""
        return self.jobs > 0 and 10 * sum(self.only) <= self.jobs


class Alongside:
    """A run and one beside it. If one of them takes another branch, all begins anew.

    >>> from sim.workload.source import Source
    >>> one = Timeline(Source("z-figure4").read()[1], "fcfs")
    >>> other = one.twin()
    >>> _ = other.switch("easy", at_step=0)
    >>> one.compute_all()
    >>> other.compute_all()
    >>> both = Alongside(one, other)
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
        self._search = Search(self.branches, shared_steps(one, other))
        self.accounts: list[tuple[Account, ...]] = []
        """What the first and the second run did where they part, as far as it is known."""
        self.comparison: Comparison | None = None
        """What it comes to, once both are computed."""

    def follow(self) -> None:
        """Begin anew if another branch is looked at."""
        if not self._is_current:
            self._begin()

    def advance(self) -> None:
        """Do a piece of what is left: a few milliseconds, but for the comparison at the end (once, 0.1 s)."""
        self.follow()
        if not self._search.is_over:
            self._search.advance()
        elif self.parting is not None and len(self.accounts) < len(self.branches):
            side = len(self.accounts)
            self.accounts.append(_accounts(self.branches[side], self.parting.steps[side], self.parting))
        elif self.comparison is None and all(branch.complete for branch in self.branches):
            first, second = (branch.engine.schedule() for branch in self.branches)
            self.comparison = compare(first, second)

    @property
    def is_done(self) -> bool:
        """Is everything known that will ever be?"""
        return self.comparison is not None and self._is_current

    @property
    def parting(self) -> Parting | None:
        """Where the runs part, once it is known."""
        return self._search.found

    @property
    def read_until(self) -> float:
        """Up to when both have been read."""
        return self._search.since

    @property
    def never(self) -> bool:
        """Is it certain that they never part?"""
        return self._search.is_over and self.parting is None

    @property
    def _is_current(self) -> bool:
        return self.branches == tuple(timeline.branch for timeline in self.timelines)

    def later(self, first: bool) -> NDArray[np.int8]:
        """rank -> 1 if the job starts later in the first or the second run than in the other, -1 if earlier.

        As far as both runs are known; else 0.
        """
        own, there = (_starts(branch) for branch in (self.branches if first else self.branches[::-1]))
        return later_or_earlier(own, there, min(map(_known, self.branches)))

    def shift(self, first: bool, moment: float) -> Floats:
        """rank -> seconds by which the job starts later in the first or the second run than in the other.

        Below 0 earlier; infinite where it has started in one only by that moment; 0 where nothing is known.
        """
        own, there = (_starts(branch) for branch in (self.branches if first else self.branches[::-1]))
        until = min(moment, *map(_known, self.branches))
        here, other = np.where(own <= until, own, inf), np.where(there <= until, there, inf)
        with np.errstate(invalid="ignore"):
            shift: Floats = np.nan_to_num(here - other, nan=0.0, posinf=inf, neginf=-inf)
        return shift

    def level(self, moment: float) -> Level:
        """How the runs stand at a moment by the jobs that have ended in both."""
        until = min(moment, *map(_known, self.branches))
        ends = [np.array(branch.engine.state.ledger.end) <= until for branch in self.branches]
        both = ends[0] & ends[1]
        waits, slowdowns = [], []
        for branch in self.branches:
            ledger, workload = branch.engine.state.ledger, branch.engine.workload
            start, end = np.array(ledger.start)[both], np.array(ledger.end)[both]
            submit, run = workload.submit[both], workload.runtime[both]
            waits.append(np.maximum(start - workload.due[both], 0))
            slowdowns.append(1 + (end - submit - run) / np.maximum(run, TAU))
        return Level(
            int(both.sum()),
            (int((ends[0] & ~both).sum()), int((ends[1] & ~both).sum())),
            *((measure(values[0]), measure(values[1])) for values in (waits, slowdowns) for measure in (_mean, _most)),
        )

    def shifts(self, moment: float) -> Shifts:
        """How many jobs of those that have started by a moment come earlier and later."""
        one, other = map(_starts, self.branches)
        until = min(moment, *map(_known, self.branches))
        later = later_or_earlier(other, one, until)
        earlier_ones, later_ones = int((later < 0).sum()), int((later > 0).sum())
        begun = int(((one <= until) | (other <= until)).sum())
        return Shifts(earlier_ones, begun - earlier_ones - later_ones, later_ones)


# Where they part


class Search:
    """Looks for where two runs part; each piece of it reads a window of both histories."""

    def __init__(self, branches: Branches, shared: int) -> None:
        self.found: Parting | None = None
        self.is_over = False
        """Has it been found, or is it certain that they never part?"""
        self._branches = branches
        self.since = branches[0].history.time_of(shared - 1) if shared else -inf
        """Up to here both were read, and nothing happened in one of them only."""
        self._first = shared, shared
        """The first steps that have not been read."""
        self._schedules = branches[0].engine.schedule(), branches[1].engine.schedule()

    def advance(self) -> None:
        """Read on, as far as both are known."""
        until = self._until()
        if until > self.since:
            sides = self._side(0, until), self._side(1, until)
            self.found = part(*sides)
            self.since = min(_last(side.history) for side in sides)
            self._first = _steps_until(sides[0].history, self.since), _steps_until(sides[1].history, self.since)
        ends = any(branch.complete and _last(branch.history) <= self.since for branch in self._branches)
        self.is_over = ends or self.found is not None

    def _until(self) -> float:
        """Up to where the next window goes: something may still happen at the last instant of a run that goes on."""
        ahead, known = -inf, inf
        for branch, first in zip(self._branches, self._first, strict=True):
            history, last = branch.history, _last(branch.history)
            known = min(known, last if branch.complete else nextafter(last, -inf))
            if first < history.steps:
                ahead = max(ahead, history.time_of(min(first + WINDOW, history.steps) - 1))
        return min(ahead, known)

    def _side(self, place: int, until: float) -> Side:
        """One run from where it was read to, until the end of the window."""
        branch, ledger = self._branches[place], self._branches[place].engine.state.ledger
        end = np.array(ledger.end)
        end[~((end >= self.since) & (end <= until))] = np.nan
        history = branch.history.as_of(_steps_until(branch.history, until))
        return Side(history, replace(self._schedules[place], end=end), self._first[place])


def _last(history: Past) -> float:
    """When the last step was."""
    return history.time_of(history.steps - 1) if history.steps else -inf


def _steps_until(history: Past, time: float) -> int:
    """How many steps there were at or before this time."""
    last = history.step_at(time)
    return 0 if last is None else last + 1


def shared_steps(one: Timeline, other: Timeline) -> int:
    """How many steps two timelines of one tree of branches have in common."""
    ours = dict(_lineage(one))
    return max((min(steps, ours[branch]) for branch, steps in _lineage(other) if branch in ours), default=0)


def _lineage(timeline: Timeline) -> Iterator[tuple[Branch, int]]:
    """The branch and those from which it comes, each with how many of its steps belong to it."""
    branch, steps = timeline.branch, timeline.branch.computed
    yield branch, steps
    while branch.parent is not None:
        steps = min(steps, branch.forked_at)
        branch = timeline.branches[branch.parent]
        yield branch, steps


# Why


def _accounts(branch: Branch, steps: int, parting: Parting) -> tuple[Account, ...]:
    """What one run did there with the jobs over which they part; the instant is made again to be asked for reasons."""
    engine = branch.replay(steps)
    assert engine is not None  # nobody stops it
    return tuple(account(engine, rank, parting.time) for rank in parting.ranks)


# Who comes earlier


def later_or_earlier(own: Floats, there: Floats, until: float) -> NDArray[np.int8]:
    """1 for each job that starts later here than there, -1 for an earlier one, as far as it shows by `until`.

    >>> later_or_earlier(np.array([5, 9, 5, 30]), np.array([5, 7, np.nan, np.nan]), 20).tolist()
    [0, 1, -1, 0]
    """
    here, other = np.where(own <= until, own, inf), np.where(there <= until, there, inf)
    return (here > other).astype(np.int8) - (here < other)


def _mean(values: Floats) -> float:
    return float(values.mean()) if len(values) else 0.0


def _most(values: Floats) -> float:
    return float(values.max(initial=0))


def _starts(branch: Branch) -> Floats:
    return np.array(branch.engine.state.ledger.start)


def _known(branch: Branch) -> float:
    """Up to when a run is known."""
    return inf if branch.complete else _last(branch.history)
