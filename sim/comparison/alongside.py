"""Two runs beside each other: where they part and why, which jobs come earlier, and what it comes to in the end.

It belongs to the worker, which gives it a little time when there is nothing else to do (`Versus.advance`): histories
are read in windows, each instant once, and what has been found is never looked for again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from math import inf, nextafter
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sim.comparison.differences import Comparison, compare
from sim.comparison.parting import Account, Parting, Side, account, part
from sim.comparison.telling import about, headline, tell
from sim.history.history import Past
from sim.metrics.aggregates import ratio
from sim.timeline.branch import Branch
from sim.timeline.timeline import Timeline
from sim.words import clock, clock_near, printable
from tui.chart.scene import ChartScene
from tui.cli.compare_page import LONGEST_NAME
from tui.look.palette import Hue
from tui.look.text import cells
from tui.replay.scene import Shifts, VersusScene

if TYPE_CHECKING:
    from tui.replay.stage import Stage

WINDOW = 256
"""Steps of either run that are compared at a time."""
LEGEND = (
    (int(Hue.COOL), "earlier here"),
    (int(Hue.WARM), "later here"),
    (int(Hue.GREY), "the same, or not known"),
)
Branches: TypeAlias = tuple[Branch, Branch]
Floats: TypeAlias = NDArray[np.float64]


class Versus:
    """The run that is watched, and the one beside it. If one of them takes another branch, all begins anew."""

    def __init__(self, one: Stage, other: Stage) -> None:
        self._stages = one, other
        self._begin()

    def _begin(self) -> None:
        one, other = (stage.timeline for stage in self._stages)
        self._branches: Branches = one.branch, other.branch
        self._search = Search(self._branches, shared_steps(one, other))
        self._accounts: list[tuple[Account, ...]] = []
        self._comparison: Comparison | None = None

    # The work

    def advance(self) -> None:
        """Do a piece of what is left: a few milliseconds, but for the comparison at the end (once, 0.1 s)."""
        self._follow()
        if not self._search.is_over:
            self._search.advance()
        elif self.parting is not None and len(self._accounts) < len(self._branches):
            side = len(self._accounts)
            self._accounts.append(_accounts(self._branches[side], self.parting.steps[side], self.parting))
        elif self._comparison is None and self._is_computed:
            first, second = (branch.engine.schedule() for branch in self._branches)
            self._comparison = compare(first, second)

    @property
    def is_done(self) -> bool:
        """Is everything known that will ever be?"""
        return self._comparison is not None and self._is_current

    @property
    def parting(self) -> Parting | None:
        """Where the runs part, once it is known."""
        return self._search.found

    def _follow(self) -> None:
        """Begin anew if another branch is looked at."""
        if not self._is_current:
            self._begin()

    @property
    def _is_current(self) -> bool:
        return self._branches == tuple(stage.timeline.branch for stage in self._stages)

    @property
    def _is_computed(self) -> bool:
        return all(branch.complete for branch in self._branches)

    # What is seen of it

    def scene(self, moment: float) -> VersusScene:
        """How the runs stand against each other at this moment."""
        self._follow()
        one, other = (stage.snapshot.totals for stage in self._stages)
        specs = self._branches[0].engine.state.spec, self._branches[1].engine.state.spec
        both_ended = one.finished and other.finished
        scene = VersusScene(
            specs=specs,
            names=names_of(specs),
            totals=(one, other),
            r=ratio(one.mean_bounded_slowdown, other.mean_bounded_slowdown) if both_ended else None,
            shifts=self._shifts(moment),
            never=self._search.is_over and self.parting is None,
            comparison=self._comparison,
        )
        return scene if self.parting is None else self._with_parting(scene, self.parting)

    def _with_parting(self, scene: VersusScene, parting: Parting) -> VersusScene:
        shortest = printable(f"first parted at {clock(parting.time)} over {about(parting, self._stages[0].workload)}")
        if len(self._accounts) < len(self._branches):
            return replace(scene, parting=parting, headline=(shortest,))
        one, other = self._accounts
        whole = headline(parting, scene.names, (one, other))
        at = clock_near(parting.time)
        first, second = (tuple(printable(tell(account, at)) for account in accounts) for accounts in (one, other))
        telling = _telling(whole, scene.names, (one[0], other[0]))
        lines = whole, telling, *map(_without_reason, (whole, telling)), shortest
        return replace(scene, parting=parting, headline=lines, told=(first, second))

    def painted(self, chart: ChartScene, first: bool) -> ChartScene:
        """The same chart, coloured by who starts earlier and later than in the other run."""
        hues = self.hues(first)
        # Two greys, by what colour a job has otherwise, so that neighbours are told apart.
        hues[(hues == Hue.GREY) & (chart.hues % 2 == 1)] = Hue.PALE
        return replace(chart, mode="versus", hues=hues, legend=LEGEND)

    def hues(self, first: bool) -> NDArray[np.uint8]:
        """rank -> hue in the first or the second run; grey as long as it is not known in both."""
        self._follow()
        own, there = (_starts(branch) for branch in (self._branches if first else self._branches[::-1]))
        sides = np.array([Hue.COOL, Hue.GREY, Hue.WARM], np.uint8)
        return sides[later_or_earlier(own, there, min(map(_known, self._branches))) + 1]

    def _shifts(self, moment: float) -> Shifts:
        one, other = map(_starts, self._branches)
        until = min(moment, *map(_known, self._branches))
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
        self._since = branches[0].history.time_of(shared - 1) if shared else -inf
        """Up to here nothing happened in one of them only."""
        self._first = shared, shared
        """The first steps that have not been read."""
        self._schedules = branches[0].engine.schedule(), branches[1].engine.schedule()

    def advance(self) -> None:
        """Read on, as far as both are known."""
        until = self._until()
        if until > self._since:
            sides = self._side(0, until), self._side(1, until)
            self.found = part(*sides)
            self._since = min(_last(side.history) for side in sides)
            self._first = _steps_until(sides[0].history, self._since), _steps_until(sides[1].history, self._since)
        ends = any(branch.complete and _last(branch.history) <= self._since for branch in self._branches)
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
        end[~((end >= self._since) & (end <= until))] = np.nan
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


def _telling(whole: str, names: tuple[str, str], first: tuple[Account, Account]) -> str:
    """Of a headline only what the run did that left things as they were: it says why."""
    here, _, there = whole.partition(f"; {names[1]} ")
    if first[0].act is not None or first[1].act is None:
        return f"{here.partition(f': {names[0]} ')[0]}: {names[1]} {there}"
    return here


def _without_reason(told: str) -> str:
    """A headline without why a job is kept waiting.

    >>> _without_reason("A keeps J1 waiting: needs 4, 2 free; B starts J1")
    'A keeps J1 waiting; B starts J1'
    """
    return re.sub(" waiting: [^;]*", " waiting", told)


def names_of(specs: tuple[str, str]) -> tuple[str, str]:
    """What two runs are called in columns and sentences.

    >>> names_of(("easy", "fcfs")), names_of(("easy", "easy"))
    (('easy', 'fcfs'), ('A', 'B'))
    """
    first, second = specs
    return specs if first != second and max(map(cells, specs)) <= LONGEST_NAME else ("A", "B")


# Who comes earlier


def later_or_earlier(own: Floats, there: Floats, until: float) -> NDArray[np.int8]:
    """1 for each job that starts later here than there, -1 for an earlier one, as far as it shows by `until`.

    >>> later_or_earlier(np.array([5, 9, 5, 30]), np.array([5, 7, np.nan, np.nan]), 20).tolist()
    [0, 1, -1, 0]
    """
    here, other = np.where(own <= until, own, inf), np.where(there <= until, there, inf)
    return (here > other).astype(np.int8) - (here < other)


def _starts(branch: Branch) -> Floats:
    return np.array(branch.engine.state.ledger.start)


def _known(branch: Branch) -> float:
    """Up to when a run is known."""
    return inf if branch.complete else _last(branch.history)
