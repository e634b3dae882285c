"""Promises of single policies, and pairs of policies that must agree on any workload.

Also tests sim.engine.queue.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import reduce

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sim.decisions.decisions import Reserve
from sim.engine.check import Checker
from sim.engine.engine import Engine
from sim.machine.moment import MOMENT
from sim.policies import parse_policy
from sim.workload.model import Workload
from tests.examples import examples
from tests.oracle.preempt import Stay
from tests.oracle.write import SPECS, starts_of, stays_of, turns_of
from tests.sim.conftest import Lab

ANY = st.data()


def run(workload: Workload, spec: str) -> Engine:
    engine = Engine(workload, parse_policy(spec), watchers=[Checker])
    engine.run()
    return engine


def starts(workload: Workload, spec: str) -> list[float]:
    result: list[float] = run(workload, spec).schedule().start.tolist()
    return result


def with_order(spec: str, order: str) -> str:
    return f"{spec}{',' if ':' in spec else ':'}{order}"


@pytest.mark.parametrize("spec", SPECS)
@given(data=ANY)
@examples(15)
def test_a_second_reading_of_spec_gives_the_same_starts(lab: Lab, spec: str, data: st.DataObject) -> None:
    workload = data.draw(lab.workloads(whole_seconds=True))
    assert starts(workload, spec) == starts_of(workload, spec)


PEERS = (
    *(f"easy:tail={tail}" for tail in ("sjf", "ljf", "saf", "narrow", "wide", "latest")),
    *("greedy", "greedy:by=processors", "greedy:by=area,order=sjf", "lookahead", "lookahead:window=3,order=wide"),
    *("easy++", "easy++:correct=estimate"),
)


@pytest.mark.parametrize("spec", PEERS)
@given(data=ANY)
@examples(15)
def test_a_second_reading_of_what_peers_do_gives_the_same_starts(lab: Lab, spec: str, data: st.DataObject) -> None:
    workload = data.draw(lab.workloads(whole_seconds=True))
    workload = replace(workload, user=np.arange(len(workload)) * 7 % 4 - 1)  # -1: unknown user
    assert starts(workload, spec) == starts_of(workload, spec)


@pytest.mark.parametrize("name", ["gang", "gang-backfill"])
@given(data=ANY)
@examples(40)
def test_a_second_reading_of_spec_gives_the_same_turns(lab: Lab, name: str, data: st.DataObject) -> None:
    workload = data.draw(lab.workloads(whole_seconds=True))
    spec = f"{name}:mpl={data.draw(st.integers(1, 5))},slice={data.draw(st.sampled_from([1, 3, 10, 200]))}"
    schedule = run(workload, spec).schedule()
    assert list(zip(schedule.start.tolist(), schedule.end.tolist(), strict=True)) == turns_of(workload, spec)


@pytest.mark.parametrize("seats", ["seats=apart", "seats=lowest", "restart=any"])
@pytest.mark.parametrize(
    "spec", ["selective:tick=7", "selective:sf=1.2,tick=3", "tunable:limit=0.8,tick=3", "immediate:slice=5"]
)
@given(data=ANY)
@examples(15)
def test_a_second_reading_of_spec_gives_the_same_stays(lab: Lab, spec: str, seats: str, data: st.DataObject) -> None:
    workload = data.draw(lab.workloads(whole_seconds=True))
    history = run(workload, f"{spec},{seats}").history
    stretches = [s for s in history.stretches() if s.end is not None and s.end > s.start]
    found = sorted(Stay(s.rank, s.start, s.end or 0, s.processors) for s in stretches)
    assert found == [stay for stay in stays_of(workload, f"{spec},{seats}") if stay.end > stay.start]


def with_ties(seed: int) -> Workload:
    """Return twelve jobs whose times are a few tenths of a second, so that many sums and ratios of them are equal."""
    lot = np.random.default_rng(seed)
    procs = int(lot.integers(1, 5))
    now, lines = 0, []
    for number in range(1, 13):
        now += int(lot.choice([0, 0, 1, 2, 3, 7]))
        run = int(lot.integers(1, 13))
        estimate = int(np.ceil(run * lot.choice([1, 1, 1, 1.5, 2, 3])))
        lines.append(f"{number} {now / 10} {lot.integers(1, procs + 1)} {run / 10} {estimate / 10}")
    return replace(Lab().workload(procs, *lines), user=np.arange(12) * 7 % 4 - 1)


SEEDS = (0, 2, 15, 24, 29, 43, 57, 83, 121, 131)
"""Seeds of jobs that at least one of the policies schedules in another way if it compares floats exactly"""


def with_seeds(test: Callable[..., None]) -> Callable[..., None]:
    """Run a test of any jobs with ties for those of `SEEDS`, too."""
    return reduce(lambda given, seed: example(seed=seed)(given), SEEDS, test)


@pytest.mark.parametrize("spec", [*SPECS, *PEERS])
@given(seed=st.integers(0, 10**9))
@with_seeds
@examples(8)
def test_equal_sums_of_times_are_equal(spec: str, seed: int) -> None:
    workload = with_ties(seed)
    assert starts(workload, spec) == pytest.approx(starts_of(workload, spec), abs=10 * MOMENT)


@pytest.mark.parametrize("spec", ["gang:mpl=3,slice=1", "gang-backfill:mpl=2,slice=1"])
@given(more=st.integers(0, 10**9))
@examples(20)
def test_equal_sums_of_turns_are_equal(spec: str, more: int) -> None:
    workload = with_ties(more)
    schedule = run(workload, spec).schedule()
    turns = np.column_stack((schedule.start, schedule.end))
    assert turns == pytest.approx(np.array(turns_of(workload, spec, parts=10)), abs=10 * MOMENT)


SUSPENDING = (
    *("selective:tick=1", "selective:sf=1.5,tick=1", "selective:sf=3,tick=2", "selective:sf=1.1,tick=1,restart=any"),
    *("tunable:limit=0.8,tick=1", "tunable:sf=1.5,tick=1", "immediate:slice=1", "immediate:slice=1,restart=any"),
)


@pytest.mark.parametrize("spec", SUSPENDING)
@given(seed=st.integers(0, 10**9))
@with_seeds
@examples(8)
def test_equal_xfactors_are_equal(spec: str, seed: int) -> None:
    workload = with_ties(seed)
    last = {stay.rank: float(stay.end) for stay in stays_of(workload, spec)}
    ends = run(workload, spec).schedule().end.tolist()
    assert ends == pytest.approx([last[rank] for rank in range(12)], abs=10 * MOMENT)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("firstfit", "relaxed:omega=inf"),
        ("fcfs", "relaxed:omega=0"),
        ("relaxed:omega=1", "relaxed:omega=1,relative=runtime"),
        # with reservations for all jobs EASY is only a plan from scratch
        ("replan", "easy:depth=1000"),
        ("conservative", "slack:slack=0"),
        ("conservative:compress=queue", "slack:slack=0,compress=queue"),
    ],
)
@given(data=ANY)
@examples(30)
def test_policies_that_agree_in_every_order(lab: Lab, one: str, other: str, data: st.DataObject) -> None:
    workload, order = data.draw(lab.workloads()), data.draw(lab.orders())
    assert starts(workload, with_order(one, order)) == starts(workload, with_order(other, order))


@given(data=ANY)
@examples(100)
def test_with_exact_estimates_conservative_has_one_schedule(lab: Lab, data: st.DataObject) -> None:
    # ZKP table 9, first rows: no job ends early, so that nothing is ever compressed.
    workload = data.draw(lab.workloads(exact=True))
    one = starts(workload, "conservative")
    for compress in ("queue", "none"):
        assert starts(workload, f"conservative:compress={compress},{data.draw(lab.orders())}") == one
    assert starts(workload, "rlbf") == one


@given(data=ANY)
@examples(30)
def test_replan_with_exact_estimates_keeps_all_promises(lab: Lab, data: st.DataObject) -> None:
    workload = data.draw(lab.workloads(exact=True))
    assert starts(workload, "replan") == starts(workload, "conservative")


@pytest.mark.parametrize("spec", ["easy", "conservative:compress=start", "conservative:compress=none", "bf", "lsbf"])
@given(data=ANY)
@examples(30)
def test_no_reservation_is_ever_missed(lab: Lab, spec: str, data: st.DataObject) -> None:
    engine = run(data.draw(lab.workloads()), spec)
    start = engine.schedule().start
    planned: dict[int, float] = {}
    for _, decision in engine.history.all_decisions():
        if isinstance(decision, Reserve):
            rank = decision.job.rank
            assert start[rank] - MOMENT <= decision.at <= planned.get(rank, np.inf) + MOMENT
            planned[rank] = decision.at
    promised = engine.schedule().promised
    assert (start[~np.isnan(promised)] <= promised[~np.isnan(promised)] + MOMENT).all()


@given(data=ANY)
@examples(30)
def test_everybody_is_promised_a_start_by_conservative(lab: Lab, data: st.DataObject) -> None:
    schedule = run(data.draw(lab.workloads()), "conservative").schedule()
    assert (schedule.start <= schedule.promised + MOMENT).all()


@given(data=ANY)
@examples(30)
def test_under_slack_nobody_starts_after_its_bound(lab: Lab, data: st.DataObject) -> None:
    workload, slack = data.draw(lab.workloads()), data.draw(st.sampled_from([0.25, 1, 3]))
    engine = run(workload, f"slack:slack={slack}")
    start, first = engine.schedule().start, dict[int, float]()
    for _, decision in engine.history.all_decisions():
        if isinstance(decision, Reserve):
            first.setdefault(decision.job.rank, decision.at)
    assert len(first) == len(workload)
    assert all(start[rank] <= at + slack * workload.estimate[rank] for rank, at in first.items())


@given(data=ANY)
@examples(30)
def test_a_recorded_schedule_is_played_back(lab: Lab, data: st.DataObject) -> None:
    workload = data.draw(lab.workloads(whole_seconds=True))
    start = run(workload, with_order("firstfit", data.draw(lab.orders()))).schedule().start
    assert starts(replace(workload, wait=start - workload.submit), "recorded") == start.tolist()
