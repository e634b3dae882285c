import shlex
from pathlib import Path

import pytest

from sim.session.session import from_line, read_session
from tests.tui.replays import Replay, replay
from tests.tui.screens.seeing import enter, noted, seen
from tui.screens.dialogs.choice import ChoiceDialog
from tui.screens.dialogs.prompt import Prompt
from tui.screens.dialogs.trace_picker import TracePicker
from tui.screens.replay.screen import ReplayScreen
from tui.sessions import session_manager
from tui.sessions.session_conversion import found_session

pytestmark = pytest.mark.usefixtures("folder")


async def test_t_opens_another_trace_under_the_same_policy() -> None:
    async with replay(policy="conservative", at="#4") as run:
        await run.press("F")
        assert isinstance(run.app.screen, TracePicker)
        await enter(run, "w-figure1")
        await run.wait_for(lambda: run.screen.about.trace == "w-figure1" and run.screen.scene)
        await run.settle()
        assert "w-figure1" in seen(run, "#top")
        assert "conservative" in seen(run, "#top")
        assert run.step == 0
        assert run.app.settings.recent == ("w-figure1",)


async def test_s_saves_a_session_that_brings_the_moment_back(folder: Path) -> None:
    async with replay(at="#5") as run:
        await run.press("slash", "4", "enter", "2", "s", "enter")
        assert "schedscope --session z-figure4.session" in noted(run)
    async with replay(session=read_session("z-figure4.session")) as again:
        assert again.step == 5
        assert "J4" in seen(again, "#details")
        assert seen(again, "#decisions") == ""


async def test_the_command_that_brings_it_back_can_be_pasted(folder: Path) -> None:
    async with replay() as run:
        await run.press("s")
        await enter(run, "[@click=app.quit] it's.session")
        command = noted(run).split("saved: ")[1].split("\n")[0]
    assert read_session(shlex.split(command)[2]).policy == "easy"


async def test_a_session_is_not_saved_where_no_file_can_be(folder: Path) -> None:
    async with replay() as run:
        await run.press("s")
        for path, told in (
            ("nowhere/at-all.session", "nowhere/at-all.session: its directory does not exist"),
            (".", ".: is a directory"),
            ("x" * 300, ""),
        ):
            await enter(run, path)
            assert told in run.text
            if isinstance(run.app.screen, Prompt):
                await run.press("ctrl+u")
        assert list(folder.iterdir()) == []


async def test_name_of_a_trace_with_a_dot_is_kept(folder: Path) -> None:
    async with replay("k-figure2.1-2.2") as run:
        await run.press("s", "enter")
        assert [path.name for path in folder.iterdir()] == ["k-figure2.1-2.2.session"]


async def test_capital_y_copies_the_session_as_a_line() -> None:
    async with replay(at="#5") as run:
        await run.press("Y")
        assert from_line(run.app.clipboard).step == 5


async def test_capital_s_saves_a_picture_of_the_screen(folder: Path) -> None:
    async with replay(at="#5") as run:
        await run.press("S")
        assert isinstance(run.app.screen, ChoiceDialog)
        await run.press("s", "enter")
        assert "saved z-figure4-5.svg" in noted(run)
    picture = (folder / "z-figure4-5.svg").read_text()
    assert picture.startswith("<svg")
    assert "Decisions" in picture


async def test_capital_s_saves_the_chart_as_a_drawing(folder: Path) -> None:
    async with replay(at="#5") as run:
        await run.press("S", "c")
        await enter(run, "chart.svg")
        assert "saved chart.svg" in noted(run)
    picture = (folder / "chart.svg").read_text()
    assert picture.startswith("<svg")
    assert "Decisions" not in picture


async def test_a_picture_is_an_svg(folder: Path) -> None:
    async with replay() as run:
        await run.press("S", "s")
        await enter(run, "screen.png")
        assert "ends in .svg" in run.text
        assert list(folder.iterdir()) == []


LOOKS = [("l", "light", "colour"), ("c", "contrast", "colour"), ("2", "dark", "mono"), ("3", "dark", "ascii")]


@pytest.mark.parametrize(("key", "name", "mode"), LOOKS)
async def test_capital_t_shows_everything_in_another_look(key: str, name: str, mode: str) -> None:
    async with replay(at="#5") as run:
        await run.press("T")
        assert isinstance(run.app.screen, ChoiceDialog)
        await run.press(key)
        assert (run.app.look.name, run.app.look.mode) == (name, mode)
        assert run.text.isascii() == (mode == "ascii")
        assert (run.app.settings.look, run.app.settings.mode) == (name, mode)
        await run.press("T")
        marked = [row for row in run.text.splitlines() if row.rstrip().endswith("(now)")]
        assert [word in row for word, row in zip((name, mode), marked, strict=True)] == [True, True]


async def test_a_look_is_another_ground_under_everything() -> None:
    async with replay(at="#5") as run:
        before = grounds(run)
        await run.press("T", "l")
        assert not before & grounds(run)


def grounds(run: Replay) -> set[str]:
    strips = run.app.screen._compositor.render_strips()
    styles = [segment.style for strip in strips for segment in strip]
    return {style.bgcolor.name for style in styles if style is not None and style.bgcolor is not None}


async def test_q_leaves_and_the_last_session_is_kept() -> None:
    async with replay(at="#5") as run:
        await run.wait_for(lambda: run.app.session_manager._autosave)  # autosaves begin shortly after the first frame
        await run.pilot.press("q")
        await run.wait_for(lambda: run.app._exit)
    async with replay(session=found_session("last")) as again:
        assert again.step == 5


async def test_q_asks_where_the_last_session_cannot_be_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    async with replay(at="#5") as run:
        monkeypatch.setattr(session_manager, "last_path", lambda: Path("/dev/null/last.session"))
        await run.pilot.press("q")
        await run.wait_for(lambda: isinstance(run.app.screen, ChoiceDialog))
        assert "the current state is lost" in run.text
        await run.press("s")
        assert isinstance(run.app.screen, Prompt)
        await run.press("escape", "q", "q")
        await run.wait_for(lambda: run.app._exit)


async def test_q_before_the_first_step_has_nothing_to_lose(monkeypatch: pytest.MonkeyPatch) -> None:
    async with replay() as run:
        monkeypatch.setattr(session_manager, "last_path", lambda: Path("/dev/null/last.session"))
        await run.pilot.press("q")
        await run.wait_for(lambda: run.app._exit)


async def test_the_palette_finds_what_has_no_key() -> None:
    async with replay(at="#5") as run:
        await run.pilot.press("ctrl+p", *"y: mbgs")
        await run.wait_for(lambda: "Short for" in run.text)
        await run.pilot.press("enter")
        await run.wait_for(lambda: isinstance(run.app.screen, ReplayScreen))
        await run.settle()
        assert "gang-migrate-backfill" in seen(run, "#top")
