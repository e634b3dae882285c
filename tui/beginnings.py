"""Start of the program with a puzzle or a game instead of a replay; when the puzzle or game is closed, the program's
menu appears.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from io import StringIO
from typing import Any, TypeAlias

from textual.screen import Screen

from tui.app import Schedscope
from tui.look.palette import Look
from tui.shutdown import close_the_gone, is_gone

Begin: TypeAlias = Callable[[Look, bool], Screen[Any]]
"""Function that returns the first screen. Its arguments are the look, and True if the user has no files on this machine
(a guest).
"""


class Begun(Schedscope):
    """Program that begins with a puzzle or a game, shown on top of the menu."""

    def __init__(self, begin: Begin) -> None:
        super().__init__(None)
        self._begin = begin

    def on_mount(self) -> None:
        self.call_after_refresh(self._show_begin)

    def _settle(self) -> None:
        """Save sessions that are opened later, but offer no crashed session, which would cover the puzzle or game."""
        self.session_manager.begin(is_new=False)

    def _show_begin(self) -> None:
        self.push_screen(self._begin(self.look, self.guest is not None))


def open_at(begin: Begin) -> int:
    """Run the program beginning with the screen that `begin` returns; return its exit code."""
    app = Begun(begin)
    sys.stdin = StringIO()
    app.run()
    if is_gone():
        close_the_gone()
    return app.return_code or 0
