"""Also tests sim.engine.sharing, sim.machine.moment."""

from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.machine.turns import Turn, Turns
from sim.support.errors import DecisionError


def taking_turns(*rows: int, slice: float = 100, cs: float = 0, now: float = 0) -> Turns:
    turns = Turns(slice, cs)
    turns.settle(now, rows)
    return turns


# Stories
def test_single_row_and_exact_times() -> None:
    turns = taking_turns(1, cs=0.1)
    assert (turns.row, turns.end) == (1, None)
    assert turns.gained((1,), 0, 1000) == 1000
    assert turns.finish((1,), 250, 70) == 320
    assert list(turns.window(50, 500)) == [Turn(1, 50, 500, 50)]
    turns = taking_turns(1, 2, 3, slice=50, cs=0.05, now=948)
    assert (turns.first_stand((1, 3), 960), turns.first_stand((2,), 960)) == (960, 998)
    turns = Turns(200.0, 0.05)
    turns.settle(7, [1, 2, 3])
    assert turns.finish((3,), 10**7, 7).is_integer()
    assert turns.gained((1, 3), 7, 10**9).is_integer()
    # 0.07 * 0.3 is not exact in binary: three full turns must not spill into a fourth.
    turns = taking_turns(1, 2, slice=0.3, cs=0.07)
    work = turns.gained((2,), 0, 1.8)
    assert turns.finish((2,), work, 0) == pytest.approx(1.8, abs=1e-12)


def test_turns_go_on_when_rows_change() -> None:
    turns = taking_turns(1, slice=100)
    turns.advance(30)
    turns.settle(30, [1, 2])
    assert (turns.row, turns.begin, turns.end) == (1, 30, 130)
    turns = taking_turns(1, 2)
    turns.advance(130)
    turns.settle(130, [1, 2, 3])
    assert (turns.row, turns.begin, turns.end) == (2, 100, 200)
    turns = taking_turns(1, 2, slice=100, cs=0.1)
    assert list(turns.window(105, 250)) == [Turn(2, 105, 200, 110), Turn(1, 200, 250, 210)]
    assert list(turns.window(150, 150)) == []
    assert list(turns.window(0, 5)) == [Turn(1, 0, 5, 5)]
    with pytest.raises(DecisionError, match="stands in no row"):
        taking_turns(1, 2).finish((), 5, 0)


def test_next_row_begins_when_the_active_row_vanishes() -> None:
    turns = taking_turns(1, 2, 3, 4)
    turns.advance(130)
    turns.settle(130, [1, 4, 5])
    assert (turns.row, turns.begin) == (4, 130)
    turns.settle(150, [1, 5])
    assert (turns.row, turns.begin) == (5, 150)
    turns.settle(160, [1])
    assert (turns.row, turns.end) == (1, None)
    turns.settle(170, [6, 7])
    assert (turns.row, turns.begin) == (6, 170)
    turns.settle(180, [])
    assert turns.row is None


def test_empty_rows_get_no_turn() -> None:
    turns = taking_turns(1, 2, 3)
    turns.advance(100, occupied=lambda: [1, 3])
    assert (turns.row, turns.begin) == (3, 100)
    turns = taking_turns(1, 2, 3)
    turns.advance(300, occupied=lambda: [2])
    assert (turns.row, turns.begin) == (2, 300)
    turns = taking_turns(1, 2, 3)
    turns.advance(250, occupied=lambda: [1])
    assert (turns.row, turns.begin) == (3, 200)


def test_who_has_jobs_left_is_asked_only_at_the_end_of_a_turn() -> None:
    asked: list[float] = []
    turns = taking_turns(1, 2)

    def occupied() -> list[int]:
        asked.append(now)
        return [1, 2]

    for now in (50, 100, 130, 250, 300):
        turns.advance(now, occupied)
    assert asked == [100, 300]


def test_a_copy_goes_its_own_way() -> None:
    turns = taking_turns(1, 2)
    twin = turns.copy()
    twin.advance(150)
    assert (turns.row, twin.row) == (1, 2)


# Against stepping through every turn
class Stepped:
    """The same clock of turns, computed by going through one turn after another."""

    def __init__(self, count: int, slice: float, overhead: float, begin: float) -> None:
        self.turns = [(k % count, begin + k * slice, begin + (k + 1) * slice) for k in range(400)]
        self.overhead = overhead

    def gained(self, rows: set[int], since: float, until: float) -> float:
        total = 0.0
        for row, begin, end in self.turns:
            if row in rows:
                total += max(0, min(end, until) - max(begin + self.overhead, since))
        return total

    def finish(self, rows: set[int], work: float, now: float) -> float:
        for row, begin, end in self.turns:
            first = max(begin + self.overhead, now)
            if row in rows and end > first:
                if work <= end - first + 1e-6:
                    return min(first + work, end)
                work -= end - first
        return inf


clocks = st.tuples(
    st.integers(2, 5),
    st.sampled_from([1, 7, 50, 33.3, 200]),
    st.sampled_from([0, 0.05, 0.1, 1 / 3]),
    st.integers(0, 1000),
)
some_rows = st.sets(st.integers(0, 4), min_size=1)
share = st.floats(0, 1)


@given(clocks, some_rows, share, share)
def test_gained_and_finish_are_as_stepped(
    clock: tuple[int, float, float, int], rows: set[int], when: float, how_much: float
) -> None:
    count, slice, cs, begin = clock
    rows = {row % count for row in rows}
    turns = taking_turns(*range(count), slice=slice, cs=cs, now=begin)
    stepped = Stepped(count, slice, round(cs * slice, 9), begin)
    now = begin + when * 20 * slice
    turns.advance(now)
    until = now + how_much * 300 * slice
    assert turns.gained(sorted(rows), now, until) == pytest.approx(stepped.gained(rows, now, until), abs=1e-6)
    work = max(how_much * 30 * slice, 0.001)
    finish = turns.finish(sorted(rows), work, now)
    assert finish == pytest.approx(stepped.finish(rows, work, now), abs=1e-5)
    assert turns.gained(sorted(rows), now, finish) == pytest.approx(work, abs=1e-5)


@given(clocks, some_rows, st.integers(1, 2000), st.integers(0, 500))
def test_whole_seconds_as_stepped(clock: tuple[int, float, float, int], rows: set[int], work: int, later: int) -> None:
    count, _, _, begin = clock
    rows = {row % count for row in rows}
    turns = taking_turns(*range(count), slice=60, cs=0.05, now=begin)
    turns.advance(begin + later)
    now = begin + later
    stepped = Stepped(count, 60, 3, begin)
    assert turns.finish(sorted(rows), work, now) == stepped.finish(rows, work, now)


@given(clocks, st.lists(share, max_size=6))
def test_going_on_in_many_steps_or_in_one_is_the_same(clock: tuple[int, float, float, int], parts: list[float]) -> None:
    count, _, cs, begin = clock
    turns = taking_turns(*range(count), slice=50, cs=cs, now=begin)
    once = turns.copy()
    now: float = begin
    for part in parts:
        now += round(part * 700)
        turns.advance(now)
    once.advance(now)
    assert (turns.row, turns.begin) == (once.row, once.begin)
    assert turns.begin <= now < turns.begin + 50


@given(clocks, share, share)
def test_turns_cover_their_window_gapless(clock: tuple[int, float, float, int], when: float, how_long: float) -> None:
    count, slice, cs, begin = clock
    turns = taking_turns(*range(count), slice=slice, cs=cs, now=begin)
    since = begin + when * 10 * slice
    until = since + how_long * 30 * slice + 0.01
    seen = list(turns.window(since, until))
    assert [turn.begin for turn in seen] == pytest.approx([since, *(turn.end for turn in seen[:-1])], abs=1e-6)
    assert seen[-1].end == pytest.approx(until, abs=1e-6)
    for row in range(count):
        progress = sum(turn.end - turn.overhead_until for turn in seen if turn.row == row)
        assert progress == pytest.approx(turns.gained((row,), since, until), abs=1e-5)
