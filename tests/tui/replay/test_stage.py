import gc
from math import inf
from pathlib import Path

import numpy as np
import pytest

from sim.policies import parse_policy
from sim.session.session import Bookmark
from sim.stops.grammar import parse_stop
from sim.timeline.scenario import Scenario
from sim.timeline.timeline import Timeline
from sim.workload.source import Source
from sim.workload.transforms import Transforms
from tui.chart.raster import Pixels
from tui.chart.scale import Camera
from tui.cli.run import Files, simulate
from tui.cli.schedule_files import schedule_rows, segment_rows, write_csv
from tui.replay import requests as o
from tui.replay.controller import ReplayController
from tui.replay.requests import Wish
from tui.replay.speed import Speed
from tui.replay.stage import RunView

FAMILIES = "easy:order=sjf", "conservative", "multiqueue", "selective", "gang-migrate-backfill", "recorded"
TOP = Speed(seconds=inf)


def stage_of(trace: str = "z-figure4", policy: str = "easy") -> tuple[RunView, Wish]:
    _, workload = Source(trace).read()
    return RunView(Timeline(workload, parse_policy(policy))), Wish(Camera.on(workload, 80, 40))


@pytest.mark.parametrize("policy", FAMILIES)
def test_a_run_played_at_top_speed_makes_the_same_schedule(policy: str, tmp_path: Path) -> None:
    _, workload = Source("lublin-128", transforms=Transforms(jobs=150)).read()
    headless = Files(str(tmp_path / "schedule.csv"), str(tmp_path / "segments.csv"))
    simulate(Scenario(workload, parse_policy(policy)), policy, headless)
    stage = RunView(Timeline(workload, parse_policy(policy)))
    controller, wish = ReplayController(stage), Wish(Camera.on(workload, 80, 40), stops=(parse_stop("queue > 10000"),))
    while controller.obey(o.Play(1, TOP), wish, lambda: False) is None:
        pass
    assert stage.scene(wish).snapshot.next_time is None
    engine = stage.timeline.branch.engine
    for name, rows in (("schedule.csv", schedule_rows(engine)), ("segments.csv", segment_rows(engine))):
        write_csv(str(tmp_path / "played.csv"), rows)
        assert (tmp_path / "played.csv").read_text() == (tmp_path / name).read_text()


def test_clock_begins_at_the_first_submission() -> None:
    stage, wish = stage_of("lublin-128")
    scene = stage.scene(wish)
    assert (scene.snapshot.step, scene.clock) == (0, float(stage.workload.submit[0]))


def test_a_machine_without_jobs_has_a_scene_too(tmp_path: Path) -> None:
    (tmp_path / "empty.swf").write_text("; MaxProcs: 4\n")
    stage, wish = stage_of(str(tmp_path / "empty.swf"))
    stage.timeline.compute_all()
    scene = stage.scene(wish)
    assert (scene.clock, scene.complete, len(scene.snapshot.queue)) == (0, True, 0)


def test_the_scene_of_a_step_is_the_same_however_it_was_reached() -> None:
    stage, wish = stage_of("lublin-128")
    stage.timeline.compute_all()
    chart = []
    for way in ((600, 500), (0, 500)):
        for step in way:
            stage.timeline.seek(step)
            stage.set_clock()
            scene = stage.scene(wish)
        while scene.chart is not None and scene.chart.pending:
            scene = stage.scene(wish)
        chart.append(scene)
    first, second = chart
    assert first.snapshot == second.snapshot
    assert first.chart is not None
    assert second.chart is not None
    assert np.array_equal(first.chart.raster.rank, second.chart.raster.rank)
    assert first.hues == second.hues


def test_strip_marks_switches_and_bookmarks() -> None:
    stage, wish = stage_of()
    stage.timeline.seek(4)
    stage.timeline.switch("fcfs")
    stage.set_clock()
    marks = (
        Bookmark("here", "fork 1", 3), Bookmark("elsewhere", "main", 3), Bookmark("not yet", "fork 1", 900),
        Bookmark("begin", "fork 1", 0),
    )  # fmt: skip
    scene = stage.scene(Wish(wish.camera, bookmarks=marks))
    assert [tuple(mark)[:3] for mark in scene.strip.marks] == [(30, "switch", "fcfs"), (20, "bookmark", "here")]


def test_the_selected_job_is_told_about_and_keeps_its_colour() -> None:
    stage, wish = stage_of()
    stage.timeline.seek(5)
    stage.set_clock()
    scene = stage.scene(Wish(wish.camera, selected=2))
    assert scene.job is not None
    assert (scene.job.rank, scene.job.state) == (2, "waiting")
    assert 2 in scene.hues
    assert stage.scene(wish).job is None


def test_a_branch_that_is_looked_at_again_looks_as_before() -> None:
    stage, wish = stage_of("lublin-128")
    stage.timeline.seek(300)
    stage.set_clock()
    before = stage.scene(wish)
    stage.timeline.switch("fcfs")
    stage.scene(wish)
    stage.timeline.look_at("main")
    stage.timeline.seek(300)
    stage.set_clock()
    assert stage.scene(wish).hues == before.hues


def test_charts_of_forks_equal_charts_drawn_anew() -> None:
    stage, wish = stage_of("lublin-128")
    stage.timeline.seek(900)
    stage.set_clock()
    _drawn(stage, wish)
    stage.timeline.switch(parse_policy("fcfs"))
    stage.timeline.seek(stage.timeline.step + 3)
    twin = stage.timeline.twin()
    twin.switch(parse_policy("easy"), name="beside")
    for shown in (stage, RunView(twin, stage)):
        shown.set_clock()
        anew = RunView(shown.timeline)
        anew.clock = shown.clock
        assert np.array_equal(_drawn(shown, wish), _drawn(anew, wish))


def _drawn(stage: RunView, wish: Wish) -> Pixels:
    while (chart := stage.scene(wish).chart) is None or chart.pending:
        pass
    return chart.raster.pixels


def test_before_the_first_step_it_is_under_the_policy_of_the_branch() -> None:
    stage, wish = stage_of()
    stage.timeline.switch(parse_policy("fcfs"), at_step=0)
    stage.timeline.seek(0)
    assert stage.scene(wish).snapshot.policy == "fcfs"
    stage.timeline.look_at("main")
    stage.timeline.seek(3)
    stage.timeline.switch(parse_policy("fcfs"))
    stage.timeline.seek(0)
    assert stage.scene(wish).snapshot.policy == "easy"


def test_computed_run_exempts_no_more_from_collection(monkeypatch: pytest.MonkeyPatch) -> None:
    exempted: list[int] = []
    stage, _ = stage_of()
    monkeypatch.setattr(gc, "freeze", lambda: exempted.append(stage.timeline.computed))
    while stage.go_on(1):
        pass
    stage.go_on(1)
    assert exempted == [10]
