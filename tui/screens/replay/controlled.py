"""Interface of the replay screen that its controllers use."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from textual.message import Message
from textual.screen import ModalScreen

from sim.policies import Policy
from tui.look.palette import Look
from tui.replay.file_watch import FileWatch
from tui.replay.requests import Order, Scenes
from tui.replay.scene import About, Scene
from tui.replay.worker import Player
from tui.screens.replay.layout import Layout
from tui.screens.replay.state import ViewState
from tui.widgets.gantt import Gantt

if TYPE_CHECKING:
    from tui.screens.dialogs.prompt import Answers

T = TypeVar("T")


class ControlledScreen(Protocol):
    """Replay screen as its controllers see it."""

    about: About
    look: Look
    state: ViewState
    shown: Scenes | None
    player: Player
    files: FileWatch

    @property
    def charts(self) -> tuple[Gantt, Gantt]: ...

    @property
    def scene(self) -> Scene | None: ...

    @property
    def told(self) -> Scene | None:
        """Return the scene that the panels show: of the watched run or of the other run."""

    @property
    def policy(self) -> Policy: ...

    @property
    def places(self) -> Layout | None: ...

    @property
    def available(self) -> frozenset[str]:
        """Return the panels that have something to show."""

    @property
    def answers(self) -> Answers: ...

    @property
    def in_focus(self) -> str | None:
        """Return the panel or chart that has the focus."""

    def change(self, **changed: Any) -> None:
        """Change fields of the `ViewState`."""

    def select(self, rank: int | None) -> None:
        """Select this job everywhere, or none."""

    def wish(self) -> None:
        """Send the current view to the worker, which then makes scenes of it."""

    def ask(self, order: Order) -> None:
        """Send a request to the worker; a decision selected within the step is deselected."""

    def go(self, *orders: Order) -> None:
        """Pause, and send these requests to the worker."""

    def pause(self) -> None: ...

    def see(self, window: tuple[float, float] | None) -> None:
        """Show the time between two points in the charts; None restores the first view."""

    def tell(self, told: str) -> None:
        """Show a message in the line under the chart, until the user's next action."""

    def fail(self, what: str) -> None:
        """Show the error message for an action that is impossible."""

    def open(self, dialog: ModalScreen[T | None], then: Callable[[T], object] = lambda answer: None) -> None:
        """Open a dialog; call `then` with its answer unless it is closed without one."""

    def move_focus(self, by: int) -> None: ...

    def screenshot(self) -> str:
        """Return the current screen as an SVG."""

    def post_message(self, message: Message) -> bool:
        """Send the message to the program."""
