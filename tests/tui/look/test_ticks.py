"""What axes count in."""

from __future__ import annotations

from itertools import islice, pairwise

import pytest

from tui.look.ticks import STEPS, named, round_numbers


def test_each_step_is_a_little_longer_than_the_one_before() -> None:
    assert all(shorter < longer <= 3 * shorter for shorter, longer in pairwise(STEPS))


@pytest.mark.parametrize("step", [10, 1800, 43200])
def test_the_day_is_said_once_a_day(step: int) -> None:
    said = [name.split()[0] for _, name in named(range(0, 3 * 86400, step)) if name.startswith("d")]
    assert said == ["d0", "d1", "d2"]


def test_round_numbers_go_on_for_ever() -> None:
    assert list(islice(round_numbers(), 8)) == [1, 2, 5, 10, 20, 50, 100, 200]
