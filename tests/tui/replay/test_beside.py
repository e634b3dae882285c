"""Two runs beside each other: where they part, which jobs come earlier, what it comes to."""

from __future__ import annotations

from collections.abc import Sequence
from math import nan

import numpy as np
import pytest

from sim.comparison.differences import compare
from sim.comparison.parting import Side, part
from sim.decisions.decisions import Decision
from sim.history.history import Past
from sim.policies import parse_policy
from sim.timeline.timeline import Timeline
from sim.workload.model import Workload
from sim.workload.source import Source
from tests.sim.conftest import Lab
from tests.tui.chart.charts import chart_of
from tui.look.palette import Hue
from tui.replay import beside as versus
from tui.replay.beside import Versus, later_or_earlier, shared_steps
from tui.replay.stage import Stage

PAIRS = [
    ("lublin-128", "easy", "conservative", 0),
    ("lublin-128", "easy", "conservative", 1000),
    ("lublin-128", "easy", "easy:depth=2", 300),
    ("lublin-128", "multiqueue", "multiqueue:speculate=180", 500),
    ("lublin-128", "gang", "easy", 700),
    ("lublin-128", "selective", "gang", 900),
    ("z-figure7", "gang", "gang-migrate", 0),
]


def workload(name: str) -> Workload:
    return Source(name).read()[1]


def stages(of: Workload, first: str, second: str, step: int = 0, computed: bool = True) -> tuple[Stage, Stage]:
    """A run, and one that goes another way after so many steps."""
    timeline = Timeline(of, parse_policy(first))
    timeline.seek(step)
    twin = timeline.twin()
    twin.switch(parse_policy(second))
    if computed:
        timeline.compute_all()
        twin.compute_all()
    return Stage(timeline), Stage(twin)


def advanced(one: Stage, other: Stage) -> Versus:
    """All the work is done."""
    made = Versus(one, other)
    while not made.is_done:
        made.advance()
    return made


def sides(one: Stage, other: Stage) -> tuple[Side, Side]:
    return Side.of(one.timeline.branch.engine), Side.of(other.timeline.branch.engine)


# Where they part


@pytest.mark.parametrize(("name", "first", "second", "step"), PAIRS)
def test_the_runs_part_where_a_reading_from_the_beginning_says(name: str, first: str, second: str, step: int) -> None:
    both = stages(workload(name), first, second, step)
    assert advanced(*both).parting == part(*sides(*both)) is not None


@pytest.mark.parametrize(("name", "first", "second", "step"), PAIRS)
def test_it_is_found_while_the_runs_are_computed(name: str, first: str, second: str, step: int) -> None:
    one, other = stages(workload(name), first, second, step, computed=False)
    made = Versus(one, other)
    while not made.is_done:
        one.timeline.compute(7)
        other.timeline.compute(11)
        made.advance()
    assert made.parting == part(*sides(one, other))


@pytest.mark.parametrize("step", [0, 600])
def test_a_policy_never_parts_from_itself(step: int) -> None:
    made = advanced(*stages(workload("lublin-128"), "easy", "easy", step))
    assert made.parting is None
    assert made.scene(0).never


def test_whether_they_part_is_open_as_long_as_one_is_not_computed() -> None:
    one, other = stages(workload("lublin-128"), "easy", "easy", computed=False)
    one.timeline.compute_all()
    made = Versus(one, other)
    made.advance()
    assert not made.is_done
    assert not made.scene(0).never


def watched(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The steps whose decisions are read from now on."""
    read: list[int] = []
    decisions = Past.decisions

    def noted(past: Past, step: int) -> Sequence[Decision]:
        read.append(step)
        return decisions(past, step)

    monkeypatch.setattr(Past, "decisions", noted)
    return read


def test_a_piece_of_work_reads_a_window(monkeypatch: pytest.MonkeyPatch) -> None:
    """A frame never waits for the reading of a whole history."""
    both = stages(workload("lublin-128"), "easy", "easy")
    read = watched(monkeypatch)
    made = Versus(*both)
    made.advance()
    assert 0 < len(read) <= 2 * versus.WINDOW + 2


def test_what_is_shared_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    both = stages(workload("lublin-128"), "easy", "fcfs", 1000)
    read = watched(monkeypatch)
    Versus(*both).advance()
    assert min(read) >= 1000


def test_branches_share_what_the_least_of_their_forks_left_them() -> None:
    timeline = Timeline(workload("lublin-128"), parse_policy("easy"))
    timeline.seek(500)
    timeline.fork()
    timeline.seek(800)
    other = timeline.twin()
    other.seek(300)
    other.switch(parse_policy("fcfs"))
    timeline.seek(800)
    timeline.switch(parse_policy("conservative"))
    assert shared_steps(timeline, other) == 300


def test_another_branch_is_compared_anew() -> None:
    one, other = stages(workload("z-figure4"), "fcfs", "easy")
    made = advanced(one, other)
    assert made.parting is not None
    one.timeline.switch(parse_policy("easy"), at_step=0)
    one.timeline.compute_all()
    assert not made.is_done
    assert made.scene(0).specs == ("easy", "easy")
    while not made.is_done:
        made.advance()
    assert made.parting is None


# What it tells


def test_the_scene_says_what_each_run_did() -> None:
    """Zhang's figure 4: EASY lets job 5 pass."""
    scene = advanced(*stages(workload("z-figure4"), "fcfs", "easy")).scene(0)
    assert scene.names == ("fcfs", "easy")
    assert scene.told == (
        ("J5 waits: needs 5, 6 free, and the queue stops at J3",),
        ("J5 is backfilled on 5 processors: ends at 00:18:20, before J3's start at 00:20",),
    )
    assert scene.headline == (
        "first parted at d0 00:10:00: fcfs keeps J5 waiting: needs 5, 6 free, and the queue stops at J3; "
        "easy backfills J5",
        "first parted at d0 00:10:00: fcfs keeps J5 waiting: needs 5, 6 free, and the queue stops at J3",
        "first parted at d0 00:10:00: fcfs keeps J5 waiting; easy backfills J5",
        "first parted at d0 00:10:00: fcfs keeps J5 waiting",
        "first parted at d0 00:10:00 over J5",
    )


def test_the_second_run_tells_why_if_the_first_acts() -> None:
    scene = advanced(*stages(workload("z-figure4"), "easy", "fcfs")).scene(0)
    assert scene.headline[3] == "first parted at d0 00:10:00: fcfs keeps J5 waiting"


def test_before_the_reasons_are_known_the_jobs_are_named() -> None:
    made = Versus(*stages(workload("z-figure4"), "fcfs", "easy"))
    while made.parting is None:
        made.advance()
    assert made.scene(0).headline == ("first parted at d0 00:10:00 over J5",)


def test_long_specs_are_called_by_letters() -> None:
    scene = Versus(*stages(workload("z-figure4"), "easy", "multiqueue:classes=none,speculate=180")).scene(0)
    assert scene.specs == ("easy", "multiqueue:classes=none,speculate=180")
    assert scene.names == ("A", "B")


def test_the_totals_are_those_of_the_moment() -> None:
    one, other = stages(workload("z-figure4"), "fcfs", "easy")
    made = Versus(one, other)
    assert made.scene(0).r is None
    one.timeline.seek(one.timeline.computed)
    other.timeline.seek(other.timeline.computed)
    scene = made.scene(1e6)
    assert [totals.mean_wait for totals in scene.totals] == [942, 702]
    assert scene.r == pytest.approx(0.24, abs=0.01)


def test_jobs_that_come_earlier_are_counted_as_they_start() -> None:
    """Job 5 starts at 600 s with EASY, at 1,800 s without."""
    made = Versus(*stages(workload("z-figure4"), "fcfs", "easy"))
    assert made.scene(599).shifts == (0, 2, 0)
    assert made.scene(600).shifts == (1, 2, 0)
    assert made.scene(1e6).shifts == (1, 4, 0)


def test_in_the_end_both_schedules_are_compared() -> None:
    one, other = stages(workload("z-figure4"), "fcfs", "easy")
    made = Versus(one, other)
    assert made.scene(0).comparison is None
    found = advanced(one, other).scene(0).comparison
    assert found == compare(one.timeline.schedule(), other.timeline.schedule())


def test_a_workload_without_jobs_is_compared_too(lab: Lab) -> None:
    made = advanced(*stages(lab.workload(4), "fcfs", "easy"))
    assert made.scene(0).never
    assert made.scene(0).shifts == (0, 0, 0)


# Colours


@pytest.mark.parametrize(
    ("own", "there", "found"),
    [(5, 5, 0), (5, 9, -1), (9, 5, 1), (5, nan, -1), (nan, 5, 1), (nan, nan, 0), (30, nan, 0), (30, 25, 0)],
)
def test_earlier_and_later_as_far_as_it_shows_by_a_moment(own: float, there: float, found: int) -> None:
    assert later_or_earlier(np.array([own]), np.array([there]), 20).tolist() == [found]


def test_jobs_are_cool_where_they_come_earlier_and_warm_where_they_come_later() -> None:
    one, other = stages(workload("z-figure4"), "fcfs", "easy")
    made = Versus(one, other)
    assert made.hues(first=True).tolist() == [Hue.GREY] * 4 + [Hue.WARM]
    assert made.hues(first=False).tolist() == [Hue.GREY] * 4 + [Hue.COOL]


def test_what_is_not_known_in_both_runs_is_grey() -> None:
    one, other = stages(workload("z-figure4"), "fcfs", "easy", computed=False)
    one.timeline.compute_all()
    made = Versus(one, other)
    assert set(made.hues(first=True).tolist()) == {Hue.GREY}
    other.timeline.compute_all()
    assert Hue.WARM in made.hues(first=True)


def test_a_chart_is_painted_with_its_legend() -> None:
    one, other = stages(workload("z-figure4"), "fcfs", "easy")
    chart = chart_of(one.timeline.branch.engine)
    painted = Versus(one, other).painted(chart, first=True)
    assert painted.raster is chart.raster
    assert painted.hues[4] == Hue.WARM
    assert dict(painted.legend)[Hue.WARM] == "later here"
