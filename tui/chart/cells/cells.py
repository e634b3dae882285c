"""Picture made of cells, each with a character and two colours (inks); its rows are converted to text segments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple
from unicodedata import category, east_asian_width, normalize

import numpy as np
from numpy.typing import NDArray
from rich.segment import Segment
from rich.style import Style

from sim.support.formatting import printable
from tui.chart.cells.grid import BLANK
from tui.look.palette import HUES, TONES, Look, Tone

REST = "\0"
"""Character of the second cell of a wide character, such as 日, which fills two cells."""
_TEXT_ON = np.full(TONES, Tone.TEXT, np.uint16)
_TEXT_ON[[Tone.DIMMED, Tone.STRONG]] = Tone.TEXT_DIMMED, Tone.TEXT_STRONG
TEXT_ON = np.add.outer(np.arange(HUES, dtype=np.uint16) * np.uint16(TONES), _TEXT_ON).ravel()
"""For each ink of a block: the ink of text that can be read on it."""
_INKS = 1 << 16
_PAIRS = _INKS**2
_MOST_SEGMENTS = 20_000


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """Picture of cells: characters as code points, and inks (numbers of `tui.look.palette`)."""

    chars: NDArray[np.uint32]
    fg: NDArray[np.uint16]
    bg: NDArray[np.uint16]

    @classmethod
    def blank(cls, rows: int, columns: int) -> Cells:
        size = (rows, columns)
        return cls(np.full(size, ord(" "), np.uint32), np.full(size, BLANK, np.uint16), np.full(size, BLANK, np.uint16))

    def part(self, rows: slice, columns: slice) -> Cells:
        """Return a rectangle of the picture; drawing in it changes the picture."""
        return Cells(self.chars[rows, columns], self.fg[rows, columns], self.bg[rows, columns])

    @property
    def text(self) -> str:
        return "\n".join("".join(map(chr, row)).replace(REST, "").rstrip() for row in self.chars.tolist())

    def write(self, row: int, column: int, text: str, fg: int, bg: int | None = None) -> None:
        """Write a text, cut off at the picture's edges; the background stays unless `bg` is given."""
        rows, columns = self.chars.shape
        text = _text_between(one_a_cell(text), max(-column, 0), max(columns - column, 0))
        column = max(column, 0)
        if not 0 <= row < rows or not text:
            return
        at = slice(column, column + len(text))
        if self.chars[row, column] == 0:  # half of a wide character would shift the rest of the row
            self.chars[row, column - 1] = ord(" ")
        if at.stop < columns and self.chars[row, at.stop] == 0:
            self.chars[row, at.stop] = ord(" ")
        self.chars[row, at] = np.frombuffer(text.encode("utf-32-le"), np.uint32)
        self.fg[row, at] = fg
        if bg is not None:
            self.bg[row, at] = bg

    def write_inside(
        self,
        rows: Sequence[int],
        columns: Sequence[int],
        texts: Sequence[str],
        fg: NDArray[np.integer],
        bg: NDArray[np.integer],
    ) -> None:
        """Write many texts at once, each in its inks `fg` and `bg`; none may cross an edge of the picture."""
        texts = [one_a_cell(text) for text in texts]
        lengths = np.array([len(text) for text in texts])
        ends = np.cumsum(lengths)
        along = np.arange(ends[-1]) - np.repeat(ends - lengths, lengths)
        at = np.repeat(rows, lengths), np.repeat(columns, lengths) + along
        self.chars[at] = np.frombuffer("".join(texts).encode("utf-32-le"), np.uint32)
        self.fg[at], self.bg[at] = np.repeat(fg, lengths), np.repeat(bg, lengths)

    def changed(self, before: Cells | None) -> list[tuple[int, int, int]]:
        """Return (row, first column, end) of differing rows (None: all), without dividing wide characters."""
        rows, columns = self.chars.shape
        if before is None or before.chars.shape != self.chars.shape:
            return [(row, 0, columns) for row in range(rows)]
        differs = (self.chars != before.chars) | (self.fg != before.fg) | (self.bg != before.bg)
        changed = np.flatnonzero(differs.any(axis=1))
        begins, ends = differs[changed].argmax(axis=1), columns - differs[changed, ::-1].argmax(axis=1)
        begins -= self.chars[changed, begins] == 0
        ends += (ends < columns) & (self.chars[changed, np.minimum(ends, columns - 1)] == 0)
        return list(zip(changed.tolist(), begins.tolist(), ends.tolist(), strict=True))


def one_a_cell(text: str) -> str:
    r"""Return the text, printable, with one character for each cell: a wide character is followed by `REST`, and marks
    without a width of their own are left out.

    >>> one_a_cell("日本"), one_a_cell("e\u0301clair")
    ('日\x00本\x00', 'éclair')
    """
    return printable(text) if text.isascii() and REST not in text else _one_a_cell(text)


@lru_cache(4096)
def _one_a_cell(text: str) -> str:
    shown = (each for each in printable(normalize("NFC", text.replace(REST, ""))) if category(each) not in ("Mn", "Me"))
    return "".join(each + REST * (east_asian_width(each) in "WF") for each in shown)


def _text_between(text: str, begin: int, end: int) -> str:
    part = text[begin:end]
    if part[:1] == REST:
        part = " " + part[1:]
    return part[:-1] + " " if part and text[end : end + 1] == REST else part


class Runs(NamedTuple):
    """Row of cells divided into parts, each with one pair of inks (foreground and background)."""

    texts: list[str]
    inks: list[int]
    turns: list[int]
    """Number (see `Brush.turn`) of the change of inks after each part but the last."""


class Brush:
    """Converter of cells to segments for one look; it keeps styles and segments."""

    def __init__(self, look: Look) -> None:
        self.look = look
        self._segments: dict[tuple[int, str], Segment] = {}
        self._styles: dict[int, Style] = {}

    def draw(self, cells: Cells, row: int, begin: int, end: int) -> list[Segment]:
        """Return the cells of a row from `begin` until before `end`, a segment for each run of equal inks."""
        inks = cells.fg[row, begin:end].astype(np.uint32) * _INKS + cells.bg[row, begin:end]
        begins = [0, *(np.flatnonzero(inks[1:] != inks[:-1]) + 1).tolist()]
        text = _text_between(cells.chars[row].tobytes().decode("utf-32-le"), begin, end)
        inks_of = inks[begins].tolist()
        segments = self._segments
        if len(segments) > _MOST_SEGMENTS:
            segments.clear()
        made = []
        for ink_, first, last in zip(inks_of, begins, [*begins[1:], len(text)], strict=True):
            key = ink_, text[first:last].replace(REST, "")
            segment = segments.get(key)
            if segment is None:
                segment = segments[key] = Segment(key[1], self.style(ink_))
            made.append(segment)
        return made

    def runs(self, cells: Cells, spans: Sequence[tuple[int, int, int]]) -> list[Runs]:
        """Return the runs of equal inks in each of the spans (row, first column, end); faster than `draw` for many."""
        where = np.array(spans, np.intp).reshape(-1, 3)
        rows, begins, ends = where[:, 0], where[:, 1, None], where[:, 2, None]
        inks = cells.fg[rows].astype(np.uint64) * _INKS + cells.bg[rows]
        along = np.arange(inks.shape[1])
        opens = along == begins
        opens[:, 1:] |= inks[:, 1:] != inks[:, :-1]
        opens &= (along >= begins) & (along < ends)
        at, counts = np.flatnonzero(opens), np.cumsum(np.count_nonzero(opens, axis=1))
        until = np.append(at[1:], 0)
        until[counts - 1] = np.arange(len(rows)) * len(along) + where[:, 2]
        text = cells.chars[rows].tobytes().decode("utf-32-le")
        texts = [text[begin:end].replace(REST, "") for begin, end in zip(at.tolist(), until.tolist(), strict=True)]
        found = inks.reshape(-1)[at]
        inks_of, turns = found.tolist(), (found[:-1] * _PAIRS + found[1:]).tolist()
        lasts = counts.tolist()
        return [
            Runs(texts[first:last], inks_of[first:last], turns[first : last - 1])
            for first, last in zip([0, *lasts[:-1]], lasts, strict=True)
        ]

    def style(self, inks: int) -> Style:
        style = self._styles.get(inks)
        if style is None:
            style = self._styles[inks] = self.look.cell(*divmod(inks, _INKS))
        return style

    def turn(self, turn: int) -> tuple[Style, Style]:
        """Return the styles before and after a change of inks, from its number in `Runs.turns`."""
        before, after = divmod(turn, _PAIRS)
        return self.style(before), self.style(after)
