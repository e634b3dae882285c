"""A widget that keeps the rows that it shows: what did not change is neither made, nor put together, nor sent again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from rich.segment import Segment
from rich.style import Style
from textual.filter import ANSIToTruecolor, LineFilter
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget


class Row(Strip):
    """A row of cells. Textual's own remember themselves, and are gone only when somebody looks for garbage."""

    __slots__ = ()

    def divide(self, cuts: Iterable[int]) -> Sequence[Strip]:
        cuts = list(cuts)
        return [self] if cuts == [self.cell_length] else super().divide(cuts)

    def changed(self, before: Row) -> tuple[int, int]:
        """From which column until which it differs from a row of the same width.

        >>> one, other = (Row([Segment(text) for text in texts]) for texts in (("ab", "c", "def"), ("ab", "x", "def")))
        >>> one.changed(other), one.changed(one)
        ((2, 3), (6, 6))
        """
        now, was = self._segments, before._segments
        same = next((at for at, (a, b) in enumerate(zip(now, was, strict=False)) if a != b), min(len(now), len(was)))
        begin, end = sum(segment.cell_length for segment in now[:same]), self.cell_length
        for a, b in zip(reversed(now[same:]), reversed(was[same:]), strict=False):
            if a != b:
                break
            end -= a.cell_length
        return begin, end


def fitted(segments: Sequence[Segment], width: int, blank: Style | None) -> list[Segment]:
    """Exactly so wide: cut off, or filled up with blanks.

    >>> ["".join(segment.text for segment in fitted([Segment("ab"), Segment("cd")], width, None)) for width in (3, 6)]
    ['abc', 'abcd  ']
    """
    rows: list[Segment] = []
    for segment in segments:
        room = width - segment.cell_length
        if room < 0:
            segment, room = segment.split_cells(width)[0], 0
        width = room
        rows.append(segment)
    return [*rows, Segment(" " * width, blank)] if width else rows


class Rows(Widget):
    """Whoever makes rows puts them here (`put`); all that is between them and the terminal is done here."""

    ALLOW_SELECT = False

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._rows: dict[int, Row] = {}

    def put(self, rows: Mapping[int, list[Segment]]) -> None:
        """Show these, and what there was in all others; only the cells that changed are drawn again."""
        width, filters = self.size.width, self.get_line_filters()
        changed = []
        for y, segments in rows.items():
            for known in filters:
                segments = known.apply(segments, self.background_colors[1])
            before, row = self._rows.get(y), Row(segments, width)
            if before is None or before.cell_length != width:
                changed.append(Region(0, y, width, 1))
            elif before == row:
                continue
            else:
                begin, end = row.changed(before)
                changed.append(Region(begin, y, end - begin, 1))
            self._rows[y] = row
        if changed:
            self.refresh(*changed)

    def forget(self) -> None:
        """What is put next is all drawn again."""
        self._rows.clear()

    def get_line_filters(self) -> list[LineFilter]:
        """All but the one for the colours that terminals name as they like: nothing here is drawn in those."""
        return [known for known in super().get_line_filters() if not isinstance(known, ANSIToTruecolor)]

    def render_line(self, y: int) -> Strip:
        return self._rows.get(y) or Strip.blank(self.size.width, self.ground)

    @property
    def ground(self) -> Style:
        """Where nothing has been put."""
        return Style()

    def render_lines(self, crop: Region) -> list[Strip]:
        """The rows as they are: these widgets have neither borders nor anything else around them."""
        rows = [self.render_line(y) for y in crop.line_range]
        begin, end = crop.column_span
        return rows if (begin, end) == (0, self.size.width) else [row.crop(begin, end) for row in rows]
