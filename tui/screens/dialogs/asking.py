"""Base of screens that ask questions in dialogs, and remember earlier answers."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from textual.screen import ModalScreen, Screen

from sim.support.errors import SchedscopeError
from tui.screens.dialogs.dialog import is_on_top

if TYPE_CHECKING:
    from tui.screens.dialogs.prompt import Answers

T = TypeVar("T")


class AskingScreen(Screen[None]):
    @cached_property
    def answers(self) -> Answers:
        from tui.screens.dialogs.prompt import Answers

        return Answers()

    def open(self, dialog: ModalScreen[T | None], then: Callable[[T], object] = lambda answer: None) -> None:
        """Open a dialog, and call `then` with its answer unless it is closed without one."""

        def answered(answer: T | None) -> None:
            if answer is not None:
                try:
                    then(answer)
                except SchedscopeError as error:
                    self.notify(str(error), severity="error", timeout=12)

        if is_on_top(self):
            self.app.push_screen(dialog, answered)
