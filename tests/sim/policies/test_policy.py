"""A policy's description and its written form.

Also tests sim.policies, sim.policies.backfill, sim.policies.gang, sim.policies.multiqueue, sim.policies.preempt,
sim.policies.view.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from sim.policies.calls import Pass

from sim.policies import POLICIES, Policy, parse_policy, written_policy
from sim.policies.policy import default_order


@pytest.mark.parametrize(
    ("spec", "shortest"),
    [
        ("easy:order=fcfs,depth=1", "easy"),
        ("easy:depth=4,order=sjf", "easy:order=sjf,depth=4"),
        ("easy:order=random,seed=0", "easy:order=random"),
        ("shadow:order=sjf,shadows=1", "shadow"),
        ("shadow:order=fcfs", "shadow:order=fcfs"),
        ("relaxed:omega=inf,r=2,order=ward", "relaxed:order=ward,r=2,omega=inf"),
        ("bf", "conservative:compress=queue"),
    ],
)
def test_a_policy_is_written_as_shortly_as_possible(spec: str, shortest: str) -> None:
    assert written_policy(parse_policy(spec)) == shortest
    assert parse_policy(shortest) == parse_policy(spec)


def test_a_policy_without_an_order_serves_by_arrival() -> None:
    assert default_order(POLICIES["recorded"]) is None
    assert parse_policy("recorded").queue_order().name == "fcfs"


def test_a_policy_that_decides_nothing_says_so() -> None:
    with pytest.raises(NotImplementedError, match="decides nothing"):
        Policy().decide(None)


def test_the_page_tells_all_of_the_view_and_nothing_else() -> None:
    page = (Path(__file__).parents[3] / "sim" / "policies" / "README.md").read_text(encoding="utf-8")
    section = page.partition("## View\n")[2].partition("\n## ")[0]
    cells = re.findall(r"^\| ([^|]+) \|", section, flags=re.MULTILINE)[1:]
    told = [word.strip() for cell in cells for word in re.sub(r"\(.*?\)", "", cell).split(", ")]
    views = {View, *View.__subclasses__()} - {Pass}
    assert sorted(told) == sorted({name for view in views for name in dir(view) if not name.startswith("_")})
    calls = re.findall(r"^\| (\w+)\(.*?\) \|", page.partition("| call |")[2].partition("\n\n")[0], flags=re.MULTILINE)
    assert sorted(calls) == sorted(set(dir(Pass)) - set(dir(View)) - {"__parameters__"})
