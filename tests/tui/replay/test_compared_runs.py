from math import inf

import pytest

from sim.comparison.differences import compare
from sim.workload.model import Workload
from tests.sim.comparison.test_live_comparison import timelines, workload
from tests.sim.conftest import Lab
from tui.chart.scale import Camera
from tui.look.palette import Hue
from tui.replay.compared_runs import Versus
from tui.replay.requests import VERSUS, Wish
from tui.replay.stage import RunView


def stages(of: Workload, first: str, second: str, step: int = 0) -> tuple[RunView, RunView]:
    one, other = timelines(of, first, second, step)
    return RunView(one), RunView(other)


def advanced(one: RunView, other: RunView) -> Versus:
    """Return the comparison of the two runs after all its work is done."""
    made = Versus(one, other)
    while not made.is_done:
        made.advance()
    return made


# Texts
def test_utilization_of_both_runs_is_until_the_time_shown() -> None:
    """At 00:19 step 7 is the last of EASY, step 6 of FCFS: J5 ended at 00:18:20 under EASY only."""
    one, other = stages(workload("z-figure4"), "easy", "fcfs")
    for stage in (one, other):
        stage.timeline.seek_time(1140)
    totals = advanced(one, other).scene(1140).totals
    used = [6 * 600 + 4 * 1140 - 4 * 10 + more for more in (5 * 500, 0)]
    assert [total.utilization for total in totals] == pytest.approx([area / 11400 for area in used])


def test_runs_say_since_when_and_why() -> None:
    one, other = stages(workload("z-figure4"), "easy", "fcfs", 6)
    assert advanced(one, other).scene(inf).led == ("easy", "easy, from d0 00:10:00 on fcfs")
    assert advanced(*stages(workload("z-figure4"), "easy", "fcfs")).scene(inf).led == ("easy", "fcfs")
    scene = advanced(*stages(workload("z-figure4"), "easy", "fcfs")).scene(0)
    assert scene.headline[2] == "differ at d0 00:10:00: easy backfills J5; fcfs keeps J5 waiting"


def test_the_scene_says_what_each_run_did() -> None:
    """Zhang's figure 4: EASY lets job 5 pass."""
    scene = advanced(*stages(workload("z-figure4"), "fcfs", "easy")).scene(0)
    assert scene.names == ("fcfs", "easy")
    assert scene.told == (
        ("J5 waits: needs 5, 6 free, and the policy stopped at J3",),
        ("J5 is backfilled on 5 processors: ends at 00:18:20, before J3's start at 00:20:00",),
    )
    assert scene.headline == (
        "first difference at d0 00:10:00: fcfs keeps J5 waiting: needs 5, 6 free, and the policy stopped at J3; "
        "easy backfills J5",
        "first difference at d0 00:10:00: fcfs keeps J5 waiting; easy backfills J5",
        "differ at d0 00:10:00: fcfs keeps J5 waiting; easy backfills J5",
        "at d0 00:10:00: fcfs keeps J5 waiting; easy backfills J5",
        "first difference at d0 00:10:00 over J5",
    )


def test_the_totals_are_those_of_the_moment() -> None:
    one, other = stages(workload("z-figure4"), "fcfs", "easy")
    made = Versus(one, other)
    assert made.scene(0).r is None
    one.timeline.seek(one.timeline.computed)
    other.timeline.seek(other.timeline.computed)
    scene = made.scene(1e6)
    assert [totals.mean_wait for totals in scene.totals] == [942, 702]
    assert scene.r == pytest.approx(0.24, abs=0.01)


def test_whole_runs_are_compared_at_the_end(lab: Lab) -> None:
    one, other = stages(workload("z-figure4"), "fcfs", "easy")
    made = Versus(one, other)
    assert made.scene(0).comparison is None
    found = advanced(one, other).scene(0).comparison
    assert found == compare(one.timeline.schedule(), other.timeline.schedule())
    made = advanced(*stages(lab.workload(4), "fcfs", "easy"))
    assert made.scene(0).never
    assert made.scene(0).shifts == (0, 0, 0)


# Jobs that start earlier
def test_shifts_are_those_known_so_far() -> None:
    one, other = stages(workload("z-figure4"), "fcfs", "easy")
    made = Versus(one, other)
    assert made.shift(first=True, moment=1e9).tolist() == [0, 0, 0, 0, 1200]
    assert made.shift(first=False, moment=1e9).tolist() == [0, 0, 0, 0, -1200]
    one, other = stages(workload("z-figure4"), "fcfs", "easy")
    made = Versus(one, other)
    assert made.shift(first=False, moment=599).tolist() == [0] * 5
    assert made.shift(first=False, moment=600).tolist() == [0, 0, 0, 0, -inf]


def test_a_chart_says_whose_it_is_and_jobs_keep_their_colours() -> None:
    one, other = stages(workload("z-figure4"), "fcfs", "easy")
    scene = one.scene(Wish(Camera.on(one.workload, 80, 40)))
    painted = Versus(one, other).painted(scene, False, Wish(Camera.on(one.workload, 80, 40)))
    assert scene.chart is not None
    assert painted.chart is not None
    assert painted.chart.hues is scene.chart.hues
    assert (painted.chart.label, painted.chart.is_told) == ("fcfs", True)
    assert painted.chart.shift is not None


def test_gain_and_loss_can_be_coloured_instead() -> None:
    """EASY starts J5 at 10 minutes, 20 minutes earlier than FCFS."""
    one, other = stages(workload("z-figure4"), "fcfs", "easy")
    other.timeline.seek_time(600)
    other.clock = 600
    wish = Wish(Camera.on(one.workload, 80, 40), colour=VERSUS)
    painted = Versus(one, other).painted(other.scene(wish), True, wish)
    assert painted.chart is not None
    assert (painted.chart.label, painted.chart.is_told) == ("easy", False)
    assert painted.chart.hues.tolist() == [Hue.GREY] * 4 + [Hue.COOL]
    assert painted.hues[4] == Hue.COOL


def test_charts_by_event_share_one_axis_and_say_the_same_moments() -> None:
    one, other = stages(workload("z-figure4"), "fcfs", "easy")
    for stage in (one, other):
        stage.timeline.seek_time(1300)
        stage.clock = 1300
    axis, wish = Versus(one, other).axis(1300), Wish(Camera(1, 0, 10, 60, 20).spaced(True, None))
    views = [stage.scene(wish, axis).chart.view for stage in (one, other)]  # type: ignore[union-attr]
    steps = sorted({*one.steps().tolist(), *other.steps().tolist()})
    assert views[0] == views[1]
    assert [axis.place(time) for time in steps] == list(range(len(steps)))
