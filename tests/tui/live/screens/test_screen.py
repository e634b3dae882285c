"""Also tests tui.live.alerts, tui.live.screens.observed_screen, tui.live.program."""

import gc
import re
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from textual.events import Paste
from textual.pilot import Pilot

from sim.live.cluster.dates import date
from sim.live.cluster.pace import Pace
from sim.live.cluster.values import Cluster, Node, Partition
from tests.tui.live.moments import DAY, NODES, runs, waits
from tests.tui.live.watched import Recorded, Scripted, settled, text_of
from tests.tui.replays import painted, wait_until
from tui.chart.hover import Spot
from tui.live.program import LiveApp
from tui.live.scene import LiveScene
from tui.live.screens.screen import LiveScreen
from tui.live.watch import Live, Replayed, Watch
from tui.look.palette import DARK
from tui.screens.dialogs import SentencesDialog
from tui.widgets.gantt import Gantt
from tui.widgets.panel import Panel

KEYS_OF_THE_CHART = ("plus", "minus", "left_curly_bracket", "right_curly_bracket", *"nA0ohl")


class Seen:
    """A user at the live screen."""

    def __init__(self, pilot: Pilot[Any], app: LiveApp) -> None:
        self.pilot, self.app = pilot, app

    @property
    def screen(self) -> LiveScreen:
        return next(found for found in self.app.screen_stack if isinstance(found, LiveScreen))

    @property
    def text(self) -> str:
        return text_of(self.app)

    async def press(self, *keys: str) -> LiveScene:
        for key in keys:
            await self.pilot.press(key)
            await settled(self.pilot)
        return await settled(self.pilot)

    async def answer(self, text: str) -> LiveScene:
        await self.pilot.press("ctrl+u")
        self.app.screen.post_message(Paste(text))
        await self.pilot.press("enter")
        return await settled(self.pilot)


@asynccontextmanager
async def opened(watch: Watch, size: tuple[int, int] = (120, 36)) -> AsyncIterator[Seen]:
    app = LiveApp(watch, DARK)
    async with app.run_test(size=size) as pilot:
        await settled(pilot)
        yield Seen(pilot, app)


def recording(shared: Path, version: str = "v24.11") -> Replayed:
    return Replayed(Recorded.of(shared, version), "week.slog")


@pytest.mark.parametrize(
    ("version", "size"), [("v22.05", (120, 36)), ("v24.11", (80, 24)), ("v24.11", (120, 36)), ("v24.11", (200, 60))]
)
async def test_a_recording_shows_nodes_queue_and_now(shared: Path, version: str, size: tuple[int, int]) -> None:
    async with opened(recording(shared, version), size) as seen:
        text = seen.text
        assert all(f"n{number}" in text for number in range(1, 9))
        assert "now" in text
        assert "recording week.slog" in text
        assert "waiting" in text
        assert ("Jobs" in text) == (size[0] > 100)


async def test_an_empty_recording_is_read_and_no_cluster_is_asked() -> None:
    app = LiveApp(Replayed(Recorded(()), "week.slog"), DARK)
    async with app.run_test(size=(80, 24)) as pilot:
        await painted(pilot)
        text = text_of(app)
    assert "reading week.slog ..." in text
    assert "asking" not in text
    assert "answered" not in text


async def test_arrows_walk_through_pictures_and_brackets_through_events(shared: Path) -> None:
    async with opened(recording(shared)) as seen:
        newest = len(seen.screen.watch_.observed.moments) - 1
        scene = await seen.press("left")
        assert scene.picture == newest - 1
        assert f"Picture {newest:,} of {newest + 1}" in seen.text
        scene = await seen.press("home")
        assert scene.picture == 0
        scene = await seen.press("right_square_bracket")
        assert {event.kind for event in scene.events} & {"arrival", "start", "completion"}
        scene = await seen.press("end")
        assert scene.follows


async def test_why_selects_the_first_that_waits_and_tells_its_reason(shared: Path) -> None:
    async with opened(recording(shared)) as seen:
        scene = await seen.press("w")
        job = scene.cluster.queue[0]
        assert seen.screen.state.selected == scene.rank(job)
        assert f"J{job.id} waits" in seen.text
        await seen.press("w")
        assert seen.screen.state.selected == scene.rank(scene.cluster.queue[1])
        await seen.press("escape")
        assert seen.screen.state.selected is None


async def test_a_stop_is_gone_to_in_both_directions(shared: Path) -> None:
    async with opened(recording(shared)) as seen:
        await seen.press("home")
        await seen.pilot.press("x")
        await seen.answer("job 2 starts")
        scene = await seen.press("semicolon")
        assert [event.subject for event in scene.events if event.kind == "start"].count("2") == 1
        after = scene.picture
        await seen.press("right", "colon")
        assert seen.screen.state.picture == after


async def test_a_wrong_stop_is_refused_in_the_dialog(shared: Path) -> None:
    async with opened(recording(shared)) as seen:
        await seen.pilot.press("x")
        await seen.answer("queue >")
        assert not seen.screen.state.stops


async def test_go_to_takes_a_time_a_picture_or_a_job(shared: Path) -> None:
    async with opened(recording(shared)) as seen:
        await seen.pilot.press("g")
        scene = await seen.answer("#5")
        assert scene.picture == 4
        await seen.pilot.press("g")
        await seen.answer("J2")
        assert seen.screen.state.selected == seen.screen.watch_.observed.ranks["2"]
        await seen.pilot.press("slash")
        await seen.answer("J3")
        assert seen.screen.state.selected == seen.screen.watch_.observed.ranks["3"]


async def test_find_shows_a_node_and_zooms_to_a_rack(shared: Path) -> None:
    nodes = tuple(Node(f"r{rack}n{number:02}", 4) for rack in range(1, 5) for number in range(1, 31))
    pictures = [Cluster(DAY + at, nodes=nodes, jobs=(runs("1", 4, "r2n07"),)) for at in (10, 70)]
    async with opened(Replayed(Recorded(pictures), "nodes.slog")) as seen:
        await seen.pilot.press("slash")
        await seen.answer("r3")
        camera = seen.screen.query_one("#chart", Gantt).camera
        assert camera is not None
        assert (camera.low, camera.high) == (30 * 4, 60 * 4)
        await seen.pilot.press("slash")
        await seen.answer("r2n07")
        assert "J1 of ann: some of 4 cores" in seen.text
        assert "4 of 4 cores taken" in seen.text
        await seen.pilot.press("escape", "slash")
        await seen.answer("r9")
        assert "there is no job, user, node or rack 'r9' here" in seen.text


async def test_slash_filters_while_typing_and_esc_takes_it_back() -> None:
    jobs = (*(waits(str(id), 1) for id in range(10, 20)), runs("7", 2, "n1"), replace(waits("30", 1), user="eve"))
    async with opened(Replayed(Recorded([Cluster(DAY + 60, nodes=NODES, jobs=jobs)]), "x.slog"), (160, 40)) as seen:
        await seen.pilot.press("slash", *"eve")
        await wait_until(lambda: "waiting 1  running 0" in seen.screen.query_one("#queue", Panel)._sheet.text)
        await seen.pilot.press("enter")
        scene = await settled(seen.pilot)
        assert seen.screen.state.selected == scene.rank(jobs[-1])
        await seen.press("escape")
        assert "waiting 11  running 1" in seen.text
        await seen.pilot.press("slash", *"ann")
        await seen.answer("ann")
        assert seen.screen.state.listing.kind == "running", "no other list has a match"
        await seen.pilot.press("slash", *"eve", "escape")
        await settled(seen.pilot)
        assert seen.screen.state.listing.words == "ann"


async def test_list_is_chosen_sorted_and_kept(shared: Path) -> None:
    async with opened(recording(shared), (160, 40)) as seen:
        await seen.press("v", "O")
        assert "▼job" in seen.text
        await seen.pilot.press("C")
        await seen.answer("user -left")
        assert "▼left" in seen.text
        assert seen.app.settings.columns == {"running": "user -left"}
        await seen.screen.run_action("sort_queue('left')")
        await wait_until(lambda: seen.app.settings.columns == {"running": "user +left"})
        await seen.screen.run_action("list_jobs('ended')")
        assert "ran" in seen.text


async def test_my_waiting_job_is_selected_and_news_of_it_rings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Pace, "of", lambda every: Pace(0.01, 0.01))
    mine = replace(waits("2", 2, 500), user="ann")
    rung: list[bool] = []
    first = Cluster(at=DAY + 60, nodes=NODES, jobs=(waits("1", 2), mine), me="ann")
    scheduler = Scripted(first)
    async with opened(Live(scheduler)) as seen:
        assert "J2 waits" in seen.text
        monkeypatch.setattr(seen.app, "bell", lambda: rung.append(True))
        late = replace(first, at=DAY + 120, jobs=(waits("1", 2), replace(mine, start=DAY + 1400)))
        begun = replace(first, at=DAY + 180, jobs=(waits("1", 2), replace(runs("2", 2, "n1", start=150, end=1e9))))
        for picture, told in ((late, "J2 is expected 15m00 later"), (begun, "J2 started on n1")):
            scheduler.pictures.append(picture)
            await wait_until(lambda told=told: any(told in each.message for each in seen.app._notifications))  # type: ignore[misc]
        assert rung == [True, True]


@pytest.mark.long
async def test_every_key_is_pressed_and_nothing_breaks(shared: Path) -> None:
    async with opened(recording(shared)) as seen:
        for key in [*"cccccccsssvvvOOOp", *"jb", "apostrophe", *"2211337a", "tab", *"zz", *KEYS_OF_THE_CHART]:
            await seen.press(key)
        await seen.pilot.press("question_mark")
        await seen.pilot.pause()
        assert "Your job" in seen.text
        await seen.press("escape")


async def test_a_small_screen_shows_one_panel_at_a_time(shared: Path) -> None:
    async with opened(recording(shared), (80, 24)) as seen:
        assert "Jobs" not in seen.text
        await seen.press("tab")
        assert "Jobs" in seen.text
        await seen.press("tab", "tab")
        assert "Picture " in seen.text
        assert "Jobs" not in seen.text
        await seen.press("escape")
        assert "Picture " not in seen.text


async def test_a_click_selects_a_job(shared: Path) -> None:
    async with opened(recording(shared), (160, 40)) as seen:
        await seen.pilot.click("#queue", offset=(6, 4))
        scene = await settled(seen.pilot)
        assert seen.screen.state.selected == scene.rank(scene.cluster.queue[1])
        assert "Job" in seen.text


async def test_trouble_is_said_and_the_picture_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Pace, "of", lambda every: Pace(0.01, 0.01))
    source = Scripted(Cluster(at=DAY + 60, name="testbed", nodes=NODES, jobs=(runs("1", 2, "n1", end=1e9),)), None)
    async with opened(Live(source)) as seen:
        await settled(seen.pilot, lambda scene: bool(scene.state.trouble))
        await seen.pilot.pause()
        seen.screen.draw()
        await seen.pilot.pause()
        assert f"no answer since {date(DAY + 60, time.time())}, " in seen.text, "the time of the last answer"
        assert "Unable to contact" in seen.text
        assert "n1" in seen.text


async def test_a_controller_that_never_answers_is_reported() -> None:
    app = LiveApp(Live(Scripted(None)), DARK)
    async with app.run_test(size=(100, 30)):
        await wait_until(lambda: "Unable to contact" in text_of(app))
        await wait_until(lambda: re.search(r"no answer since .*, next in \d", text_of(app)))


async def test_key_polls_now_and_the_top_line_says_when_the_next_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sim.live.cluster.pace.LEAST", 0.0)
    pictures = [Cluster(at=DAY + 60 * at, nodes=NODES, jobs=(waits("1", 2),)) for at in range(1, 4)]
    async with opened(Live(Scripted(*pictures), every=900.0)) as seen:
        assert "next in 1" in seen.text
        await seen.pilot.press("r")
        await settled(seen.pilot, lambda scene: scene.pictures == 2)


async def test_a_scene_that_comes_while_another_is_taken_is_drawn(shared: Path) -> None:
    async with opened(recording(shared)) as seen:
        seen.screen._newest = seen.screen.scene  # the thread stores it after the screen has read the one before
        assert (await seen.press("home")).picture == 0


async def test_the_bell_rings_at_a_stop_that_a_new_picture_meets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Pace, "of", lambda every: Pace(0.01, 0.01))
    rung: list[bool] = []
    waiting = Cluster(at=DAY + 60, nodes=NODES, jobs=(waits("1", 2),))
    last = Cluster(at=DAY + 400, nodes=NODES, jobs=(runs("1", 2, "n1", start=390, end=1e9),))
    scheduler = Scripted(waiting)
    async with opened(Live(scheduler)) as seen:
        monkeypatch.setattr(seen.app, "bell", lambda: rung.append(True))
        await seen.pilot.press("x")
        await seen.answer("job 1 starts")
        scheduler.pictures.append(last)
        await settled(seen.pilot, lambda scene: bool(scene.cluster.running))
        await wait_until(lambda: rung)
        for _ in range(40):
            await seen.pilot.pause(0.02)
        assert rung == [True]
        assert "stop: job" in seen.text


async def test_garbage_is_collected_while_a_cluster_is_watched(shared: Path) -> None:
    gc.disable()  # as the command line does until the first frame
    try:
        async with opened(recording(shared)):
            assert gc.isenabled()
    finally:
        gc.enable()


async def test_a_picture_that_is_not_kept_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Pace, "of", lambda every: Pace(0.01, 0.01))
    monkeypatch.setattr("sim.live.cluster.observed.MOST_KEPT", 3)
    pictures = [Cluster(at=DAY + 60 * at, nodes=NODES, jobs=(waits("1", 2),)) for at in range(1, 10)]
    async with opened(Live(Scripted(*pictures))) as seen:
        await settled(seen.pilot, lambda scene: scene.pictures > 8)
        await seen.pilot.press("home")
        assert (seen.screen.state.picture or 0) > 5
        assert "not kept" in seen.screen.state.said


@pytest.mark.long
async def test_what_if_looks_ahead_for_the_selected_job(shared: Path) -> None:
    async with opened(recording(shared)) as seen:
        await seen.press("w")
        await wait_until(lambda: seen.screen.state.selected is not None)
        await seen.pilot.press("u")
        await wait_until(lambda: isinstance(seen.app.screen, SentencesDialog))
        dialog = seen.app.screen
        assert isinstance(dialog, SentencesDialog)
        assert any("forecast" in line.text for line in dialog._lines(80))
        await seen.pilot.press("escape")
        await seen.pilot.pause()
        assert seen.app.screen is seen.screen


async def test_a_new_job_is_a_frame_that_moves() -> None:
    jobs = (runs("1", 4, "n1", end=3600), waits("2", 8, 3600, "Resources", "n1", "n2"))
    cluster = Cluster(DAY + 60, nodes=NODES, partitions=(Partition("batch", ("n1", "n2"), 7200.0),), jobs=jobs)
    async with opened(Replayed(Recorded([cluster]), "x.slog"), (160, 40)) as seen:
        await seen.pilot.press("f")
        await seen.answer("cpus=4 time=20m partition=batch")
        await wait_until(lambda: isinstance(seen.app.screen, SentencesDialog))
        assert "would start now" in seen.text
        scene = await seen.press("escape")
        assert scene.chart is not None
        frames = [outline for outline in scene.chart.outlines if outline.is_above]
        assert [(frame.start, frame.end) for frame in frames] == [(60, 60 + 1200)]
        await seen.press("right_parenthesis")
        ghost = seen.screen.state.ghost
        assert ghost is not None
        assert ghost.start == DAY + 60 + 100
        seen.screen._picked(Gantt.Picked(seen.screen.query_one("#chart", Gantt), None, Spot(900.0, 0, None)))
        assert seen.screen.state.ghost is not None
        assert seen.screen.state.ghost.start == DAY + 900
        await seen.press("left_parenthesis", "escape")
        assert seen.screen.state.ghost is None
        await seen.pilot.press("f", "enter")
        await wait_until(lambda: isinstance(seen.app.screen, SentencesDialog))
        assert "batch: 1 node for" in seen.text


async def test_what_if_needs_a_waiting_job() -> None:
    watch = Live(Scripted(Cluster(DAY, nodes=NODES, jobs=(runs("1", 2, "n1"),))))
    async with opened(watch) as seen:
        await seen.press("u")
        assert "no waiting job is selected" in seen.text


async def test_wanted_moment_is_shown_once_it_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tui.live.watch.BATCH", -1.0)  # every picture is shown when it is read
    pictures = [Cluster(at=DAY + 60 * at, nodes=NODES, jobs=(waits("1", 2),)) for at in range(1, 10)]
    app = LiveApp(Replayed(Recorded(pictures), "week.slog"), DARK, None, DAY + 420)
    async with app.run_test(size=(120, 36)) as pilot:
        scene = await settled(pilot)
        assert scene.cluster.at == DAY + 420
