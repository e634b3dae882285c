"""What is sent to the terminal: of each row only the columns that changed, of each style only what is new.

Textual's own compositor puts together every widget around whatever changed, sends a row from the left edge of its
widget on, and every style whole. What is where is its business; only updates are made here, which is why this leans on
a module of its that is not public.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

from rich.color import ColorSystem
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from textual._compositor import Compositor, CompositorUpdate
from textual.geometry import Region
from textual.widget import Widget

from tui.widgets.rows import Rows


class Piece(NamedTuple):
    """Cells that stand beside each other."""

    y: int
    x: int
    cells: list[Segment]


class SpanCompositor(Compositor):
    """Where widgets are is told as ever; of what changed the pieces that are on top are sent."""

    def render_partial_update(self) -> CompositorUpdate | None:  # type: ignore[override]
        regions = self._dirty_regions.copy()
        self._dirty_regions.clear()
        spans = self._regions_to_spans(regions)
        pieces = [
            piece for y, begin, end in spans if 0 <= y < self.size.height for piece in self._on_top(y, begin, end)
        ]
        return Update(pieces) if pieces else None

    def _on_top(self, y: int, begin: int, end: int) -> Iterator[Piece]:
        """What is seen in these columns of a row."""
        hidden = [(max(begin, 0), min(end, self.size.width))]
        for widget, shown, region in self.layers_visible[y]:
            still = []
            for first, last in hidden:
                left, right = max(first, shown.x), min(last, shown.right)
                if left < right:
                    yield Piece(y, left, _cells(widget, y - region.y, left - region.x, right - region.x))
                    still += [part for part in ((first, left), (right, last)) if part[0] < part[1]]
                else:
                    still.append((first, last))
            hidden = still
            if not hidden:
                return


def _cells(widget: Widget, y: int, begin: int, end: int) -> list[Segment]:
    if isinstance(widget, Rows):
        return widget.cells(y, begin, end)
    return list(widget.render_lines(Region(0, y, widget.region.width, 1))[0].crop(begin, end))


class Update(CompositorUpdate):
    """Some pieces of the screen."""

    def __init__(self, pieces: Iterable[Piece]) -> None:
        self._pieces = pieces

    def render_segments(self, console: Console) -> str:
        pen = _Pen(console._color_system or ColorSystem.TRUECOLOR)
        for y, x, cells in self._pieces:
            pen.sent.append(f"\x1b[{y + 1};{x + 1}H")
            pen.draw(cells)
        return pen.done()


Codes = tuple[str, str, str]
"""Attributes, foreground, background: each as SGR says it; empty: the terminal's own."""
_PLAIN: Codes = ("", "", "")
_SGR = re.compile("\x1b\\[([0-9;]*)m")


class _Pen:
    """Draws, and remembers how."""

    def __init__(self, system: ColorSystem) -> None:
        self.sent: list[str] = []
        self._system, self._codes = system, _PLAIN

    def draw(self, cells: Iterable[Segment]) -> None:
        for text, style, _ in cells:
            if style is not None and style.link:
                self.take(_PLAIN)
                text = style.render(text, color_system=self._system)
            elif text:
                self.take(_PLAIN if style is None else codes(style, self._system))
            self.sent.append(text)

    def take(self, codes: Codes) -> None:
        """Draw so from now on. Attributes, and the terminal's own colours, come back only with all that is plain."""
        was, self._codes = self._codes, codes
        if was == codes:
            return
        if was[0] not in ("", codes[0]) or (was[1] and not codes[1]) or (was[2] and not codes[2]):
            was = _PLAIN
            self.sent.append("\x1b[0m" if codes == _PLAIN else "\x1b[0;" + _new(was, codes))
        else:
            self.sent.append("\x1b[" + _new(was, codes))

    def done(self) -> str:
        self.take(_PLAIN)
        return "".join(self.sent)


def _new(was: Codes, codes: Codes) -> str:
    return ";".join(code for before, code in zip(was, codes, strict=True) if code not in ("", before)) + "m"


@lru_cache(4096)
def codes(style: Style, system: ColorSystem) -> Codes:
    """The parts of a style.

    >>> codes(Style.parse("bold #ff0000 on #000000"), ColorSystem.TRUECOLOR)
    ('1', '38;2;255;0;0', '48;2;0;0;0')
    """
    fore, back = style.color, style.bgcolor
    attributes = _SGR.match(style.without_color.render("x"))
    return (
        attributes[1] if attributes else "",
        "" if fore is None else ";".join(fore.downgrade(system).get_ansi_codes()),
        "" if back is None else ";".join(back.downgrade(system).get_ansi_codes(foreground=False)),
    )
