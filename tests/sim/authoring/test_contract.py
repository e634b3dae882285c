"""Rules for every policy: ten policies from the literature keep them, and the test finds the fault of each of eight
broken ones.

Also tests sim.authoring, sim.authoring.workloads.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import random
from time import sleep

import numpy as np
import pytest

from sim import Policy
from sim.authoring import ContractError, check_policy, examine
from sim.authoring import contract as grown
from sim.authoring.contract import (
    FAILS,
    HIDDEN,
    LEGAL,
    PEEKS,
    RULES,
    SLOW,
    STARVES,
    TWICE,
    broken,
    kept_outside,
    writers,
)
from sim.authoring.shrink import fewest
from sim.authoring.workloads import KINDS, crowd, random_workload
from sim.decisions.decisions import Decision, Keep, Start
from sim.decisions.reasons import Fits
from sim.decisions.reasons_in_rows import EarliestInRow
from sim.engine.engine import Engine
from sim.engine.moment import Moment
from sim.policies import POLICIES, parse_policy
from sim.policies.backfill.easy import Easy
from sim.policies.gang.gang import GangBackfill
from sim.support.captured_output import own_print
from sim.support.errors import SchedscopeError
from sim.workload.model import Workload
from sim.workload.replay import read

pytestmark = pytest.mark.usefixtures("own_program")

HERE = Path(__file__).parent
LITERATURE = sorted((HERE / "literature").glob("*.py"))
BROKEN = {
    "raises": (FAILS, "ZeroDivisionError: division by zero"),
    "does_not_fit": (LEGAL, "are free"),
    "starts_twice": (LEGAL, "it is not waiting"),
    "never_yields": (STARVES, "unfinished, the first"),
    "never_returns": (SLOW, "no decision"),
    "reads_run_times": (PEEKS, "with different future run times"),
    "hidden_state": (
        HIDDEN,
        "PASSES, which no checkpoint copies, is written in hidden_state.py:19 (PASSES[0] += 1); use view.notes; at d0 ",
    ),
    "by_identity": (TWICE, "id() or hash() of objects"),
    "forgets": (STARVES, "unfinished, the first"),
}


@pytest.mark.parametrize("path", LITERATURE, ids=lambda path: path.stem)
def test_ten_policies_of_the_literature_keep_to_it(path: Path) -> None:
    report = check_policy(str(path), count=2 * len(KINDS))
    assert report.growth is not None
    assert report.growth.points[-1][0] == 2000


def test_policies_are_listed_whole() -> None:
    assert len(LITERATURE) == 10
    assert max(len(path.read_text().splitlines()) for path in LITERATURE) <= 60
    assert {path.stem for path in (HERE / "broken").glob("*.py")} == set(BROKEN)
    assert {rule for rule, _ in BROKEN.values()} | {TWICE} <= set(RULES)
    finding = broken(parse_policy(str(HERE / "broken" / "raises.py")), random_workload(2), 1)
    assert finding is None or finding.rule in RULES


@pytest.mark.long
@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_one_is_found_and_named(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = 0.1 if name == "never_returns" else 10.0  # on a busy machine each may take a while
    if name == "never_returns":  # each pass of it is waited for in full
        monkeypatch.setattr("sim.authoring.measured", partial(grown.measured, seconds=seconds))
    report = examine(parse_policy(str(HERE / "broken" / f"{name}.py")), count=30, seconds=seconds)
    assert report.failure is not None
    rule, said = BROKEN[name]
    assert (report.failure.finding.rule, said in report.failure.told) == (rule, True), report.failure.told
    assert report.failure.workload is not None
    assert len(report.failure.workload) <= 8
    assert "\n" not in report.failure.told
    if rule in (FAILS, LEGAL, STARVES, SLOW):
        assert f"{name}.py:" in report.failure.told


@pytest.mark.parametrize("name", ["easy", "selective"])
def test_ours_keep_to_it(name: str) -> None:
    check_policy(name, count=20)


PLANNED = [0]


@dataclass(frozen=True)
class PlansAtRandom(GangBackfill):
    """Policy whose plans depend on how many passes it has made in this process; its starts do not."""

    name = "plans-at-random"

    def schedule(self, now: Moment) -> None:
        PLANNED[0] += 1
        now.forget_reservations()
        for job in now.queue[PLANNED[0] % 7 :]:
            now.reserve_row(job, 1, now.time + 1e6, EarliestInRow(1))
        super().schedule(now)


def test_what_is_planned_in_rows_is_looked_at_too() -> None:
    findings = (broken(PlansAtRandom(), random_workload(seed), 1) for seed in range(40))
    assert next(found for found in findings if found).rule == HIDDEN


@dataclass(frozen=True)
class Drawing(Policy):
    """Policy that draws jobs at random, without a seed, so that runs cannot be repeated."""

    name = "drawing"

    def decide(self, view: Moment) -> Iterator[Decision]:
        for job in sorted(view.queue, key=lambda job: random()):
            if job.procs <= view.free:
                yield Start(job, Fits(view.free))


@dataclass(frozen=True)
class Watched(Policy):
    """Policy that decides differently if reasons are recorded."""

    name = "watched"

    def decide(self, view: Moment) -> Iterator[Decision]:
        for job in reversed(view.queue) if view.curious else view.queue:
            if job.procs <= view.free:
                yield Start(job, Fits(view.free))
            elif view.curious:
                yield Keep(job, Fits(view.free))


@pytest.mark.parametrize("policy", [Drawing(), Watched()])
def test_one_that_is_not_the_same_twice_is_found(policy: Policy) -> None:
    with pytest.raises(ContractError, match=f"{TWICE}: at d0 .*, the first time: .*; the second time: "):
        check_policy(policy)


def test_workloads_shrink_and_grow() -> None:
    found = grown.Growth(((100, 0.001), (200, 0.004), (400, 0.016)))
    assert found.exponent == pytest.approx(2)
    assert found.told.endswith("16.00 ms with 400: it grows like n^2.0")
    assert grown.Growth(((1, 2.5),)).told == "a pass takes 2,500.00 ms with 1 job waiting"
    assert not found.is_too_slow
    assert grown.Growth(((100, 1e-6), (200, 1e-6))).exponent is None
    engine = Engine(crowd(50, 3), "firstfit")
    engine.advance(5)
    assert (engine.moment.counts.running, engine.moment.left) == (1, 53)

    def happens(workload: Workload) -> bool:
        return bool((workload.width == 5).sum() >= 2)

    drawn = map(random_workload, range(200))
    whole = next(workload for workload in drawn if happens(workload) and len(workload) > 10)
    small = fewest(whole, happens)
    assert (small.width.tolist(), small.procs, small.submit.tolist()) == ([5, 5], 5, [0, 0])
    assert small.ids == ("1", "2")


def test_random_workloads_are_reproducible_and_of_every_kind() -> None:
    one, again, other = random_workload(3), random_workload(3), random_workload(3, seed=1)
    assert [*one.jobs] == [*again.jobs] != [*other.jobs]
    many = [random_workload(number) for number in range(len(KINDS) * 4)]
    assert any(np.any(workload.high) for workload in many)
    assert any(np.any(workload.killed) for workload in many)
    assert any(not np.all(np.isnan(workload.reserve)) for workload in many)
    assert any(np.any(workload.submit % 1) for workload in many)
    assert all(np.all(workload.runtime <= workload.estimate) for workload in many)


def test_a_sample_is_tried_as_well() -> None:
    tried: list[int] = []
    report = examine(POLICIES["fcfs"](), count=3, on_try=lambda: tried.append(1))
    assert report.tried == len(tried) > 3 + 5


def test_odd_policies_are_told_so() -> None:
    with pytest.raises(SchedscopeError, match="no such file"):
        check_policy("./nobody.py")
    note = examine(Talking(), count=1).notes[-1]
    assert note.startswith("it printed ")
    assert note.endswith(" lines in these runs, the first: now 0.0")
    assert "it decides exactly as easy everywhere" in examine(Same(), count=20).notes
    assert not any("exactly" in note for note in examine(parse_policy("easy:order=sjf"), count=20).notes)


@dataclass(frozen=True)
class Same(Easy):
    """A subclass of EASY that decides the same."""


@dataclass(frozen=True)
class Talking(Easy):
    """A subclass of EASY that prints output."""

    def decide(self, now: Moment) -> None:
        own_print("now", now.time)
        super().decide(now)


def test_slow_policy_is_told_so_before_any_trial(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pass takes a millisecond for each waiting job, which is over the limit set here, so that no further trials are
    made."""

    @dataclass(frozen=True)
    class Slow(Easy):
        """A subclass of EASY that sleeps for a millisecond for each waiting job."""

        def decide(self, now: Moment) -> None:
            sleep(0.001 * len(now.queue))
            super().decide(now)

    monkeypatch.setattr(grown, "TOO_LONG", 0.05)
    report = examine(Slow())
    assert report.tried == 0
    assert report.failure is not None
    assert report.failure.finding.rule == SLOW
    assert "with 60: it grows" in report.failure.told


def test_run_without_a_step_keeps_all_rules() -> None:
    """The only job of this random workload never fits, so that the run has no step."""
    workload = random_workload(626)
    engine = Engine(workload, "easy")
    engine.run()
    assert engine.step_count == 0
    assert broken(Easy(), workload) is None


STATEFUL = str(Path(__file__).parent / "broken" / "hidden_state.py")


class Tally:
    """Object whose state survives from pass to pass: it counts them."""

    def __init__(self) -> None:
        self.passes = 0


TALLY = Tally()


@dataclass(frozen=True)
class Counting(Easy):
    """A subclass of EASY that counts its passes in an object of its module."""

    def decide(self, now: Moment) -> None:
        TALLY.passes += 1
        super().decide(now)


def run(policy: Policy) -> None:
    Engine(read("z-figure4"), policy, curious=False).run()


def test_kept_values_are_found_with_their_lines() -> None:
    kept = kept_outside(parse_policy(STATEFUL))
    assert "PASSES" in kept
    assert "Broken.name" in kept
    assert not {name for name in kept if name.startswith("__")}
    policy = parse_policy(STATEFUL)
    assert writers(policy, ["PASSES"], lambda: run(policy)) == {"PASSES": "hidden_state.py:19 (PASSES[0] += 1)"}
    before = kept_outside(Counting())["TALLY"]
    found = writers(Counting(), ["TALLY"], lambda: run(Counting()))
    assert kept_outside(Counting())["TALLY"] != before
    assert found["TALLY"].endswith(" (TALLY.passes += 1)")
    policy = parse_policy(STATEFUL)
    assert writers(policy, ["Broken.name"], lambda: run(policy)) == {}
