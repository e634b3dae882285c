from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.stops.grammar import parse_stop
from sim.stops.search import search_backward, search_forward
from sim.timeline.timeline import Timeline
from sim.workload.model import Workload
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
