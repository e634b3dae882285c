from random import Random

import numpy as np
import pytest

from sim.history import processor_sets
from sim.history.processor_sets import ProcessorSets, SetTable


def drawn(bits: int) -> list[int]:
    """Return random sets of processors as bit masks, for a machine of `bits` processors: single ones, ranges and
    scattered ones."""
    random, sets = Random(bits), []
    for _ in range(20):
        low, high = sorted((random.randrange(bits), random.randrange(bits)))
        sets += [1 << low, (2 << high) - (1 << low), random.getrandbits(bits) | 1 << low]
    return sets


@pytest.mark.parametrize("bits", [1, 2, 63, 64, 65, 430, 5000])
def test_what_comes_back_is_what_went_in(bits: int) -> None:
    sets, kept = drawn(bits), ProcessorSets()
    for number, processors in enumerate(sets):
        if number % 2:
            kept.append(processors)
        else:
            kept.place.append(kept.write(processors))  # as a column loop writes them
    cut = kept.until(len(sets) // 2)
    for _ in range(2):  # narrow sets are kept as integers after the first read
        assert [kept[i] for i in range(len(kept))] == sets
    cut.append(1)
    assert [cut[i] for i in range(len(cut))] == [*sets[: len(sets) // 2], 1]


def test_a_wide_set_takes_little_space() -> None:
    kept = ProcessorSets()
    kept.append((1 << 90_000) - (1 << 10_000))
    assert kept.size < 100


@pytest.mark.parametrize("bits", [1, 64, 430, 5000])
def test_a_table_has_the_sets_of_the_stretches_that_are_asked_for(bits: int) -> None:
    sets, kept = drawn(bits), ProcessorSets()
    for number, processors in enumerate(sets):
        if number % 3:
            kept.append(processors)
        else:
            kept.place.append(kept.write(processors))
    order = [7, -1, 0, len(sets) - 1, 7, -1]
    table = kept.table(np.array(order))
    wanted = [0 if number < 0 else sets[number] for number in order]
    assert list(table) == wanted
    assert table[-2:] == tuple(wanted[-2:])
    assert list(table.take(np.array([3, 1]))) == [wanted[3], wanted[1]]
    assert list(kept.table(np.zeros(0, np.int64))) == []
    assert list(ProcessorSets().table(np.array([-1]))) == [0]


def test_a_table_of_many_wide_sets_is_made_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processor_sets, "_AT_ONCE", 1000)
    sets = drawn(3000)
    assert list(SetTable.of(sets)) == sets
