"""Protocol of the replay screen: what its controllers may use."""

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
    """Part of the replay screen that its controllers use."""

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
        """Return the scene that the panels show; None before the first one is computed."""

    @property
    def policy(self) -> Policy: ...

    @property
    def places(self) -> Layout | None: ...

    @property
    def available(self) -> frozenset[str]:
        """Return the names of the panels that have content."""

    @property
    def answers(self) -> Answers: ...

    @property
    def in_focus(self) -> str | None:
        """Return the name of the panel or chart that has the focus, or None."""

    def change(self, **changed: Any) -> None:
        """Change fields of the screen's `ViewState`, and draw the screen."""

    def select(self, rank: int | None) -> None:
        """Select this job in all parts of the screen; None selects no job."""

    def wish(self) -> None:
        """Tell the worker which part of the run is visible and how, so that it computes matching scenes."""

    def ask(self, order: Order) -> None:
        """Send a request to the worker, and deselect the selected decision."""

    def go(self, *orders: Order) -> None:
        """Pause playback, and send these requests to the worker."""

    def pause(self) -> None: ...

    def see(self, window: tuple[float, float] | None) -> None:
        """Show this span of time (begin, end) in both charts; None shows the view with which a replay begins."""

    def tell(self, told: str) -> None:
        """Show a message in the line below the chart, until the user does something."""

    def fail(self, what: str) -> None:
        """Show the message that an action is impossible, and ring the bell."""

    def open(self, dialog: ModalScreen[T | None], then: Callable[[T], object] = lambda answer: None) -> None:
        """Open a dialog, and call `then` with its answer unless it is closed without one."""

    def move_focus(self, by: int) -> None: ...

    def screenshot(self) -> str:
        """Return a picture of the screen as SVG."""

    def post_message(self, message: Message) -> bool:
        """Send a message to the program; return False if the screen is closing and the message is dropped."""
