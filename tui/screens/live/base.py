"""Base of the screen for an observed cluster: what its searches in other files use of it, and its dialogs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from textual.screen import ModalScreen, Screen

from sim.errors import SchedscopeError
from tui.live.scene import LiveContext
from tui.live.watch import Watch
from tui.screens.live.state import LiveState

if TYPE_CHECKING:
    from tui.screens.dialogs.prompt import Answers

T = TypeVar("T")


class ClusterScreen(Screen[None]):
    """Screen of an observed cluster, with a watch that observes it and the choices of the user."""

    watch_: Watch
    state: LiveState
    _answers: Answers | None = None

    @property
    def context(self) -> LiveContext | None:
        """Return the input of the panels; None before the first poll."""
        raise NotImplementedError

    def change(self, **changed: Any) -> None:
        """Change fields of the screen's state, and draw the screen."""
        raise NotImplementedError

    def wish(self) -> None:
        """Ask the threads for a scene with what the user has chosen to see."""
        raise NotImplementedError

    def choose(self, rank: int) -> None:
        """Select the job with this rank."""
        raise NotImplementedError

    @property
    def answers(self) -> Answers:
        if self._answers is None:
            from tui.screens.dialogs.prompt import Answers

            self._answers = Answers()
        return self._answers

    def open(self, dialog: ModalScreen[T | None], then: Callable[[T], object]) -> None:
        """Open a dialog, and call `then` with its answer unless it is closed without one."""

        def answered(answer: T | None) -> None:
            if answer is not None:
                try:
                    then(answer)
                except SchedscopeError as error:
                    self.notify(str(error), severity="error", timeout=12)

        self.app.push_screen(dialog, answered)
