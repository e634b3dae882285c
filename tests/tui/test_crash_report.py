from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from textual._context import active_message_pump
from textual.app import ComposeResult
from textual.css.query import NoMatches
from textual.events import Key, MouseDown, MouseMove, MouseUp
from textual.screen import Screen
from textual.widgets import Static
from textual.worker import WorkerFailed

from tests.tui.replays import wait_until
from tui.crash_report import Guarded, is_closed, report
from tui.look.palette import DARK
from tui.screens.dialogs.choice import ChoiceDialog
from tui.screens.first.page import MenuEntry
from tui.screens.first.screen import FirstScreen
from tui.sessions.autosave import state_folder


class Failing(Screen[None]):
    """A screen with a widget that fails a little later; the key x closes the screen, and then fails."""

    BINDINGS = [("x", "close_and_fail")]  # noqa: RUF012

    def compose(self) -> ComposeResult:
        yield Static("x", id="it")

    def fail_later(self) -> None:
        self.query_one("#it").call_later(self._fail)

    def action_close_and_fail(self) -> None:
        self.app.pop_screen()
        self._fail()

    def _fail(self) -> None:
        raise ValueError("late")


async def test_what_fails_after_its_screen_has_closed_is_no_fault() -> None:
    app = Guarded()
    async with app.run_test() as pilot:
        screen = Failing()
        await app.push_screen(screen)
        assert not is_closed(screen.query_one("#it"))
        screen.fail_later()
        app.pop_screen()
        assert is_closed(screen)
        await pilot.pause()
        assert app._exception is None


async def test_a_key_that_reaches_a_closed_screen_late_is_no_fault() -> None:
    app = Guarded()
    async with app.run_test():
        screen = Failing()
        await app.push_screen(screen)
        await app.pop_screen()
        try:
            screen.query_one("#it")
            screen.query_one("#gone")
        except NoMatches as error:
            assert active_message_pump.get(None) is app
            app._handle_exception(error)
        assert app._exception is None


async def test_the_program_hears_further_keys_after_a_late_one() -> None:
    app = Guarded()
    async with app.run_test() as pilot:
        await app.push_screen(Failing())
        await pilot.press("x")
        assert not isinstance(app.screen, Failing)
        await app.push_screen(after := Failing())
        await pilot.press("x")
        assert is_closed(after)
        assert app._exception is None


async def test_a_click_on_a_widget_that_was_just_removed_is_dropped() -> None:
    app = Guarded()
    async with app.run_test() as pilot:
        screen = Failing()
        await app.push_screen(screen)
        await pilot.pause()
        gone = screen.query_one("#it")
        x, y = gone.region.offset
        parent = gone._parent
        assert parent is not None
        gone._detach()
        assert app.get_widget_at(x, y)[0] is gone
        for event in (MouseDown, MouseMove, MouseUp):
            app.post_message(event(None, x, y, 0, 0, 1, False, False, False, x, y))
        await pilot.pause()
        gone._attach(parent)
        assert app._exception is None


@asynccontextmanager
async def ending(screen: Callable[[], Screen[Any]]) -> AsyncIterator[Screen[Any]]:
    """Open a screen in a program that ends at that moment; Textual gives it none of its widgets."""
    app = Guarded()
    async with app.run_test():
        coming = app.push_screen(opened := screen())
        app.exit()
        await coming
        assert not opened.children
        yield opened
        assert app._exception is None


async def test_menu_opened_as_the_program_ends_is_no_fault() -> None:
    async with ending(lambda: FirstScreen([MenuEntry("file", "", "a file")], [], DARK, False)):
        pass


async def test_key_for_a_dialog_as_the_program_ends_is_no_fault() -> None:
    async with ending(lambda: ChoiceDialog("Theme", [("d", "dark", "for a dark terminal")])) as dialog:
        dialog.post_message(Key("z", "z"))
        await wait_until(dialog._message_queue.empty)


async def failing(app: Guarded) -> None:
    async with app.run_test() as pilot:
        screen = Failing()
        await app.push_screen(screen)
        screen.fail_later()
        await pilot.pause()


async def test_what_fails_in_an_open_screen_is_reported(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ValueError, match="late"):
        await failing(Guarded())
    assert "internal error: ValueError('late')" in capsys.readouterr().err


def test_report_shows_where_a_thread_failed() -> None:
    def fail() -> None:
        raise ValueError("in a thread")

    with pytest.raises(ValueError, match="in a thread") as found:
        fail()
    told = report(WorkerFailed(found.value))
    assert told.startswith("internal error: ValueError('in a thread'); the report is in ")
    assert "in fail" in (state_folder() / "fault.log").read_text()
