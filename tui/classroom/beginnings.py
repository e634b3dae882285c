"""Start of the program with a puzzle or a game; when that is closed, the program's menu appears."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from textual.screen import Screen

from tui.app import Schedscope, run_app
from tui.look.palette import Look

Begin: TypeAlias = Callable[[Look, bool], Screen[Any]]
"""Function that returns the first screen for the look; True for a guest, without files on this machine."""


class Begun(Schedscope):
    """Program that begins with a puzzle or a game, shown on top of the menu."""

    def __init__(self, begin: Begin) -> None:
        super().__init__(None)
        self._begin = begin

    def show_begin(self) -> None:
        super().show_begin()
        self.push_screen(self._begin(self.look, self.guest is not None))


def open_at(begin: Begin) -> int:
    return run_app(Begun(begin))
