"""Updates of the terminal that send only the columns and styles that changed, unlike Textual's own."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

from rich.color import ColorSystem
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from textual._compositor import Compositor, CompositorUpdate
from textual.geometry import Region
from textual.widget import Widget

from tui.chart.cells.cells import Brush
from tui.widgets.cell_rows import Inked, RowWidget


class Piece(NamedTuple):
    """Neighbouring cells of one row, which are sent to the terminal together."""

    y: int
    x: int
    cells: list[Segment] | Inked


class SpanCompositor(Compositor):
    """Compositor that uses Textual's layout, but sends only the visible parts that changed."""

    def render_partial_update(self) -> CompositorUpdate | None:  # type: ignore[override]
        regions = self._dirty_regions.copy()
        self._dirty_regions.clear()
        spans = self._regions_to_spans(regions)
        pieces = [
            piece for y, begin, end in spans if 0 <= y < self.size.height for piece in self._on_top(y, begin, end)
        ]
        return Update(pieces) if pieces else None

    def _on_top(self, y: int, begin: int, end: int) -> Iterator[Piece]:
        """Yield the parts of a row from column `begin` to `end`, with the cells of the widget on top."""
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


def _cells(widget: Widget, y: int, begin: int, end: int) -> list[Segment] | Inked:
    if isinstance(widget, RowWidget):
        return widget.changed_cells(y, begin, end)
    return list(widget.render_lines(Region(0, y, widget.region.width, 1))[0].crop(begin, end))


class Update(CompositorUpdate):
    def __init__(self, pieces: Iterable[Piece]) -> None:
        self._pieces = pieces

    def render_segments(self, console: Console) -> str:
        pen = _Pen(console._color_system or ColorSystem.TRUECOLOR)
        for y, x, cells in self._pieces:
            pen.sent.append(f"\x1b[{y + 1};{x + 1}H")
            if isinstance(cells, Inked):
                pen.draw_inked(cells)
            else:
                pen.draw(cells)
        return pen.done()


Codes = tuple[str, str, str]
"""Parameters of an escape sequence: (attributes, foreground, background); each is "" for the terminal's default."""
_PLAIN = Style.null()
_MOST_TURNS = 20_000
_SGR = re.compile("\x1b\\[([0-9;]*)m")


class _Pen:
    """Writer of escape sequences that sends only changes of the terminal's style."""

    def __init__(self, system: ColorSystem) -> None:
        self.sent: list[str] = []
        self._system, self._style = system, _PLAIN

    def draw(self, cells: Iterable[Segment]) -> None:
        sent, system, was = self.sent, self._system, self._style
        for text, style, _ in cells:
            if not text:
                continue
            drawn = style or _PLAIN
            if drawn.link:
                text, drawn = drawn.render(text, color_system=system), _PLAIN
            if drawn is not was:
                sent.append(turn(was, drawn, system))
                was = drawn
            sent.append(text)
        self._style = was

    def draw_inked(self, cells: Inked) -> None:
        runs, brush = cells
        self.sent += turn(self._style, brush.style(runs.inks[0]), self._system), runs.texts[0]
        turns = map(_turns_of(brush, self._system).__getitem__, runs.turns)
        self.sent += chain.from_iterable(zip(turns, runs.texts[1:], strict=True))
        self._style = brush.style(runs.inks[-1])

    def done(self) -> str:
        return "".join([*self.sent, turn(self._style, _PLAIN, self._system)])


class _Turns(dict[int, str]):
    """Escape sequence of each change between two inks, whose numbers make one key; made when first needed."""

    def __init__(self, brush: Brush, system: ColorSystem) -> None:
        super().__init__()
        self._brush, self._system = brush, system

    def __missing__(self, turn_: int) -> str:
        if len(self) > _MOST_TURNS:
            self.clear()
        made = self[turn_] = turn(*self._brush.turn(turn_), self._system)
        return made


_turns_of = lru_cache(8)(_Turns)


@lru_cache(1 << 14)
def turn(was: Style, style: Style, system: ColorSystem) -> str:
    r"""Return the escape sequence that changes from one style to another. If an attribute or colour must go back to the
    default, it begins with a reset.

    >>> turn(Style.parse("bold red"), Style.parse("bold blue"), ColorSystem.STANDARD)
    '\x1b[34m'
    """
    before, after = codes(was, system), codes(style, system)
    if before == after:
        return ""
    back = before[0] not in ("", after[0]) or any(b and not a for b, a in zip(before[1:], after[1:], strict=True))
    new = [code for b, code in zip(before, after, strict=True) if code and (back or code != b)]
    return f"\x1b[{';'.join(['0', *new] if back else new)}m"


@lru_cache(4096)
def codes(style: Style, system: ColorSystem) -> Codes:
    """Return attributes, foreground and background of a style as parameters of an escape sequence.

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
