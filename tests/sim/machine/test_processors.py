from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.machine.processors import Machine, lowest, ranges, together, written
from sim.support.errors import DecisionError

processors = st.integers(min_value=1, max_value=(1 << 40) - 1)


def members(processors: int) -> list[int]:
    return [i for i in range(processors.bit_length()) if processors >> i & 1]


@given(processors, st.data())
def test_lowest_takes_the_lowest_numbers(free: int, data: st.DataObject) -> None:
    count = data.draw(st.integers(1, free.bit_count()))
    assert members(lowest(free, count)) == members(free)[:count]


@given(processors)
def test_ranges_and_members_are_the_same_set(some: int) -> None:
    runs = list(ranges(some))
    assert [i for first, last in runs for i in range(first, last + 1)] == members(some)
    assert all(second - last > 1 for (_, last), (second, _) in pairwise(runs))


@given(processors, st.data())
def test_together_takes_free_processors_in_as_few_pieces_as_can_be(free: int, data: st.DataObject) -> None:
    count = data.draw(st.integers(1, free.bit_count()))
    taken = together(free, count)
    assert taken.bit_count() == count
    assert not taken & ~free
    lengths = sorted((last - first + 1 for first, last in ranges(free)), reverse=True)
    needed = next(pieces for pieces in range(1, len(lengths) + 1) if sum(lengths[:pieces]) >= count)
    assert len(list(ranges(taken))) == needed


@pytest.mark.parametrize(
    ("free", "count", "taken"),
    [
        ("0-1 3-5 7-9", 2, "0-1"),  # the smallest hole that is large enough
        ("0-1 3-5 7-9", 3, "3-5"),  # of equal holes the lower
        ("0-1 3-5 7-9", 4, "3-5 7"),  # no hole holds it: the largest first
        ("0-1 3-5 7-9", 7, "0 3-5 7-9"),
        ("0-3 6-7", 1, "6"),
    ],
)
def test_together_by_example(free: str, count: int, taken: str) -> None:
    assert written(together(as_set(free), count)) == taken


def as_set(text: str) -> int:
    """Return the set of processors that a text means, as bits: the inverse of `written`."""
    result = 0
    for part in text.split():
        first, _, last = part.partition("-")
        for i in range(int(first), int(last or first) + 1):
            result |= 1 << i
    return result


@pytest.mark.parametrize("text", ["", "0", "0-3 8 10-12", "5-6 63-64"])
def test_a_set_is_written_with_ranges(text: str) -> None:
    assert written(as_set(text)) == text


def test_machine_takes_and_gives_back() -> None:
    machine = Machine(8)
    assert machine.take(0, 3) == as_set("0-2")
    assert machine.take(1, 2) == as_set("3-4")
    assert (machine.free, written(machine.free_set)) == (3, "5-7")
    machine.give_back(0)
    assert (machine.free, written(machine.free_set)) == (6, "0-2 5-7")
    assert machine.take(2, 4) == as_set("0-2 5")
    assert machine.held == {1: as_set("3-4"), 2: as_set("0-2 5")}
    machine = Machine(4, "together")
    machine.take(0, 1)
    assert machine.take(1, 3) == as_set("1-3")
    assert machine.free == machine.free_set == 0
    machine = Machine(4)
    machine.take(0, 3)
    with pytest.raises(DecisionError, match="2 processors wanted, 1 free"):
        machine.take(1, 2)
    assert (machine.free, machine.free_set, set(machine.held)) == (1, 0b1000, {0})
