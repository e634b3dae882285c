"""Colours of jobs and their meaning in each mode."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from sim.workload.follows import After, Follow
from sim.workload.job_changes import JobChanges
from sim.workload.model import Workload
from sim.workload.transforms import change_jobs
from tests.sim.conftest import Lab
from tui.chart.colours import MODES, Colours, OwnHues, partition_hue
from tui.look.palette import Hue

NAN = float("nan")


@pytest.fixture
def workload(lab: Lab) -> Workload:
    made = lab.workload(64, "1 0 1 100 100", "2 0 8 10 100", "3 50 64 600 700", "4 60 2 10 10")
    return replace(made, user=np.array([7, 7, 3, -1]), queue=np.array([-1, -1, -1, -1]))


def hues(workload: Workload, mode: str, now: float = 1e9) -> list[int]:
    every = np.arange(4)
    start, end = np.array([0.0, 100, 110, NAN]), np.array([100.0, 110, 710, NAN])
    found: list[int] = Colours(workload).of(mode, every, start, end, now, (0, 1, 0, None).__getitem__).tolist()
    return found


def own_hues(ids: list[str]) -> list[int]:
    found: list[int] = OwnHues(ids).of(np.arange(len(ids))).tolist()
    return found


def test_hues_stay_with_their_jobs(workload: Workload) -> None:
    assert hues(workload, "job") == hues(workload, "job", now=50) == hues(workload, "job", now=-1) == [0, 1, 2, 3]
    every = Colours(workload).of("job", np.arange(4), *(np.zeros(4),) * 2, 0, lambda rank: None)
    part = Colours(workload.take(slice(2, 4))).of("job", np.arange(2), *(np.zeros(2),) * 2, 0, lambda rank: None)
    assert part.tolist() == every[2:].tolist()
    assert own_hues(["w0!3", "7"]) == [0, 1]
    assert own_hues([]) == []
    assert own_hues(["9" * 5000, "1"])[1] == 0


def test_hues_follow_the_mode(workload: Workload) -> None:
    legend = Colours(workload).legend("user")
    assert [label for _, label in legend] == ["user 7", "user 3", "no user"]
    assert hues(workload, "user") == [legend[0][0], legend[0][0], legend[1][0], Hue.GREY]
    assert set(hues(workload, "queue")) == {Hue.GREY}
    assert Colours(workload).legend("queue") == ((Hue.GREY, "no queue"),)
    assert hues(workload, "partition") == [partition_hue(0), partition_hue(1), partition_hue(0), Hue.GREY]
    assert Colours(workload).legend("partition", ["short", "long"])[1] == (partition_hue(1), "long")
    assert [hue - Hue.RAMP for hue in hues(workload, "width", now=-1)] == [0, 2, 3, 1]
    assert [hue - Hue.RAMP for hue in hues(workload, "length", now=-1)] == [1, 1, 2, 0]
    assert hues(workload, "wait") == [Hue.RAMP, Hue.RAMP + 1, Hue.RAMP + 1, Hue.GREY]
    assert hues(workload, "wait", now=105) == [Hue.RAMP, Hue.RAMP + 1, Hue.GREY, Hue.GREY]


def test_hues_bound_and_count(workload: Workload, lab: Lab) -> None:
    # The second job is submitted at 100, when the first has ended, and starts at once; the log has 0.
    chained = replace(workload, follows=(None, Follow((After(0),), 0.0), None, None))
    assert hues(chained, "wait")[:3] == [Hue.RAMP, Hue.RAMP, Hue.RAMP + 1]
    assert hues(chained, "slowdown")[1] == Hue.RAMP != hues(workload, "slowdown")[1]
    waited = np.array([5.0, 19.9, 20.1])
    made = lab.workload(4, *(f"{i} 0 1 1 1" for i in range(3)))
    colours = Colours(made).of("slowdown", np.arange(3), waited, waited + 1, 100, lambda rank: None)
    assert colours.tolist() == [Hue.RAMP + 1, Hue.RAMP + 1, Hue.RAMP + 2]  # 1.5, 2.99, 3.01
    made = lab.workload(4, *(f"{i} {i} 1 5 5" for i in range(40)))
    crowd = replace(made, user=np.arange(40) % 20)
    legend = Colours(crowd).legend("user")
    assert legend[-1][1] == "9 others"
    assert len({hue for hue, _ in legend}) == 12


def test_passing_jobs_were_submitted_later_in_the_run(workload: Workload) -> None:
    """The third job starts before the second. In the log it comes later, but the second is submitted at 100."""
    start, end = np.array([0.0, 120, 110, NAN]), np.array([100.0, 130, 710, NAN])

    def passed(jobs: Workload) -> list[int]:
        found: list[int] = Colours(jobs).of("passed", np.arange(4), start, end, 1e9, lambda rank: None).tolist()
        return found

    chained = replace(workload, follows=(None, Follow((After(0),), 0.0), None, None))
    assert passed(workload) == [Hue.RAMP, Hue.RAMP + 1, Hue.RAMP, Hue.GREY]
    assert passed(chained) == [Hue.RAMP, Hue.RAMP, Hue.RAMP, Hue.GREY]


@pytest.mark.parametrize("mode", ["slowdown", "estimate"])
def test_what_depends_on_the_run_time_is_known_at_the_end(workload: Workload, mode: str) -> None:
    assert hues(workload, mode, now=109)[1:3] == [Hue.GREY, Hue.GREY]
    assert hues(workload, mode, now=110)[1] != Hue.GREY


@pytest.mark.parametrize("mode", MODES)
def test_every_hue_that_is_used_is_in_the_legend(workload: Workload, mode: str) -> None:
    legend = Colours(workload).legend(mode, ["a", "b"])
    if legend:
        assert set(hues(workload, mode)) <= {hue for hue, _ in legend} | {Hue.GREY}


def test_other_jobs_keep_their_colours_when_jobs_change() -> None:
    lines = "1 0 1 10 10", "2 1 1 10 10", "3 2 1 10 10"
    named = replace(Lab().workload(4, *lines), ids=("a", "b", "c"), user=np.array([0, 1, 1]))

    def changed(changes: JobChanges) -> Workload:
        return change_jobs(named, changes)

    first = replace(named, remade=changed)
    second = replace(changed(JobChanges(("b",))), remade=changed)
    times = np.full(3, np.nan)
    for mode in ("job", "user"):
        hues = [
            Colours(each).of(mode, np.arange(len(each)), times, times, 0, lambda rank: None) for each in (first, second)
        ]
        assert hues[0][[0, 2]].tolist() == hues[1].tolist()
