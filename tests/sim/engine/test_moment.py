"""The moment shows a policy no run time, and changes only by calls.

Also tests sim.engine.asking, sim.engine.state.
"""

from __future__ import annotations

from collections import deque
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from sim.decisions.decisions import Gone, Interrupt
from sim.decisions.reasons import Fits
from sim.engine.engine import Engine
from sim.history.history import Unwritten
from sim.policies.backfill.easy import Easy
from sim.policies.policy import Policy
from sim.support.errors import DecisionError, PolicyError
from sim.workload.outages import Outage
from tests.sim.conftest import Lab

TRUE = 12_345.678
"""Run time of a job whose estimate is longer; nothing that a policy is given may lead to this number"""


@dataclass(frozen=True)
class Spy(Policy):
    name = "spy"
    seen: tuple[Any, ...] = ()

    def decide(self, now: Any) -> None:
        for job in now.queue:
            if now.fits(job):
                now.start(job, Fits(now.free))
            self.look(now)

    def look(self, now: Any) -> None:
        """Walk through all that can be reached from the moment, and fail if a true run time or end is there."""
        found: set[int] = set()
        left = deque([now])
        while left:
            each = left.popleft()
            if id(each) in found or isinstance(each, type | Policy):
                continue
            found.add(id(each))
            assert not (isinstance(each, float) and abs(each % 100_000 - TRUE) < 1e-6), each
            if isinstance(each, dict):
                left += [*each.keys(), *each.values()]
            elif isinstance(each, list | tuple | set | frozenset):
                left += each
            elif isinstance(each, np.ndarray):
                left += each.tolist()
            elif type(each).__module__.startswith("sim."):
                names = {name for kind in type(each).__mro__ for name in getattr(kind, "__slots__", ())}
                left += [getattr(each, name) for name in {*names, *vars_of(each)} if hasattr(each, name)]


def vars_of(value: object) -> dict[str, Any]:
    return getattr(value, "__dict__", {})


def test_moment_leads_to_no_true_run_time_or_end(lab: Lab) -> None:
    workload = lab.workload(4, "1 0 2 500 20000", f"2 100000 4 {TRUE} 20000", f"3 100001 4 {TRUE} 30000")
    engine = Engine(workload, Spy())
    for _ in range(3):
        engine.step()


@pytest.mark.parametrize("name", ["free", "time", "queue", "anything"])
def test_moment_refuses_what_a_policy_sets(lab: Lab, name: str) -> None:
    engine = Engine(lab.workload(4, "1 0 2 10 10"), "easy")
    with pytest.raises(DecisionError, match=f"a policy cannot set {name} of the moment"):
        setattr(engine.present, name, 5)


@dataclass(frozen=True)
class EvenFirst(Policy):
    name = "even-first"

    def decide(self, now: Any) -> None:
        with now.only([job for job in now.queue if not job.rank % 2]):
            Easy().decide(now)


def test_only_shows_another_policy_some_jobs(lab: Lab) -> None:
    engine = Engine(lab.workload(4, "1 0 2 10 10", "2 0 2 10 10", "3 0 2 10 10"), EvenFirst())
    engine.step()
    assert [*engine.present.running] == [0, 2]


def test_step_within_shows_the_first_decisions_of_a_step(lab: Lab) -> None:
    workload = lab.workload(4, "1 0 3 100 100", "2 1 4 50 50", "3 1 1 10 10")
    engine = Engine(workload, "easy")
    engine.step()
    whole = engine.at(engine.checkpoint(), Unwritten())
    whole.step()
    for most in range(3):
        part = engine.at(engine.checkpoint(), Unwritten())
        part.step_within(most)
        assert part.present._decisions == whole.present._decisions[:most]


def test_step_within_shows_a_failure_as_a_whole(lab: Lab) -> None:
    workload = lab.workload(4, "1 0 2 100 100", "2 0 2 100 100").with_outages([Outage(30, 60, 0b1111)])
    engine = Engine(workload, "easy")
    engine.step()
    engine.step_within(1)
    assert [type(decision) for decision in engine.present._decisions] == [Gone, Interrupt, Interrupt]


@dataclass(frozen=True)
class Swallows(Policy):
    name = "swallows"

    def decide(self, now: Any) -> None:
        for job in now.queue:
            with suppress(BaseException):
                now.start(job, Fits(now.free))


def test_policy_that_catches_the_end_of_its_pass_is_an_error(lab: Lab) -> None:
    engine = Engine(lab.workload(4, "1 0 1 10 10", "2 0 1 10 10"), Swallows())
    with pytest.raises(PolicyError, match="caught the end of its pass"):
        engine.step_within(1)
