"""Sets of processors, narrow and wide, are read back equal."""

from __future__ import annotations

from random import Random

import pytest

from sim.history.processor_sets import ProcessorSets


def drawn(bits: int) -> list[int]:
    """Return random sets of processors as bit masks, for a machine of `bits` processors: single ones, ranges and
    scattered ones.
    """
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
