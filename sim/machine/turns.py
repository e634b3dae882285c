"""Clock of gang scheduling: the rows of the matrix take turns (Zhang et al. 2000, sections 4 and 5.3).

The rows have turns in their order, each for `slice` seconds; in the first `cs * slice` seconds of a turn, jobs make no
progress (overhead). A single row has neither turns nor overhead. A job may run for thousands of turns between two
events, so turns are counted in whole cycles and not one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from math import ceil
from typing import Final, NamedTuple

from sim.machine.moment import MOMENT
from sim.support.errors import DecisionError

_FEW: Final = 4
"""Number of results of `_works` (progress of each row) that are remembered, because the same ones are requested again
and again.
"""


class Turn(NamedTuple):
    """Turn of one row of the matrix from `begin` until `end`; its jobs make no progress until `overhead_until`."""

    row: int
    begin: float
    end: float
    overhead_until: float


class Turns:
    """Clock of the rows of the matrix: which row is active, and since when.

    It has the rows as of the last call of `settle`, and can only compute times after the begin of the current turn.

    >>> turns = Turns(slice=200, cs=0.05)
    >>> turns.settle(1000, [1, 2])
    >>> turns.row, turns.end, turns.gained((2,), 1000, 2000)
    (1, 1200.0, 380.0)
    >>> turns.finish((2,), 195, 1000)
    1615.0
    """

    def __init__(self, slice: float, cs: float = 0) -> None:
        self.slice = float(slice)
        self.overhead = round(cs * slice, 9)
        """Seconds at the beginning of each turn in which jobs make no progress, rounded to 1e-9; it does not apply to a
        single row
        """
        self.rows: tuple[int, ...] = ()
        self.row: int | None = None
        """Id of the active row; None if there is no row"""
        self.begin: float = 0.0
        """Time at which the turn of the active row began."""
        self._known_works: dict[tuple[float, float], list[float]] = {}
        """For each (time, overhead in seconds): the progress of each row by then (result of `_works`), remembered until
        the clock changes
        """

    def copy(self) -> Turns:
        twin = Turns(self.slice)
        twin.overhead = self.overhead
        twin.rows, twin.row, twin.begin = self.rows, self.row, self.begin
        return twin

    def is_like(self, other: Turns) -> bool:
        mine, its = (self.begin, self.row, self.rows), (other.begin, other.row, other.rows)
        return mine == its and (self.slice, self.overhead) == (other.slice, other.overhead)

    @property
    def alternate(self) -> bool:
        return len(self.rows) > 1

    @property
    def end(self) -> float | None:
        return self.begin + self.slice if self.alternate else None

    # Going on

    def advance(self, to: float, occupied: Callable[[], Collection[int]] | None = None) -> None:
        """Move the clock to the time `to`. If a turn ends exactly then and `occupied` is given, the next of the rows
        that `occupied` returns becomes active.
        """
        if self.row is None or len(self.rows) < 2:
            return
        ended = self._ended_by(to)
        if not ended:
            return
        self._known_works.clear()
        at_the_end = self.begin + ended * self.slice >= to - MOMENT
        self.begin += ended * self.slice
        place = self.rows.index(self.row)
        if not at_the_end or occupied is None:
            self.row = self.rows[(place + ended) % len(self.rows)]
            return
        place += ended - 1
        left = occupied()
        for step in range(1, len(self.rows) + 1):
            self.row = self.rows[(place + step) % len(self.rows)]
            if self.row in left:
                return

    def settle(self, now: float, rows: Sequence[int]) -> None:
        """Replace the rows by those of a rebuilt matrix. The caller must have called `advance` to the time `now`
        before.

        If the active row still exists, its turn continues. If not, the next row in the old order that still exists (or
        else the first row) begins a turn at once. A row that was the only one begins a turn when others are added. Only
        the rows before and after the rebuild count, not changes in between.
        """
        old, on_turn = self.rows, self.row
        self.rows = tuple(rows)
        if old != self.rows:
            self._known_works.clear()
        if on_turn in self.rows:
            if len(old) == 1 and self.alternate:
                self.begin = now
            return
        self.begin = now
        self.row = self.rows[0] if self.rows else None
        if on_turn is not None:
            place = old.index(on_turn)
            for row in old[place + 1 :] + old[:place]:
                if row in self.rows:
                    self.row = row
                    return

    def turn_to(self, row: int, now: float) -> None:
        self.row, self.begin = row, now
        self._known_works.clear()

    # Progress of jobs

    def gained(self, rows: Sequence[int], since: float, until: float) -> float:
        if not self.alternate:
            return until - since if self.row in rows else 0
        gains, made = self.gains(since, until), 0.0
        for row in rows:
            made += gains[row]
        return made

    def gains(self, since: float, until: float) -> dict[int, float]:
        """Return, for each row id, the seconds of progress that its jobs make from `since` until `until`."""
        return self._shares(since, until, self.overhead)

    def on_turn(self, since: float, until: float) -> dict[int, float]:
        """Return, for each row id, the seconds in which the row is active, including overhead."""
        return self._shares(since, until, 0)

    def _shares(self, since: float, until: float, overhead: float) -> dict[int, float]:
        if len(self.rows) < 2:
            return {row: until - since if row == self.row else 0 for row in self.rows}
        works = zip(self.rows, self._works(until, overhead), self._works(since, overhead), strict=True)
        return {row: after - before for row, after, before in works}

    def finish(self, rows: Sequence[int], work: float, now: float) -> float:
        """Return the time at which a job in these rows will have made `work` seconds of progress from `now` on, if the
        rows do not change.

        `work` is the remaining run time plus the time lost to migrations, both in seconds without the overhead of
        turns. An end less than a microsecond before the end of a turn counts as the end of the turn.
        """
        count = len(self.rows)
        if count < 2:
            return now + work
        works, index, a_turn = self._works(now, self.overhead), self.rows.index, self.slice - self.overhead
        if len(rows) == 1:
            place = index(rows[0])
            work += works[place]
            whole = max(_turns_for(work, a_turn) - 1, 0)
            turn = whole * count + (place - index(self.row)) % count
        else:
            places = self._places(rows)
            made = 0.0
            for row in rows:  # one after another, as `sum` rounds differently in later versions of Python
                made += works[index(row)]
            work += made
            whole = max(_turns_for(work, a_turn) - 1, 0)
            cycles, place = divmod(whole, len(places))
            turn = cycles * count + places[place]
        begin = self.begin + turn * self.slice
        rest = work - whole * a_turn
        return max(now, begin + (self.slice if rest > a_turn - MOMENT else self.overhead + rest))

    def first_stand(self, rows: Sequence[int], now: float) -> float:
        """Return the first time from `now` on at which one of these rows is active; a turn's overhead counts as active
        time.

        Call it only after the rebuild of the matrix at `now`. Before the rebuild, `rows` may contain a row that becomes
        active at `now` but that the job leaves in the rebuild.
        """
        if self.row in rows:
            return now
        return self.begin + self._places(rows)[0] * self.slice

    # Drawing

    def window(self, since: float, until: float) -> Iterator[Turn]:
        """Yield the turns between `since` and `until`. The first and last one are cut at these times; parts shorter
        than a microsecond are left out.
        """
        if self.row is None or until <= since:
            return
        if not self.alternate:
            yield Turn(self.row, since, until, since)
            return
        number, place, count = self._ended_by(since), self.rows.index(self.row), len(self.rows)
        begin = self.begin + number * self.slice
        while begin < until:
            first, end = max(begin, since), min(self.begin + (number + 1) * self.slice, until)
            if end - first > MOMENT:
                yield Turn(self.rows[(place + number) % count], first, end, min(max(first, begin + self.overhead), end))
            number += 1
            begin = self.begin + number * self.slice

    # Counting turns; the one that began at `begin` is number 0

    def _ended_by(self, time: float) -> int:
        """Return how many turns have ended by `time`, counted from the current turn on."""
        return max(int((time - self.begin + MOMENT) // self.slice), 0)

    def _places(self, rows: Sequence[int]) -> list[int]:
        """Return, for each of the rows, after how many turns it is active (0: it is now), in ascending order."""
        if self.row is None or not rows:
            raise DecisionError("a job that stands in no row never comes on turn")
        index, count = self.rows.index, len(self.rows)
        now = index(self.row)
        return sorted([(index(row) - now) % count for row in rows])

    def _works(self, time: float, overhead: float) -> list[float]:
        """Return, for each row, its seconds of progress from the begin of the current turn until `time`, if each turn
        begins with `overhead` seconds without progress.
        """
        known = self._known_works.get((time, overhead))
        if known is None:
            if len(self._known_works) > _FEW:
                self._known_works.clear()
            known = self._known_works[time, overhead] = self._counted_works(time - self.begin, overhead)
        return known

    def _counted_works(self, gone: float, overhead: float) -> list[float]:
        count, a_turn, ended = len(self.rows), self.slice - overhead, _whole_turns(gone, self.slice)
        cycles, more = divmod(ended, count)
        first, made = self.rows.index(self.row), [0.0] * count
        for index in range(count):
            made[(first + index) % count] = (cycles + (index < more)) * a_turn
        rest = gone - ended * self.slice - overhead
        if rest > 0:
            made[(first + more) % count] += rest
        return made


def _turns_for(work: float, a_turn: float) -> int:
    """Return how many turns, each with `a_turn` seconds of progress, are needed for `work` seconds of progress."""
    if work % 1 or a_turn % 1:
        return ceil((work - MOMENT) / a_turn)
    whole = _whole_turns(work, a_turn)
    return whole + 1 if work > whole * a_turn else whole


def _whole_turns(time: float, slice: float) -> int:
    return max(int(time // slice), 0)
