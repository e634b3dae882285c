"""Base classes of widgets that draw rows of cells, and send only cells that changed to the terminal."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import NamedTuple, Self

from rich.segment import Segment
from rich.style import Style
from textual.filter import ANSIToTruecolor, LineFilter
from textual.geometry import Region
from textual.message import Message
from textual.selection import Selection
from textual.strip import Strip
from textual.widget import Widget

from tui.chart.cells.cells import Brush, Runs


class Inked(NamedTuple):
    runs: Runs
    brush: Brush


class RowWidget(Widget):
    ALLOW_SELECT = False

    @abstractmethod
    def cells(self, y: int, begin: int, end: int) -> list[Segment]:
        """Return the segments of a row from column `begin` to `end`."""

    def changed_cells(self, y: int, begin: int, end: int) -> list[Segment] | Inked:
        """Return the changed cells of a row from column `begin` to `end`, as segments or as `Inked`."""
        return self.cells(y, begin, end)

    def refresh(
        self, *regions: Region, repaint: bool = True, layout: bool = False, recompose: bool = False
    ) -> Self:  # fmt: skip
        """Send the changed cells to the terminal at once; Textual's own way would first pass four messages."""
        if not regions or layout or recompose or not self.is_attached or not self.display:
            return super().refresh(*regions, repaint=repaint, layout=layout, recompose=recompose)
        self._repaint_regions.update(regions)
        self.screen._dirty_widgets.add(self)
        self.screen.check_idle()
        return self

    def render_line(self, y: int) -> Strip:
        return Strip(self.cells(y, 0, self.size.width), self.size.width)

    def render_lines(self, crop: Region) -> list[Strip]:
        return [Strip(self.cells(y, *crop.column_span), crop.width) for y in crop.line_range]

    def get_line_filters(self) -> list[LineFilter]:
        """Return the filters for output, except the one for named colours of the terminal, which are not used here."""
        return [known for known in super().get_line_filters() if not isinstance(known, ANSIToTruecolor)]


class Lines(RowWidget):
    """Widget whose rows are set by its caller."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._given: dict[int, list[Segment]] = {}
        self._drawn: dict[int, list[Segment]] = {}
        self._changed: dict[tuple[int, int, int], list[Segment]] = {}
        self._marked: Selection | None = None
        """Text that the user has marked with the mouse."""

    def put(self, rows: Mapping[int, list[Segment]]) -> None:
        """Show these rows; the key of each is its line number in the widget. Other rows stay the same."""
        width = self.size.width
        new = {y: row for y, row in rows.items() if row is not (was := self._given.get(y)) and row != was}
        if not new:
            return
        filters, background = self.get_line_filters(), self.background_colors[1]
        changed = []
        self._changed = {}
        for y, row in new.items():
            before = self._given.get(y)
            begin, end, cells = (0, width, row) if before is None else differing(row, before)
            changed.append(Region(begin, y, end - begin, 1))
            self._given[y] = row
            if not filters:
                self._changed[y, begin, end] = cells
            for known in filters:
                row = known.apply(row, background)
            self._drawn[y] = row
        self.refresh(*changed)

    def fill(self, rows: Sequence[Sequence[Segment]], blank: Style) -> None:
        width, height = self.size
        self.put({y: fitted(rows[y] if y < len(rows) else (), width, blank) for y in range(height)})

    def forget(self) -> None:
        self._given.clear()
        self._drawn.clear()
        self._changed.clear()

    def changed_cells(self, y: int, begin: int, end: int) -> list[Segment]:
        put = self._changed.get((y, begin, end))
        return self.cells(y, begin, end) if put is None else put

    def cells(self, y: int, begin: int, end: int) -> list[Segment]:
        row = self._drawn.get(y)
        if row is None:
            return [Segment(" " * (end - begin))]
        if self._marked is not None and (marked := self._marked.get_span(y)) is not None:
            row = with_mark(row, marked[0], self.size.width if marked[1] < 0 else marked[1])
        return cut(row, begin, end)

    # Marking text, in widgets with ALLOW_SELECT

    def render_line(self, y: int) -> Strip:
        """Return a row with the place of each text, by which Textual finds what is under the pointer."""
        return super().render_line(y).apply_offsets(0, y)

    def get_selection(self, selection: Selection) -> tuple[str, str]:
        """Return the marked text, with blanks in place of bars and lines."""
        rows = ("".join(each.text for each in self._drawn.get(y, ())) for y in range(self.size.height))
        told = selection.extract("\n".join(re.sub("[\u2500-\u259f]", " ", row) for row in rows))
        return told.rstrip(), "\n"

    def selection_updated(self, selection: Selection | None) -> None:
        self._marked = selection
        self._changed.clear()
        self.refresh()


class SizedLines(Lines):
    """Widget with rows that its screen makes for the size of the widget, and makes again when the size changes."""

    class Resized(Message):
        """Message that the widget has another size, so that its rows must be made again."""

    def on_resize(self) -> None:
        self.forget()
        self.post_message(self.Resized())


def fitted(row: Sequence[Segment], width: int, blank: Style) -> list[Segment]:
    """Return the row with exactly `width` columns: cut off, or filled with blanks in the style `blank`.

    >>> ["".join(s.text for s in fitted([Segment("ab"), Segment("cd")], width, Style())) for width in (3, 6)]
    ['abc', 'abcd  ']
    """
    room = width - sum(segment.cell_length for segment in row)
    return [*row, Segment(" " * room, blank)] if room > 0 else cut(row, 0, width)


def cut(row: Sequence[Segment], begin: int, end: int) -> list[Segment]:
    """Return the part of a row from column `begin` to before `end`.

    >>> ["".join(s.text for s in cut([Segment("ab"), Segment("cd"), Segment("ef")], *at)) for at in ((1, 4), (2, 4))]
    ['bcd', 'cd']
    """
    inside, at = [], 0
    for segment in row:
        width = segment.cell_length
        left, right = max(begin - at, 0), min(end - at, width)
        at += width
        if left == 0 and right == width:
            inside.append(segment)
        elif left < right:
            inside.append(segment.split_cells(right)[0].split_cells(left)[1])
    return inside


def with_mark(row: Sequence[Segment], begin: int, end: int) -> list[Segment]:
    """Return the row with the columns from `begin` to before `end` in reverse."""
    mark = Style(reverse=True)
    inside = [Segment(text, style + mark if style else mark) for text, style, _ in cut(row, begin, end)]
    return [*cut(row, 0, begin), *inside, *cut(row, end, sum(each.cell_length for each in row))]


def differing(row: Sequence[Segment], before: Sequence[Segment]) -> tuple[int, int, list[Segment]]:
    """Return (begin, end, segments) of the columns in which two rows of the same width differ; the segments are the
    first row's.

    >>> one, other = ([Segment(text) for text in texts] for texts in (("ab", "c", "def"), ("ab", "x", "def")))
    >>> differing(one, other)
    (2, 3, [Segment('c')])
    """
    same = next((at for at, (a, b) in enumerate(zip(row, before, strict=False)) if a != b), min(len(row), len(before)))
    tail = 0
    for a, b in zip(reversed(row[same:]), reversed(before[same:]), strict=False):
        if a != b:
            break
        tail += 1
    cells = list(row[same : len(row) - tail])
    begin = sum(segment.cell_length for segment in row[:same])
    return begin, begin + sum(segment.cell_length for segment in cells), cells
