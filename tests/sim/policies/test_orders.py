from dataclasses import dataclass
from math import inf, isclose, log10
from typing import ClassVar

import numpy as np
import pytest

from sim.policies import orders
from sim.policies.orders import ORDERS, Fcfs, Order, Ward, mixed, power, random_number
from sim.policies.parameters import parameters_of
from sim.workload.model import Job

# Submitted at 100 and looked at at 1900: half an hour of waiting, a quarter of an hour of estimate.
JOB = Job(rank=7, id="8", submit=100, procs=16, estimate=900, queue=2)
NOW = 1900


@pytest.mark.parametrize(
    ("order", "key"),
    [
        (orders.Fcfs(), 100),
        (orders.ShortestFirst(), 900),
        (orders.LongestFirst(), -900),
        (orders.SmallestAreaFirst(), 14400),
        (orders.NarrowestFirst(), 16),
        (orders.WidestFirst(), -16),
        (orders.Xfactor(), -3),
        (orders.Delay(weight=0), -1 / 900),
        (orders.Delay(weight=0.5), -(1 / 900 + 900)),
        (orders.Wfp3(), -(8 * 16)),
        (orders.Unicef(), -0.5),
        (orders.F1(), log10(900) * 16 + 870 * 2),
        # 0.5 h of wait / 0.25 h of estimate * half of 32 processors * 10^2
        (Ward(), -100),
        (Ward(alpha=0, beta=0, gamma=0), -100),
        (Ward(delta=0), -1),
        (Ward(alpha=2, beta=-2, gamma=2, r=2), -4),
    ],
)
def test_a_key_is_what_the_formula_says(order: Order, key: float) -> None:
    assert isclose(order.key(JOB, NOW), key, rel_tol=1e-12)


def test_numbers_are_bounded_or_random() -> None:
    assert orders.F1().key(JOB.replaced(submit=0, estimate=0.5), NOW) == 0
    assert orders.Wfp3().key(JOB, 1e120) == -inf
    # The first number of Vigna's splitmix64.c, from state 0.
    state, first = 0, 0xE220A8397B1DCDAF
    assert mixed(state + 0x9E3779B97F4A7C15) == first
    number = random_number(3, 11, 7)
    assert orders.Random(seed=3).at_step(11).key(JOB, NOW) == number
    assert orders.RandomLength(seed=3).at_step(11).key(JOB, NOW) == -(number / 900)
    assert orders.RandomDelay(seed=3, weight=2).at_step(11).key(JOB, NOW) == -(number + 3600)


def test_ward_has_its_corner_cases() -> None:
    background, primary = (Ward(background=True).key(JOB.replaced(queue=queue), NOW) for queue in (-1, 0))
    assert isclose(background * 10, primary)
    job = JOB.replaced(submit=30)
    assert Ward(every=60).key(job, 119) == Ward(every=60).key(job, 60) == Ward().key(job, 60)
    assert Ward(every=60).key(job, 59) == Ward().key(job, 30)
    assert Ward().key(JOB, JOB.submit) == 0
    assert Ward(alpha=0).key(JOB, JOB.submit) == -4 * 0.5 * 100


@pytest.mark.parametrize(("base", "exponent", "value"), [(0, 0, 1), (0, 2, 0), (0, -1, inf), (10, 400, inf), (2, 3, 8)])
def test_powers_have_no_exceptions(base: float, exponent: float, value: float) -> None:
    assert power(base, exponent) == value


def test_random_numbers_are_even_and_independent() -> None:
    drawn = np.array([[random_number(seed, step, r) for r in range(200)] for seed in (0, 1) for step in range(200)])
    assert drawn.min() >= 0
    assert drawn.max() < 1
    counts, _ = np.histogram(drawn, bins=20, range=(0, 1))
    assert abs(counts - drawn.size / 20).max() < 5 * np.sqrt(drawn.size / 20)
    for other in (drawn[1:, :], drawn[:, 1:]):
        first = drawn[: other.shape[0], : other.shape[1]]
        assert abs(np.corrcoef(first.ravel(), other.ravel())[0, 1]) < 0.02


@pytest.mark.parametrize("name", sorted(ORDERS.keys() - {""}))
def test_an_order_that_is_the_same_at_every_pass_says_so(name: str) -> None:
    order = ORDERS[name]()
    assert (order.at_step(1).key(JOB, NOW) != order.at_step(2).key(JOB, NOW + 1000)) == order.by_clock


@pytest.mark.parametrize("name", sorted(ORDERS.keys() - {""}))
def test_an_order_is_documented(name: str) -> None:
    order = ORDERS[name]
    assert order.__doc__
    assert not order.__doc__.startswith(f"{order.__name__}(")
    assert all(parameter.meaning for parameter in parameters_of(order).values())


def test_two_orders_of_one_name_are_refused() -> None:
    with pytest.raises(TypeError, match="two orders are called 'fcfs'"):

        @dataclass(frozen=True)
        class _Again(Order):
            name: ClassVar[str] = "fcfs"

    assert ORDERS["fcfs"] is Fcfs
