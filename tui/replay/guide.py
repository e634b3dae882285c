"""Guide through a replay, such as a lesson, as the screen knows it: its words, and what keys and clicks mean to it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from sim.engine.snapshot import Snapshot
from tui.chart.scene import Mark
from tui.look.sheets import Line
from tui.replay.requests import Veil


class Guiding(Protocol):
    """Controller of a guide. As of every controller of the screen, its public methods are actions."""

    def guide_show(self) -> None:
        """Show the place of the guide in all parts of the screen."""

    def guide_pick(self, rank: int | None, time: float | None) -> None:
        """Take a click on a job or a time."""


class Guide(Protocol):
    """Guide with the user's place in it, as a value."""

    @property
    def is_off(self) -> bool:
        """Return True while the user explores the run, with the usual keys."""

    @property
    def veil(self) -> Veil: ...

    @property
    def marks(self) -> tuple[Mark, ...]: ...

    @property
    def hint(self) -> str:
        """Return how to answer the open question; "" if there is none."""

    @property
    def help(self) -> tuple[str, Sequence[tuple[str, str]]]:
        """Return the group of its keys in the help."""

    def off(self) -> Guide: ...

    def controller(self, screen: Any, now: Callable[[], float]) -> Guiding: ...

    def action(self, key: str, letter: str | None) -> str | None:
        """Return the action of a key, or None if it has its usual one. `letter` is the character that it types."""

    def words(self, width: int, shown: Snapshot | None) -> list[Line]: ...

    def keys(self, width: int) -> Line: ...

    def publish(self) -> None:
        """Tell other programs of this user where a presentation stands."""

    def unpublish(self) -> None: ...
