from dataclasses import replace

import pytest

from sim.timeline.timeline import Timeline
from sim.workload.follows import After, Follow
from sim.workload.source import Source
from tui.replay import requests as o
from tui.replay.navigation import Traveller
from tui.replay.stage import RunView


@pytest.fixture
def traveller() -> Traveller:
    """J3 is submitted when J1 ends, after all others, so that it passes none and does not wait longest."""
    _, workload = Source("z-figure4").read()
    after = replace(workload, follows=(None, None, Follow((After(0),)), None, None))
    return Traveller(RunView(Timeline(after, "easy")))


def test_passing_jobs_were_submitted_later_in_the_run(traveller: Traveller) -> None:
    assert traveller.to_most_overtaken(o.GoToMostOvertaken(), lambda: False) == "no job was passed"


def test_the_longest_wait_begins_with_the_submission_in_the_run(traveller: Traveller) -> None:
    found = traveller.to_longest(o.GoToLongest(), lambda: False)
    assert found == o.Noticed(4, "J5 waited longest in the whole run: 19m20")
