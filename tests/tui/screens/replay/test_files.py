import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from sim.session.session import from_line, read_session
from tests.tui.replays import Replay, finished, replay
from tests.tui.screens.seeing import enter, find, noted, seen
from tui.app import Schedscope
from tui.cli import options
from tui.cli.main import commands
from tui.replay.opening import Opening
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


async def test_the_palette_copies_the_session_as_a_line() -> None:
    async with replay(at="#5") as run:
        await run.press("ctrl+p", *"copy the session")
        await finished(run.app)
        await run.press("enter")
        assert from_line(run.app.clipboard).step == 5


@pytest.mark.parametrize(("at", "told"), [("1107.6181118400018", "1108"), ("1099.7181118400018", "1099.7")])
async def test_command_has_the_shortest_time_of_the_same_step(at: str, told: str) -> None:
    async with replay(at=at) as run:
        await run.press("Y")
        assert run.app.clipboard == f"schedscope watch z-figure4 --policy easy --at {told}"


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ((), "schedscope watch z-figure4 --policy easy --at 600"),
        (("p", *"fcfs", "enter"), "schedscope watch z-figure4 --policy easy --switch 600=fcfs --at 600"),
        (
            ("g", *"700", "enter", "p", *"fcfs", "enter", "right", "p", *"firstfit", "enter", "right"),
            "schedscope watch z-figure4 --policy easy --switch 700=fcfs --switch 1100=firstfit --at 1200",
        ),
        (("p", *"fcfs", "enter", "left", "left", "f", "right"), "schedscope watch z-figure4 --policy easy --at 40"),
        (("P", *"conservative", "enter"), "schedscope watch z-figure4 --policy conservative --at 600"),
        (("X", "0", "enter"), "schedscope watch --session schedscope1:"),
        (("V", *"fcfs", "enter"), "schedscope watch --session schedscope1:"),
    ],
)
async def test_capital_y_copies_a_command_that_gives_the_same_schedule(
    keys: tuple[str, ...], expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with replay(at="600") as run:
        await run.press(*keys)
        await run.press("Y")
        copied, was = run.app.clipboard, await all_of(run)
    opened: list[Opening] = []
    monkeypatch.setattr("tui.app.open_replay", lambda opening, **given: opened.append(opening))
    monkeypatch.setattr(options, "needs_terminal", lambda what, without: None)
    assert copied.startswith(expected)
    CliRunner().invoke(commands, shlex.split(copied)[1:], standalone_mode=False, catch_exceptions=False)
    app = Schedscope(opened[0].prepare())
    async with app.run_test(size=(120, 36)) as pilot:
        again = Replay(app, pilot)
        await again.settle()
        assert await all_of(again) == was


async def all_of(run: Replay) -> tuple[object, ...]:
    """Return the moment that is shown, and when each job starts and ends."""
    shown = run.scene.snapshot
    moment = run.scene.clock, [out.job for out in shown.running], [out.job for out in shown.queue], shown.policy
    await run.press("end")
    await run.complete()
    assert run.app.opened is not None
    schedule = run.app.opened.timeline.branch.engine.schedule()
    return *moment, schedule.start.tolist(), schedule.end.tolist()


async def test_y_copies_the_row_the_reason_or_the_sentence() -> None:
    async with replay(at="#5") as run:
        copied = []
        for key in ("escape", "w", "tab", "tab"):
            await run.press(key)
            await run.press("y")
            copied.append(run.app.clipboard)
        reason = "J3 is first in the queue: needs 8 > 0 free. Planned for 00:20:00. J1 and J2 will have ended by then."
        assert copied == [f"{reason} 2 jobs wait behind it.", reason, "3 8 20s 8 > 0, from 00:20:00", "J5 arrives"]
        assert "copied: " in noted(run)


async def test_text_is_marked_with_the_mouse_and_copied() -> None:
    async with replay(at="#5") as run:
        at = find(run, "#sentence", "J3")
        await run.pilot.mouse_down("#sentence", offset=at)
        await run.pilot.hover("#sentence", offset=(at.x + 5, at.y))
        await run.pilot.mouse_up("#sentence", offset=(at.x + 5, at.y))
        await run.press("y")
        assert run.app.clipboard == "J3 is"


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
