from dataclasses import dataclass
from math import inf

import pytest

from sim.engine.moment import Moment
from sim.policies.backfill.easy import Easy
from sim.policies.columns import Column
from sim.stops.grammar import parse_stop
from sim.stops.matches import MOST, Matches
from sim.stops.search import search_forward
from sim.timeline.timeline import Timeline
from sim.workload.replay import read
from tests.sim.conftest import Lab


@pytest.fixture
def timeline(lab: Lab) -> Timeline:
    timeline = Timeline(lab.workload(4, "1 0 2 50 60", "2 5 4 100 100", "3 10 2 40 40", "4 12 1 500 500"), "easy")
    timeline.compute_all()
    return timeline


def found(timeline: Timeline, text: str) -> list[tuple[float, str, str]]:
    """Return time, jobs and values of all matches, read one step at a time."""
    matches = Matches(timeline.branch, parse_stop(text))
    while not matches.is_read:
        matches.read(0)
    assert (matches.share, matches.more) == (1, 0)
    return [(m.time, " ".join(job.id for job in m.jobs), ", ".join(m.values)) for m in matches.found]


@pytest.mark.parametrize(("text", "expected"), [
    ("backfill", [(10, "3", "ends at d0 00:00:50, before J2's start at d0 00:01:00")]),
    ("arrival and queue > 1", [(12, "4", "queue 2")]), ("job 4 ends", [(650, "4", "")]),
    ("queue changes", [(5, "", "0 → 1"), (12, "", "1 → 2"), (50, "", "2 → 1"), (150, "", "1 → 0")]),
    ("wait > 30s", [(50, "", "wait 38s")]), ("head changes", [(5, "", "2"), (50, "", "2 → 4")]),
    ("variable extra changes", [(50, "", "0 → 3")]), ("variable shadow > 40", [(5, "", "shadow 60")]),
    ("queue > 99", []), ("not queue > 0", [(150, "", "")]),
])  # fmt: skip
def test_every_match_has_its_jobs_and_values(
    timeline: Timeline, text: str, expected: list[tuple[float, str, str]]
) -> None:
    assert found(timeline, text) == expected


@dataclass(frozen=True)
class Endless(Easy):
    """EASY that writes an infinite number for each waiting job, from the second step on a finite one."""

    name = "endless"
    columns = (Column("urgency"),)

    def decide(self, now: Moment) -> None:
        now.notes["urgency"] = {job.rank: inf if now.time < 12 else 2500.0 for job in now.queue}
        super().decide(now)


def test_infinite_numbers_of_a_policy_are_shown(lab: Lab) -> None:
    timeline = Timeline(lab.workload(4, "1 0 4 50 60", "2 5 4 100 100", "3 12 1 5 5"), Endless())
    timeline.compute_all()
    assert found(timeline, "number urgency > 99") == [(5, "2", "urgency inf")]
    assert found(timeline, "job 2 number urgency changes") == [(12, "2", "inf → 2,500")]


@pytest.mark.parametrize("text", ["backfill", "queue changes", "head slips or completion", "variable extra changes"])
def test_matches_are_the_steps_that_a_search_finds(text: str) -> None:
    timeline, steps = Timeline(read("lublin-128", jobs=60), "easy"), []
    while search_forward(timeline, [parse_stop(text)], lambda step: False):
        steps.append(timeline.step)
    matches = Matches(timeline.branch, parse_stop(text))
    matches.read(60)
    assert [match.step for match in matches.found] == steps != []


def test_matches_beyond_the_limit_are_counted(lab: Lab) -> None:
    timeline = Timeline(lab.workload(4, *(f"{n} {n} 1 1 1" for n in range(1, MOST + 8))), "fcfs")
    timeline.compute(500)
    matches = Matches(timeline.branch, parse_stop("arrival"))
    matches.read(60)
    assert (len(matches.found), matches.share, matches.is_read) == (500, 0.99, True)
    timeline.compute_all()
    assert not matches.is_read
    matches.read(60)
    assert (len(matches.found), matches.more, matches.share) == (MOST, 7, 1)
