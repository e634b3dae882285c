"""Base class of dialogs, which have the same frame, close with Escape, and wrap their text."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, ClassVar, TypeAlias, TypeVar

from textual._styles_cache import StylesCache
from textual.await_complete import AwaitComplete
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.geometry import Size
from textual.screen import ModalScreen, Screen
from textual.widget import Widget

from tui.look.sheets import Line
from tui.look.text import drawn

Answer = TypeVar("Answer")

WIDE = 100
"""Width of the screen in columns from which lists also show descriptions."""
HIGH = 24
"""Height of the screen in rows from which dialogs show what is convenient, but not needed."""

Draw: TypeAlias = Callable[[int], Iterable[Line]]
"""Function that returns the lines of a text, for a given width in columns."""

STYLES = {
    "dim": "$text-muted", "faint": "$text-disabled", "strong": "bold", "title": "bold", "italic": "italic",
    "accent": "$text-accent bold", "key": "$text-accent bold", "good": "$text-success", "warn": "$text-warning",
    "bad": "$text-error",
}  # fmt: skip
"""For each name of a style in `tui.look.sheets`: the style in Textual's theme."""


def is_on_top(screen: Screen[Any]) -> bool:
    """Return True if no other screen is above; Textual's `is_current` is True for screens below, too."""
    return screen.app.screen is screen


class ClosesOnce(Screen[Answer]):
    """Screen that can be closed only once, and only while it is on top of all others."""

    def dismiss(self, result: Answer | None = None) -> AwaitComplete:
        """Close the screen with this answer; do nothing if it is not on top, because it is closing already."""
        return super().dismiss(result) if is_on_top(self) else AwaitComplete()

    def on_unmount(self) -> None:
        """Free the drawn lines of the screen's widgets: Textual's cache would keep those of the last 1,024 widgets."""
        StylesCache.get_inner_outer.cache_clear()


class Dialog(ClosesOnce[Answer], ModalScreen[Answer]):
    CSS_PATH = "pickers.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss", "Close")]
    HORIZONTAL_BREAKPOINTS: ClassVar[list[tuple[int, str]] | None] = [  # type: ignore[misc]  # declared the other way
        (0, "-narrow"),
        (WIDE, "-wide"),
    ]
    VERTICAL_BREAKPOINTS: ClassVar[list[tuple[int, str]] | None] = [  # type: ignore[misc]  # declared the other way
        (0, "-low"),
        (HIGH, "-high"),
    ]

    _is_complete = False
    """True once all widgets are there and laid out, so that the dialog can be drawn."""

    def on_compose(self) -> None:
        """Set the classes of the size before there are widgets whose styles would change with them."""
        is_high = self.app.size.height >= HIGH
        self.add_class("-wide" if self.is_wide else "-narrow", "-high" if is_high else "-low")
        self.call_after_refresh(self._complete)

    def _complete(self) -> None:
        self._is_complete = True
        self.refresh()

    def _compositor_refresh(self) -> None:
        """Draw the dialog only once it is complete: on the way there Textual draws the screen several times."""
        if self._is_complete:
            super()._compositor_refresh()

    @property
    def is_wide(self) -> bool:
        return self.app.size.width >= WIDE


class Page(Widget):
    def __init__(self, draw: Draw | None = None, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._draw: Draw = draw or (lambda width: ())

    def show(self, draw: Draw) -> None:
        self._draw = draw
        self._layout_updates += 1  # Textual does not count a request while another one is due, and keeps the old height
        self.refresh(layout=True)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return max(len(list(self._draw(width))), 1)

    def render(self) -> Content:
        return Content("\n").join([_content(line) for line in self._draw(self.content_size.width)])


def _content(line: Line) -> Content:
    return Content.assemble(*((drawn(span.text), _style(span.style, span.action)) for span in line.spans))


def _style(names: str, action: str) -> str:
    styles = [STYLES[name] for name in names.split()]
    return " ".join([*styles, f"@click=screen.{action}"] if action else styles)
