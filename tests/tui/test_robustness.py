"""Failures around the program: it is killed, files vanish or are damaged, the terminal gets smaller.

Also tests tui.app, tui.sessions.session_manager.
"""

import gzip
from pathlib import Path
from typing import Any

import pytest

from sim.session.session import read_session
from sim.support.errors import SchedscopeError
from sim.workload.source import Source
from tests.tui.replays import replay
from tests.tui.terminals import terminal
from tui.app import Schedscope
from tui.look.settings import FOLDER_VARIABLE, load, settings_path
from tui.replay import requests as o
from tui.sessions.autosave import STATE, offer, state_folder
from tui.sessions.session_conversion import found_session, last_path
from tui.sessions.session_manager import AUTOSAVE, SessionManager

JOB = "1 0 -1 10 4 -1 -1 4 10\n"
KEYS = (
    *("right", "left", "space", "space", "end", "home", "w", "right_square_bracket", "tab", "m", "full_stop", "comma"),
    *("R", "R", "i", "escape", "question_mark", "escape", "f", "r", "d", "escape"),
)


def steps_saved() -> int:
    saved = [read_session(path).step for path in state_folder().glob("*.session")]
    return saved[0] if saved else -1


# Kills and exits
async def test_a_program_that_was_killed_while_it_played_is_offered_again() -> None:
    with terminal("lublin-128", "--policy", "conservative") as at:
        at.wait_for(lambda: steps_saved() == 0)
        at.type(" ")
        for least in (1, steps_saved() + 10):
            at.wait_for(lambda least=least: steps_saved() > least)  # type: ignore[misc]
        at.program.kill()
        at.wait()
    assert AUTOSAVE <= 3
    step = steps_saved()
    async with replay("z-figure4") as run:  # another trace, which nothing covers
        await run.press("right")
        await run.wait_for(lambda: len([*state_folder().glob("*.session")]) == 2)
        assert (run.step, run.told, run.app.screen) == (1, "", run.screen)
    async with replay("lublin-128") as run:
        await run.wait_for(lambda: "The last session ended unexpectedly" in run.text)
        assert f"conservative, step {step} of main" in run.text
        await run.pilot.press("c")
        await run.wait_for(lambda: run.screen.scene and run.scene.snapshot.policy == "conservative")
        await run.settle()
        assert run.step == step
        assert offer() is None


async def test_postponed_session_is_offered_again_a_refused_one_not() -> None:
    with terminal("z-figure4", "--at", "#0") as at:
        at.wait_for(lambda: steps_saved() == 0)
    for answer, is_there in (("n", True), ("d", False)):
        async with replay("z-figure4") as run:
            await run.wait_for(lambda run=run: "The last session ended unexpectedly" in run.text)  # type: ignore[misc]
            await run.press(answer)
            assert (offer() is not None) == is_there


async def test_closed_program_offers_nothing_but_restores_on_request() -> None:
    with terminal("z-figure4", "--at", "#0") as at:
        at.wait_for(lambda: steps_saved() == 0)
        at.type("\x1b[C" * 3)
        at.wait_for(lambda: steps_saved() == 3)
        at.type("q")
        assert at.wait() == 0
    assert offer() is None
    assert [path.name for path in state_folder().iterdir()] == [last_path().name]
    async with replay(session=found_session("last")) as run:
        assert run.step == 3


# Traces
@pytest.mark.parametrize("jobs", ["", JOB], ids=["no job", "one job as wide as the machine"])
async def test_tiny_traces_can_be_replayed_with_every_key(tmp_path: Path, jobs: str) -> None:
    trace = tmp_path / "tiny.swf"
    trace.write_text(f"; MaxProcs: 4\n{jobs}")
    async with replay(str(trace)) as run:
        await run.press(*KEYS)
        await run.ask(o.GoTo(99))
        assert run.step == (2 if jobs else 0)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("gone.swf", None, "gone.swf: no such file"),
        ("poem.swf", b"Shall I compare thee\n", "poem.swf:1: "),
        ("cut.swf.gz", gzip.compress(f"; MaxProcs: 4\n{JOB * 500}".encode(), mtime=0)[:-20], "cut.swf.gz: "),
        ("nothing.swf", b"", "nothing.swf"),
        (".", None, "directory"),
    ],
)
async def test_an_unreadable_trace_changes_nothing(tmp_path: Path, name: str, content: bytes | None, said: str) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    async with replay("z-figure4") as run:
        await run.press("right", "right")
        await run.do(f"open_trace({str(tmp_path / name)!r})")
        await run.wait_for(lambda: run.told)
        assert said in run.told
        assert (run.screen.about.trace, run.step) == ("z-figure4", 2)


async def test_a_trace_that_vanishes_while_opened_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trace = tmp_path / "t.swf"
    trace.write_text(f"; MaxProcs: 4\n{JOB}")
    read = Source.read_trace

    def read_and_lose(source: Source, *given: Any) -> object:
        found = read(source, *given)
        trace.unlink()
        return found

    async with replay("z-figure4") as run:
        monkeypatch.setattr(Source, "read_trace", read_and_lose)
        await run.do(f"open_trace({str(trace)!r})")
        await run.wait_for(lambda: run.told)
        assert "t.swf" in run.told
        await run.press("right")
        assert run.step == 1


async def test_vanished_trace_plays_on_but_cannot_be_saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SessionManager, "save_now", lambda manager: None)
    monkeypatch.setattr(SessionManager, "_save_on_time", lambda manager: None)  # it might still have read the trace
    trace = tmp_path / "t.swf"
    trace.write_text(f"; MaxProcs: 4\n{JOB}")
    async with replay(str(trace)) as run:
        trace.unlink()
        for key in ("Y", "s"):
            await run.press(key)
        await run.press("enter")
        assert "t.swf" in run.told
        assert not list(tmp_path.iterdir())
        await run.press("right")
        assert run.step == 1


# A policy
async def test_a_policy_that_breaks_is_reported_and_can_be_replaced(broken: str) -> None:
    async with replay("z-figure4", broken) as run:
        await run.complete()
        assert "broken failed after step 5" in run.told
        await run.press("end")
        assert run.step == 5
        await run.do("use_policy('easy')")
        await run.settle()
        await run.press("end")
        assert run.scene.snapshot.totals.finished == 5


# The terminal
async def test_a_terminal_that_shrinks_and_grows_again_loses_nothing() -> None:
    async with replay("lublin-128", "easy") as run:
        await run.ask(o.GoTo(200))
        run.screen.select(run.scene.snapshot.running[0].job.rank)
        run.screen.chart.focus()
        await run.press("plus", "shift+left")
        await run.complete()

        async def resize(*sizes: tuple[int, int]) -> None:
            for size in sizes:
                await run.pilot.resize_terminal(*size)
                await run.wait_for(lambda size=size: run.screen.size == size)  # type: ignore[misc]
                await run.settle()

        await resize((200, 60), (120, 36))  # until then, panels keep rows that they needed before
        before = (run.screen.state.selected, run.step, run.screen.chart.camera, run.text)
        await resize((20, 5), (1, 1), (200, 60), (120, 36))
        await run.wait_for(lambda: run.text == before[-1])
        assert (run.screen.state.selected, run.step, run.screen.chart.camera, run.text) == before


@pytest.mark.parametrize("size", [(1, 1), (20, 5), (80, 24)])
async def test_on_any_screen_every_key_can_be_pressed(size: tuple[int, int]) -> None:
    async with replay("lublin-128", "easy", size=size) as run:
        await run.press(*KEYS)
        assert run.screen.size == size


async def test_ctrl_c_says_what_quits_without_markup() -> None:
    async with replay("lublin-128", "easy", size=(80, 24)) as run:
        await run.press("ctrl+c")
        assert run.told == "q quits"


# Settings
@pytest.mark.parametrize("content", ["{", "[]", '{"look": 3, "speed": "fast"}', "\0"])
async def test_damaged_settings_are_reported_and_the_usual_ones_used(content: str) -> None:
    settings_path().write_text(content)
    async with replay("z-figure4") as run:
        assert "settings.json" in run.told
        await run.press("right")
        assert run.step == 1


def test_two_programs_keep_what_each_of_them_was_told() -> None:
    one, other = Schedscope(None), Schedscope(None)
    one.remember(lambda settings: settings.with_lesson("backfilling", 3))
    other.remember(lambda settings: settings.with_policy("slack"))
    one.remember(lambda settings: settings.with_recent("kth.swf"))
    kept, problem = load(settings_path())
    assert (dict(kept.lessons), kept.policies, kept.recent) == ({"backfilling": 3}, ("slack",), ("kth.swf",))
    assert problem is None


async def test_where_nothing_can_be_kept_it_works_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / "file"))
    monkeypatch.setenv(STATE, str(tmp_path / "file"))
    async with replay("z-figure4") as run:
        await run.wait_for(lambda: "no autosaves" in run.told)
        await run.do("use_policy('fcfs')")
        await run.settle()
        assert "the settings are not kept" in run.told
        assert run.scene.snapshot.policy == "fcfs"
    with pytest.raises(SchedscopeError, match="no last session"):
        found_session("last")


@pytest.mark.parametrize("key", ["m", "5"])
async def test_focus_moves_on_from_an_empty_panel(key: str) -> None:
    async with replay("z-figure4", "easy", size=(80, 24)) as run:
        for onwards in ("tab", "shift+tab"):
            await run.press(key, onwards)
            assert run.screen.state.over in (None, *run.screen.available)


@pytest.mark.parametrize("key", ["v", "V"])
async def test_a_trace_without_jobs_can_be_compared(key: str, tmp_path: Path) -> None:
    trace = tmp_path / "tiny.swf"
    trace.write_text("; MaxProcs: 4\n")
    async with replay(str(trace)) as run:
        await run.press(key, *"fcfs", "enter")
        await run.press("right", "d", "end", "home", "4", "5", "w", "W", "r")
        assert run.screen.shown is not None
        assert run.screen.shown.beside is not None
        assert "Error" not in run.told
