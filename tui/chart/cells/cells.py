"""A picture of cells, each with a character and two inks, and its rows as segments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from rich.segment import Segment
from rich.style import Style

from sim.words import printable
from tui.chart.cells.grid import BLANK
from tui.look.palette import Look

_INKS = 1 << 16
_MOST_SEGMENTS = 20_000


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """Characters as code points, and the inks of foreground and background (see `tui.look.palette`)."""

    chars: NDArray[np.uint32]
    fg: NDArray[np.uint16]
    bg: NDArray[np.uint16]

    @classmethod
    def blank(cls, rows: int, columns: int) -> Cells:
        size = (rows, columns)
        return cls(np.full(size, ord(" "), np.uint32), np.full(size, BLANK, np.uint16), np.full(size, BLANK, np.uint16))

    def part(self, rows: slice, columns: slice) -> Cells:
        """A window of the same picture: what is drawn there is drawn here."""
        return Cells(self.chars[rows, columns], self.fg[rows, columns], self.bg[rows, columns])

    @property
    def text(self) -> str:
        """Without colours: what tests compare."""
        return "\n".join("".join(map(chr, row)).rstrip() for row in self.chars.tolist())

    def write(self, row: int, column: int, text: str, fg: int, bg: int | None = None) -> None:
        """A text, cut off at the edges; the background stays where none is given. For those who make the picture."""
        rows, columns = self.chars.shape
        text = printable(text)[max(-column, 0) : max(columns - column, 0)]
        column = max(column, 0)
        if not 0 <= row < rows or not text:
            return
        at = slice(column, column + len(text))
        self.chars[row, at] = [ord(c) for c in text]
        self.fg[row, at] = fg
        if bg is not None:
            self.bg[row, at] = bg

    def changed(self, before: Cells | None) -> list[int]:
        """The rows that differ from those of another picture."""
        if before is None or before.chars.shape != self.chars.shape:
            return list(range(len(self.chars)))
        differs = (self.chars != before.chars) | (self.fg != before.fg) | (self.bg != before.bg)
        return np.flatnonzero(differs.any(axis=1)).tolist()


class Brush:
    """Makes rows of segments in one look; styles and runs are made once."""

    def __init__(self, look: Look) -> None:
        self.look = look
        self._segments: dict[tuple[int, str], Segment] = {}
        self._styles: dict[int, Style] = {}

    def rows(self, cells: Cells, rows: Sequence[int]) -> list[list[Segment]]:
        """These rows, each in runs of equal inks."""
        inks = cells.fg[rows].astype(np.uint32) * _INKS + cells.bg[rows]
        begins = np.ones(inks.shape, np.bool_)
        begins[:, 1:] = inks[:, 1:] != inks[:, :-1]
        row, column = np.nonzero(begins)
        ink_of, columns = inks[row, column].tolist(), column.tolist()
        first = [*np.searchsorted(row, np.arange(len(rows))).tolist(), len(columns)]
        texts = cells.chars[rows]
        made = []
        for index in range(len(rows)):
            text = texts[index].tobytes().decode("utf-32-le")
            runs = slice(first[index], first[index + 1])
            made.append(self._runs(text, ink_of[runs], columns[runs]))
        return made

    def _runs(self, text: str, inks: list[int], begins: list[int]) -> list[Segment]:
        segments = self._segments
        if len(segments) > _MOST_SEGMENTS:
            segments.clear()
        made = []
        for ink_, begin, end in zip(inks, begins, [*begins[1:], len(text)], strict=True):
            key = ink_, text[begin:end]
            segment = segments.get(key)
            if segment is None:
                segment = segments[key] = Segment(key[1], self._style(ink_))
            made.append(segment)
        return made

    def _style(self, inks: int) -> Style:
        style = self._styles.get(inks)
        if style is None:
            style = self._styles[inks] = self.look.cell(*divmod(inks, _INKS))
        return style
