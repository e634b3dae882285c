import numpy as np
import pytest

from sim.lab.intervals import Mean, mean, mean_of_batches, smaller, student


@pytest.mark.parametrize(
    ("share", "freedom", "t"),
    [
        (0.975, 1, 12.7062), (0.975, 2, 4.3027), (0.975, 3, 3.1824), (0.975, 4, 2.7764), (0.975, 9, 2.2622),
        (0.975, 29, 2.0452), (0.975, 120, 1.9799), (0.975, 10**6, 1.9600), (0.95, 5, 2.0150), (0.995, 9, 3.2498),
        (0.999, 3, 10.2145), (0.9995, 1, 636.6192), (0.75, 1, 1.0000), (0.5, 7, 0.0),
    ],
)  # fmt: skip
def test_students_t_is_that_of_the_tables(share: float, freedom: int, t: float) -> None:
    assert student(share, freedom) == pytest.approx(t, abs=6e-5)


def test_95_of_100_intervals_hold_the_mean() -> None:
    rng = np.random.default_rng(1)
    found = [mean(rng.normal(10, 3, 5).tolist()) for _ in range(2000)]
    held = sum(1 for of in found if of.half is not None and abs(of.value - 10) <= of.half)
    assert 0.93 <= held / 2000 <= 0.97


def test_odd_samples_have_no_interval() -> None:
    assert mean([3.0]) == Mean(3.0, None)
    assert mean_of_batches([3.0], [[]]) == Mean(3.0, None)
    batches = [1.0, 2.0, 3.0, 4.0]
    assert mean_of_batches([2.6], [batches]) == Mean(2.6, mean(batches).half)
    two = mean_of_batches([2.6, 2.4], [batches, batches]).half
    assert two is not None
    assert two == pytest.approx((mean(batches).half or 0) / 2**0.5 * student(0.975, 6) / student(0.975, 3))
    assert not smaller({0: 1.0, 1: 1.0}, {0: 2.0, 1: 2.0})
    assert not smaller({0: 1.0, 1: 2.0}, {2: 2.0, 3: 4.0})


def test_pairs_show_more_than_means() -> None:
    loads = [10.0, 200.0, 3000.0, 40.0, 500.0]
    first = dict(enumerate(loads))
    second = {unit: value + 5 + unit / 10 for unit, value in first.items()}
    assert smaller(first, second)
    assert not smaller(second, first)
    by_chance = {unit: value + (-1) ** unit * 5 for unit, value in first.items()}
    assert not smaller(first, by_chance)
    first = {0: 0.0, 1: 0.0, 2: 0.0}
    second = {0: 1.0, 1: 2.0, 2: 3.0}  # t = 3.46, under t(0.975, 2)
    assert not smaller(first, second)
    third = {0: 2.0, 1: 3.0, 2: 3.0}  # t = 8
    assert smaller(first, third)
    assert not smaller(first, third, comparisons=10)
