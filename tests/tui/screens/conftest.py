"""Fixtures: a dialog on a screen of its own, and a user of it."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import pytest
from textual.app import App
from textual.events import Paste
from textual.pilot import Pilot
from textual.screen import ModalScreen

from tests.tui.replays import finished, painted, rows_of
from tui.look.palette import DARK
from tui.look.themes import theme_name, themes


class Asker(App[None]):
    """An app that shows one dialog and keeps its answer."""

    def __init__(self, dialog: ModalScreen[Any]) -> None:
        super().__init__()
        self.dialog = dialog
        self.answers: list[Any] = []

    def on_mount(self) -> None:
        for theme in themes():
            self.register_theme(theme)
        self.theme = theme_name(DARK)
        self.push_screen(self.dialog, self.answers.append)

    @property
    def text(self) -> str:
        return "\n".join(rows_of(self.screen))


class Person:
    """A user of the dialog: presses keys, clicks and reads."""

    def __init__(self, pilot: Pilot[None], app: Asker) -> None:
        self.pilot, self.app = pilot, app

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await painted(self.pilot)

    async def type(self, text: str) -> None:
        await self.press(*(" " if key == " " else key for key in text))

    async def paste(self, text: str) -> None:
        self.app.screen.post_message(Paste(text))
        await painted(self.pilot)

    async def click(self, selector: str, offset: tuple[int, int] = (0, 0)) -> None:
        await self.pilot.click(selector, offset=offset)
        await painted(self.pilot)

    async def wait(self) -> str:
        await finished(self.app)
        await painted(self.pilot)
        return self.app.text

    @property
    def text(self) -> str:
        return self.app.text

    @property
    def answers(self) -> list[Any]:
        return self.app.answers


Ask = Callable[..., AbstractAsyncContextManager[Person]]


@pytest.fixture
def ask() -> Ask:
    @asynccontextmanager
    async def asking(dialog: ModalScreen[Any], size: tuple[int, int] = (120, 36)) -> AsyncIterator[Person]:
        app = Asker(dialog)
        async with app.run_test(size=size) as pilot:
            await painted(pilot)
            yield Person(pilot, app)

    return asking
