"""The ladder: what suspending enough of the running jobs takes, and whose toll it is."""

from __future__ import annotations

from math import inf

from sim.policies.preempt.keepers import NOBODY
from sim.policies.preempt.ladder import Ladder, Rung
from sim.workload.model import Job


def rung(rank: int, xfactor: float, processors: int) -> Rung:
    return xfactor, -rank, Job(rank, str(rank + 1), 0, processors.bit_count(), 100), processors


# Ten processors, two of them free. The widest job has the smallest xfactor.
LADDER = Ladder([rung(0, 1, 0b0000_001111), rung(1, 3, 0b0000_110000), rung(2, 2, 0b0011_000000)], free=2)


def test_what_is_free_costs_nothing() -> None:
    assert LADDER.price(2) == 0


def test_the_price_is_the_xfactor_of_the_last_job_that_is_needed() -> None:
    assert LADDER.price(6) == 1
    assert LADDER.price(8) == 2
    assert LADDER.price(10) == 3


def test_who_is_more_than_twice_as_wide_does_not_count() -> None:
    """Job 1 has enough processors, but only a job of at least two processors may suspend it, as it has four."""
    ladder = Ladder([rung(0, 1, 0b01111), rung(1, 5, 0b10000)], free=0)
    assert ladder.price(1) == 5
    assert ladder.price(2) == 1


def test_too_few_have_no_price() -> None:
    assert LADDER.price(11) == inf


def test_of_equal_xfactors_the_latest_rank_comes_first() -> None:
    ladder = Ladder([rung(0, 1, 0b01), rung(1, 1, 0b10)], free=0)
    assert [job.rank for _, _, job, _ in ladder.rungs] == [1, 0]


def test_the_toll_is_the_largest_xfactor_on_the_processors_and_its_job_keeps_it() -> None:
    assert LADDER.toll(4, 0b0000_000011) == (1, 0)
    assert LADDER.toll(4, 0b0001_011000) == (3, 1)


def test_processors_that_are_free_have_no_toll() -> None:
    assert LADDER.toll(2, 0b1100_000000) == (0, NOBODY)


def test_one_that_is_more_than_twice_as_wide_bars_the_way() -> None:
    assert LADDER.toll(1, 0b0000_000001) == (inf, 0)
    assert LADDER.toll(2, 0b0000_000011) == (1, 0)


def test_one_that_may_not_be_suspended_bars_the_way() -> None:
    ladder = Ladder([rung(0, inf, 0b001), rung(1, 1, 0b110)], free=0)
    assert ladder.toll(2, 0b011) == (inf, 0)
    assert ladder.toll(2, 0b110) == (1, 1)
    assert ladder.price(2) == 1
    assert ladder.price(3) == inf
