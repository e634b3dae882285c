"""Also tests sim.policies, sim.policies.backfill, sim.policies.gang, sim.policies.multiqueue, sim.policies.preempt."""

import re
from pathlib import Path

import pytest

from sim.engine.acting import Acting
from sim.engine.asking import Asking
from sim.engine.moment import Moment
from sim.engine.state import State
from sim.policies import POLICIES, Policy, parse_policy, written_policy
from sim.policies.policy import default_order


@pytest.mark.parametrize(("spec", "shortest"), [
    ("easy:order=fcfs,depth=1", "easy"), ("easy:depth=4,order=sjf", "easy:order=sjf,depth=4"),
    ("easy:order=random,seed=0", "easy:order=random"), ("shadow:order=sjf,shadows=1", "shadow"),
    ("shadow:order=fcfs", "shadow:order=fcfs"),
    ("relaxed:omega=inf,r=2,order=ward", "relaxed:order=ward,r=2,omega=inf"), ("bf", "conservative:compress=queue"),
])  # fmt: skip
def test_a_policy_is_written_as_shortly_as_possible(spec: str, shortest: str) -> None:
    assert written_policy(parse_policy(spec)) == shortest
    assert parse_policy(shortest) == parse_policy(spec)


def test_a_policy_without_an_order_serves_by_arrival() -> None:
    assert default_order(POLICIES["recorded"]) is None
    assert parse_policy("recorded").queue_order().name == "fcfs"


def test_a_policy_that_decides_nothing_says_so() -> None:
    with pytest.raises(NotImplementedError, match="decides nothing"):
        Policy().decide(None)


def public(*classes: type) -> set[str]:
    return {name for each in classes for name in vars(each) if not name.startswith("_")}


def test_page_lists_what_policies_may_ask_and_do() -> None:
    page = (Path(__file__).parents[3] / "sim" / "policies" / "README.md").read_text(encoding="utf-8")

    def told(section: str) -> list[str]:
        text = page.partition(f"\n## {section}\n")[2].partition("\n## ")[0]
        cells = re.findall(r"^\| ([^|]+) \|", text, flags=re.MULTILINE)[1:]
        return [word.strip() for cell in cells for word in re.sub(r"\(.*?\)", "", cell).split(", ")]

    assert sorted(told("Calls")) == sorted(public(Acting))
    questions = told("Questions")
    assert len(questions) == len(set(questions))
    assert public(Asking) - {"only"} <= set(questions) <= public(State, Asking, Moment)
