from dataclasses import dataclass
from itertools import pairwise
from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.engine.moment import Moment
from sim.policies.backfill.easy import Easy
from sim.policies.columns import Column
from sim.stops.grammar import parse_stop
from sim.stops.search import MOST, Matches, search_backward, search_forward
from sim.timeline.timeline import Timeline
from sim.workload.model import Workload
from sim.workload.replay import read
from tests.examples import examples
from tests.sim.conftest import Lab

LAB = Lab()
JOBS = ("1 0 2 50 60", "2 5 4 100 100", "3 10 2 40 40", "4 12 1 500 500")


def never(step: int) -> bool:
    return False


@pytest.fixture
def timeline(lab: Lab) -> Timeline:
    return Timeline(lab.workload(4, *JOBS), "easy")


@pytest.mark.parametrize(
    ("stop", "time"),
    [("backfill", 10), ("queue >= 2", 12), ("job 1 ends", 50), ("wait > 30s", 50), ("job 4 ends", 650)],
)
def test_the_cursor_goes_to_where_it_fires(timeline: Timeline, stop: str, time: float) -> None:
    found = search_forward(timeline, [parse_stop(stop)], never)
    assert found is not None
    assert (found[0], found[1].text, timeline.snapshot().time) == (timeline.step, stop, time)


def test_a_line_or_a_variable_of_the_policys_code_is_stopped_at(timeline: Timeline) -> None:
    timeline.seek(3)
    lines = timeline.code().deciding_lines()
    timeline.seek(0)
    assert len(lines) == 1
    found = search_forward(timeline, [parse_stop(f"line {min(lines)}")], never)
    assert found is not None
    assert min(lines) in timeline.code().deciding_lines()
    timeline.seek(0)
    assert search_forward(timeline, [parse_stop("shadow > 50")], never) is not None
    assert max(timeline.code().numbers_of("shadow")) > 50
    timeline.seek(0)
    assert search_forward(timeline, [parse_stop("line 1 or shadow > 99999")], never) is None


def test_of_several_stops_the_first_that_fires_is_reported(timeline: Timeline) -> None:
    found = search_forward(timeline, [parse_stop("job 4 ends"), parse_stop("backfill")], never)
    assert found is not None
    assert found[1].text == "backfill"


def test_where_nothing_fires_the_cursor_is_at_the_end(timeline: Timeline) -> None:
    assert search_forward(timeline, [parse_stop("suspend")], never) is None
    assert timeline.complete
    assert timeline.step == timeline.computed


def test_a_search_goes_no_further_than_it_is_reported(timeline: Timeline) -> None:
    assert search_forward(timeline, [parse_stop("job 1 ends")], never, until_step=3) is None
    assert timeline.step == 3
    assert search_forward(timeline, [parse_stop("job 2 ends")], never, until_time=60) is None
    assert timeline.snapshot().time == 50


def test_a_search_that_is_told_to_quit_leaves_the_cursor(timeline: Timeline) -> None:
    assert search_forward(timeline, [parse_stop("job 4 ends")], lambda step: True) is None
    assert timeline.step == 0


@pytest.mark.parametrize(("stop", "time"), [("backfill", 10), ("completion", 150), ("queue >= 2", 12)])
def test_back_to_the_last_one_before_the_cursor(timeline: Timeline, stop: str, time: float) -> None:
    timeline.seek(10**9)
    found = search_backward(timeline, [parse_stop(stop)], never)
    assert found is not None
    assert (found[0], timeline.snapshot().time) == (timeline.step, time)


def test_the_step_at_the_cursor_is_not_found_again(timeline: Timeline) -> None:
    timeline.seek(10**9)
    arrivals = []
    while search_backward(timeline, [parse_stop("arrival")], never):
        arrivals.append(timeline.snapshot().time)
    assert arrivals == [12, 10, 5, 0]
    assert timeline.step == 1


STOPS = st.sampled_from(
    ["queue > 1", "not queue > 1", "backfill", "head slips", "head changes", "wait > 5s and free > 0", "job 3 moves"]
)


@examples(30)
@given(workload=LAB.workloads(), text=STOPS)
def test_search_finds_what_snapshots_show_in_both_directions(workload: Workload, text: str) -> None:
    stop, timeline = parse_stop(text), Timeline(workload, "relaxed")
    forwards = []
    while search_forward(timeline, [stop], never):
        forwards.append(timeline.step)
    seen = []
    for step in range(timeline.computed + 1):
        timeline.seek(step)
        seen.append(timeline.snapshot())
    assert forwards == [now.step for was, now in pairwise(seen) if stop.fires(was, now)]
    backwards = [timeline.step] if timeline.step in forwards else []
    while search_backward(timeline, [stop], never):
        backwards.append(timeline.step)
    assert backwards[::-1] == forwards


def found(timeline: Timeline, text: str) -> list[tuple[float, str, str]]:
    """Return time, jobs and values of all matches, read one step at a time."""
    timeline.compute_all()
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
