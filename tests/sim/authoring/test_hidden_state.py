from dataclasses import dataclass
from pathlib import Path

import pytest

from sim import Policy
from sim.authoring.hidden_state import kept_outside, writers
from sim.engine.engine import Engine
from sim.engine.moment import Moment
from sim.policies import parse_policy
from sim.policies.backfill.easy import Easy
from sim.workload.replay import read

pytestmark = pytest.mark.usefixtures("own_program")
HIDDEN = str(Path(__file__).parent / "broken" / "hidden_state.py")


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
    kept = kept_outside(parse_policy(HIDDEN))
    assert "PASSES" in kept
    assert "Broken.name" in kept
    assert not {name for name in kept if name.startswith("__")}
    policy = parse_policy(HIDDEN)
    assert writers(policy, ["PASSES"], lambda: run(policy)) == {"PASSES": "hidden_state.py:19 (PASSES[0] += 1)"}
    before = kept_outside(Counting())["TALLY"]
    found = writers(Counting(), ["TALLY"], lambda: run(Counting()))
    assert kept_outside(Counting())["TALLY"] != before
    assert found["TALLY"].endswith(" (TALLY.passes += 1)")
    policy = parse_policy(HIDDEN)
    assert writers(policy, ["Broken.name"], lambda: run(policy)) == {}
