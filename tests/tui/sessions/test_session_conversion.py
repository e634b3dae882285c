from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.history.past import Switch
from sim.policies import parse_policy
from sim.session.session import (
    Bookmark,
    BranchRecord,
    Session,
    one_line,
    parsed,
    session_text,
    verify_trace,
    write_session,
)
from sim.session.sources import session_of
from sim.session.trace_ref import TraceRef
from sim.stops.grammar import parse_stop
from sim.support.errors import SchedscopeError
from sim.workload.source import Source
from tests.examples import examples
from tests.tui.replays import Replay, replay
from tests.tui.screens.seeing import enter
from tui.chart.scale import Camera
from tui.replay import requests as o
from tui.replay.controller import ReplayController
from tui.replay.stage import RunView
from tui.screens.replay.state import ViewState
from tui.sessions.session_conversion import camera_of, found_session, last_path, reopened, view_of


async def wander(run: Replay) -> None:
    """Change everything that a session keeps: branches, a bookmark, stops, the selection, the camera."""
    screen = run.screen
    await run.ask(o.GoTo(200))
    await run.ask(o.SwitchTo(parse_policy("conservative")))
    await run.ask(o.GoTo(260))
    await run.press("b")
    await enter(run, "here")
    await run.ask(o.Fork())
    await run.ask(o.LookAt("main"))
    await run.ask(o.GoTo(100))
    await run.ask(o.SwitchTo(parse_policy("fcfs")))
    await run.ask(o.GoTo(320))
    await run.ask(o.GoToTime(run.scene.clock + 100))
    screen.select(run.scene.snapshot.queue[0].job.rank)
    await run.do("colour_by('width')")
    screen.change(stops=(parse_stop("queue > 50"), parse_stop("head slips")))
    screen.change(hidden=frozenset({"metrics"}), dates=True)
    await run.do("speed(2)")
    screen.chart.focus()
    await run.press("plus", "plus", "shift+left")


def seen(run: Replay) -> dict[str, Any]:
    """Return everything that a session must restore: mapping from its name to its value."""
    scene, state = run.scene, run.screen.state
    assert scene.chart is not None
    return {
        "branches": scene.branches, "branch": scene.branch, "snapshot": scene.snapshot, "clock": scene.clock,
        "view": scene.chart.view, "hues": scene.hues, "job": scene.job, "marks": sorted(scene.strip.marks),
        "camera": run.screen.chart.camera, "selected": state.selected, "bookmarks": state.bookmarks,
        "dates": state.dates, "stops": state.stops, "colour": state.colour,
        "speed": state.speed, "hidden": state.hidden,
    }  # fmt: skip


def beside(run: Replay) -> tuple[Any, ...]:
    assert run.screen.shown is not None
    scene = run.screen.shown.beside
    assert scene is not None
    return scene.snapshot, scene.clock, scene.branches[-1]


@asynccontextmanager
async def wandered() -> AsyncIterator[Replay]:
    async with replay("lublin-128", "easy") as run:
        await wander(run)
        await run.complete()
        yield run


@pytest.mark.parametrize("by_line", [False, True], ids=["by file", "by line"])
async def test_everything_comes_back(tmp_path: Path, by_line: bool) -> None:
    async with wandered() as run:
        left, session = seen(run), run.session
    named = one_line(session) if by_line else str(tmp_path / "left.session")
    if not by_line:
        write_session(session, named)
    async with replay(session=found_session(named)) as run:
        await run.complete()
        assert seen(run) == left
        assert run.session == session


async def test_partitions_stay_by_number_and_moments_dates() -> None:
    async with replay("ls-figure1", "multiqueue") as run:
        await run.press("right", "right")
        await run.wait_for(lambda: run.scene.chart is not None and run.scene.chart.by_owner is not None)
        await run.press("M")
        run.screen.change(dates=True)
        await run.wait_for(lambda: run.scene.chart is not None and run.scene.chart.by_owner is None)
        session = run.session
    assert (session.view["camera.by_rows"], session.view["dates"]) == (False, True)
    async with replay(session=session) as run:
        await run.wait_for(lambda: run.scene.chart is not None and run.scene.chart.by_owner is None)
        assert run.screen.state.dates
        await run.press("M")
        await run.wait_for(lambda: run.scene.chart is not None and run.scene.chart.by_owner is not None)


async def test_what_was_planned_when_it_was_opened_is_planned_again() -> None:
    async with replay("z-figure4", "fcfs", switches=((600.0, parse_policy("easy")),)) as run:
        await run.press("right", "right", "f")
        session = run.session
    async with replay(session=session) as run:
        assert run.scene.branch == "fork 1"
        await run.ask(o.GoToEnd())
        assert [switch.time for switch in run.scene.snapshot.switches] == [600]


@pytest.mark.parametrize(("from_start", "left_at"), [(False, 0), (True, 5), (False, 9)])
async def test_a_run_beside_is_there_again_and_parts_where_it_parted(from_start: bool, left_at: int) -> None:
    async with replay("z-figure4", "easy") as run:
        await run.ask(o.GoTo(3))
        await run.ask(o.Compare(parse_policy("fcfs"), from_start))
        await run.ask(o.GoTo(4))
        await run.ask(o.SwitchTo(parse_policy("conservative")))
        await run.ask(o.GoTo(left_at))
        left, session = beside(run), run.session
    async with replay(session=session) as run:
        assert beside(run) == left
        await run.ask(o.GoToEnd())
        assert beside(run)[0].policy == "fcfs"


async def test_a_screen_of_another_size_sees_as_much_time() -> None:
    async with wandered() as run:
        camera, session = run.screen.chart.camera, run.session
    async with replay(session=session, size=(80, 24)) as run:
        now = run.screen.chart.camera
        assert camera is not None
        assert now is not None
        assert (now.per_column, now.follow) == (camera.per_column, camera.follow)


async def test_what_makes_no_sense_in_a_session_is_left_as_it_is() -> None:
    session = replace(
        session_of(Source("z-figure4"), "easy"),
        step=4,
        view={
            "colour": "tartan", "speed": 99, "selected": "nobody", "jump": 3, "hidden": "moon queue", "clock": "noon",
            "camera.per_column": -1, "camera.low": "x", "[@click=app.bell]OK[/]": 1,
        },
    )  # fmt: skip
    async with replay(session=session) as run:
        assert (run.step, run.screen.state.selected, run.screen.state.hidden) == (4, None, frozenset({"code", "queue"}))
        assert run.screen.state.colour == "job"
        assert run.screen.state.jump == "start"
        for key in (
            "colour is 'tartan'",
            "speed is 99",
            "selected is 'nobody'",
            "jump is 3",
            "hidden",
            "clock",
            "camera",
            "[view] has '[@click=app.bell]OK[/]', not known",
        ):
            assert f"the session's {key}" in run.told
        await run.press("right_square_bracket")


async def test_a_step_beyond_the_end_is_put_right_with_a_word() -> None:
    session = replace(session_of(Source("z-figure4"), "easy"), step=4000)
    async with replay(session=session) as run:
        await run.wait_for(lambda: run.screen.state.said)
        assert (run.step, run.screen.state.said) == (
            10,
            "the session stood at step 4,000, but there are 10: the run is over",
        )


@pytest.mark.parametrize(
    "wrong", [{"camera.per_column": 1e-300}, {"camera.per_column": 1e300}, {"camera.first": 10**400}]
)
async def test_a_camera_that_looks_nowhere_is_put_right_with_a_word(wrong: dict[str, Any]) -> None:
    view = {"camera.per_column": 60, "camera.low": 0, "camera.high": 10, "camera.follow": False, "camera.first": 0}
    session = replace(session_of(Source("z-figure4"), "easy"), view={**view, **wrong})
    async with replay(session=session) as run:
        assert "the session's camera" in run.told


async def test_a_stop_that_cannot_be_read_is_reported_and_left_out() -> None:
    session = replace(session_of(Source("z-figure4"), "easy"), stops=("queue > lots", "queue > 1"))
    async with replay(session=session) as run:
        assert [stop.text for stop in run.screen.state.stops] == ["queue > 1"]
        assert "'queue > lots' is left out: expected a number" in run.told


async def test_session_is_unchanged_if_nothing_was_shown() -> None:
    session = replace(session_of(Source("z-figure4"), "easy"), step=4)
    async with replay(session=session) as run:
        run.screen.shown = None
        assert run.session == session


async def test_a_branch_that_cannot_grow_again_is_reported() -> None:
    async with replay("z-figure4", "easy") as run:
        await run.press("right", "f")
        session = run.session
    first, second = session.branches
    impossible = replace(session, branches=(first, replace(second, forked=99)))
    async with replay(session=impossible) as run:
        assert run.scene.branch == "main"
        assert "cannot be restored: main has no step 99" in run.told


# Search for a session
def some_session(**changed: Any) -> Session:
    return replace(session_of(Source("z-figure4"), "easy"), **changed)


def test_last_session_is_found_or_missing() -> None:
    with pytest.raises(SchedscopeError, match="there is no last session"):
        found_session("last")
    last_path().parent.mkdir(parents=True, exist_ok=True)
    write_session(some_session(step=3), last_path())
    assert found_session("last").step == 3


def test_a_file_that_is_called_last_is_meant(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_session(some_session(step=5), tmp_path / "last")
    assert found_session("last").step == 5


def test_a_trace_that_has_changed_is_refused(tmp_path: Path) -> None:
    trace = tmp_path / "t.swf"
    trace.write_text("; MaxProcs: 4\n1 0 -1 10 1 -1 -1 1 10\n")
    line = one_line(session_of(Source(str(trace)), "easy"))
    assert found_session(line).trace.name
    trace.write_text("; MaxProcs: 4\n1 0 -1 20 1 -1 -1 1 20\n")
    with pytest.raises(SchedscopeError, match=r"t\.swf"):
        found_session(line)
    trace.unlink()
    with pytest.raises(SchedscopeError, match=r"t\.swf"):
        found_session(line)


# Cameras and names

CAMERA = Camera.on(Source("lublin-128").read()[1], 80, 40)
KEPT = {
    "camera.per_column": 60,
    "camera.low": 8,
    "camera.high": 64,
    "camera.follow": True,
    "camera.first": 12,
    "camera.pages": True,
}


def test_a_camera_that_was_kept() -> None:
    found = camera_of(KEPT, CAMERA)
    assert (found.per_column, found.low, found.high, found.follow, found.first, found.pages) == (
        60, 8, 64, True, 12, True,
    )  # fmt: skip
    assert camera_of({**KEPT, "camera.by_event": True, "camera.per_column": 0.25}, CAMERA).by_event
    before = {name: value for name, value in KEPT.items() if name != "camera.pages"}
    assert not camera_of(before, CAMERA).pages


@pytest.mark.parametrize(
    "wrong",
    [
        {"camera.per_column": 0}, {"camera.per_column": "1h"}, {"camera.low": 64}, {"camera.high": 10**6},
        {"camera.low": -1}, {"camera.first": 0.5}, {"camera.high": None}, {"camera.per_column": 0.25},
        {"camera.first": 10**400},
    ],
    ids=str,
)  # fmt: skip
def test_a_camera_that_makes_no_sense_is_left_alone(wrong: dict[str, Any]) -> None:
    assert camera_of({**KEPT, **wrong}, CAMERA) == CAMERA


async def test_what_a_session_says_that_nobody_knows_is_reported() -> None:
    session = replace(session_of(Source("z-figure4"), "easy"), warnings=("line 9: nobody knows 'colours'",))
    async with replay(session=session) as run:
        assert "nobody knows 'colours'" in "\n".join(each.message for each in run.app._notifications)


WHOLE = session_text(
    Session(
        TraceRef.of("z-figure4", is_sample=True),
        {"load": 1.5, "jobs": 5, "seed": 7, "reserve": 0.5, "lead": "1h", "outage": "1h..2h: 0-3", "window": "0,1d"},
        "multiqueue:classes=100,speculate=20,speculate_over=30",
        "together",
        "fcfs",
        (
            BranchRecord("main", switches=(Switch(0, 600, parse_policy("easy")),)),
            BranchRecord("mine", "main", 4, (Switch(5, 25, parse_policy("gang:slice=50")),)),
            BranchRecord("fails", "mine", 5, (Switch(6, 26, parse_policy("fcfs"), breaks=(3, 900)),)),
        ),
        "mine",
        6,
        (Bookmark("here", "main", 3, "told"),),
        ("queue > 50", "job 2 starts"),
        {
            "clock": 37.5,
            "colour": "user",
            "speed": 3,
            "jump": "start",
            "hidden": "metrics strip",
            "selected": "2",
            "camera.per_column": 12.5,
            "camera.low": 1,
            "camera.high": 7,
            "camera.follow": False,
            "camera.first": 3,
            "camera.pages": True,
            "camera.by_event": False,
            "beside.branch": "main",
            "beside.step": 3,
            "beside.time": 15.0,
        },
    )
).splitlines()
VALUES = (
    "0", "1", "-1", "7", "1.5", "-0.0", "1e308", "1e-308", "9007199254740993", "9" * 400, "true", "false", '""', '"x"',
    "[]", '["a"]', "[" * 900, '"main"', '"mine"', '"nan"', '"easy"', '"recorded"', '"easy:order=./x.py"', '"J2 starts"',
    '"selective:tick=1e9"', '"9999d"', '"#3"', '"lublin-128"', '"/etc/passwd"', '"../x"', '"\\u202e"', '"[/x]"',
)  # fmt: skip


def open_to_its_end(lines: list[str]) -> None:
    session = parsed("\n".join(lines).encode(), "it")
    verify_trace(session)
    opening = reopened(session)
    ready = opening.prepare()
    view_of(session, ready.timeline.workload, ViewState())
    controller = ReplayController(RunView(ready.timeline))
    assert opening.restore is not None
    controller.obey(opening.restore, o.Wish(Camera.on(ready.timeline.workload, 80, 40)), lambda: False)


def test_the_session_that_is_changed_below_opens_as_it_is() -> None:
    open_to_its_end(WHOLE)


@examples(60)
@given(st.data())
def test_changed_session_opens_or_is_refused_in_one_line(data: st.DataObject) -> None:
    lines = list(WHOLE)
    for _ in range(data.draw(st.sampled_from([1, 1, 2, 4]))):
        valued = [at for at, line in enumerate(lines) if " = " in line]
        at = data.draw(st.sampled_from([*valued, *range(1, len(lines), 5)]))
        other, _, its = data.draw(st.sampled_from(lines)).partition(" = ")
        key = data.draw(st.sampled_from([*[lines[at].partition(" = ")[0]] * 4, other]))
        lines[at : at + data.draw(st.sampled_from([1, 1, 1, 0]))] = [
            f"{key} = {data.draw(st.sampled_from([*VALUES, its]))}"
        ]
    told = ""
    try:
        open_to_its_end(lines)
    except SchedscopeError as error:
        told = str(error)
    assert "\n" not in told
