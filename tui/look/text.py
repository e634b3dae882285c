"""Plain text for terminals: durations, numbers, tables and bars, as strings without markup."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING, Literal

from sim.support.formatting import clock, percent, printable, span

if TYPE_CHECKING:
    from sim.metrics.aggregates import Value
    from sim.metrics.catalogue import Metric

duration, instant = span, clock

Align = Literal["left", "right"]

_EIGHTHS = " ▏▎▍▌▋▊▉█"
_LEVELS = "▁▂▃▄▅▆▇█"
_ASCII_LEVELS = "_.:-=+*#"
ASCII_SIGNS = {
    sign: ascii_sign
    for signs, ascii_sign in (
        ("╭╮╰╯┌┐└┘├┤┬┴┼┏┓┗┛", "+"), ("─━═▔▁▀▄▂▃╌┄", "-"), ("│┃║▏▎▍▌▋▊▉▐▕", "|"), ("█▇▆▅", "#"), ("▸▶❯›→", ">"),
        ("◀◂‹←", "<"), ("▼▾↓", "v"), ("▲▴△↑", "^"), ("●•◆■⚑✓◐", "*"), ("○◇□", "o"), ("≤", "<"), ("≥", ">"), ("░", "."),
        ("▒", ":"), ("╱", "/"), ("’‘", "'"), ("“”", '"'), ("…", "~"), ("↵", "~"), ("\xa0", " "),
        ("±┿", "+"), ("≠", "!"), ("⇄⇆▚▞", "%"), ("┊↕", ":"), ("▖▗", "."), ("▘▝", "'"), ("▙▛▜▟", "#"), ("▪", "*"),
        ("▮", "="), ("▫▯", "o"), ("╳", "x"),
    )
    for sign in signs
}  # fmt: skip
"""For each character of the screen: the ASCII character that replaces it, with the same width"""
_PLAIN = str.maketrans(
    {
        **ASCII_SIGNS, "±": "+-", "≠": "!=", "≤": "<=", "≥": ">=", "–": "-", "−": "-", "·": "-", "×": "x", "‖": "=",
        "▓": "%", "◐": "+",
    }
)  # fmt: skip
"""For each character in plain text: the ASCII text that replaces it, which may be wider"""


def exact(seconds: float) -> str:
    """Return a duration as text in the greatest unit in which it is a whole number, for values that people chose.

    >>> [exact(s) for s in (10, 90, 900, 5400, 64800, 172800, 0.5)]
    ['10 s', '90 s', '15 min', '90 min', '18 h', '2 d', '0.5 s']
    """
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size and seconds % size == 0:
            return f"{number(seconds / size)} {unit}"
    return f"{number(seconds)} s"


def number(value: float | None, digits: int = 2) -> str:
    """Return a number with thousands separators: whole ones without a point, others with at most `digits` places.

    >>> number(28489), number(1234.5), number(0.126), number(3.0), number(None)
    ('28,489', '1,234.5', '0.13', '3', '–')
    """
    if value is None:
        return "–"
    if value == int(value):
        return f"{int(value):,}"
    text = f"{value:,.{digits}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def cells(text: str) -> int:
    return len(text) if text.isascii() else _cells_of_all(text)


@lru_cache(4096)
def _cells_of_all(text: str) -> int:
    wide = sum(unicodedata.east_asian_width(c) in "WF" for c in text)
    return len(text) + wide - sum(unicodedata.combining(c) != 0 for c in text)


def shorten(text: str, width: int) -> str:
    """Return the text cut to at most `width` columns; an ellipsis marks a cut."""
    if cells(text) <= width:
        return text
    end = sum(taken < width for taken in accumulate(map(cells, text)))
    return text[:end] + "…" if width > 0 else ""


def pad(text: str, width: int, align: Align = "left") -> str:
    blanks = " " * (width - cells(text))
    return blanks + text if align == "right" else text + blanks


def table(
    rows: Iterable[Sequence[str]], align: Sequence[Align] | None = None, gap: int = 2, indent: int = 0
) -> list[str]:
    """Return lines of aligned columns: by default the first is left-aligned and the others right-aligned."""
    lines = [list(row) for row in rows]
    if not lines:
        return []
    sides: list[Align] = list(align) if align else ["left", *["right"] * (len(lines[0]) - 1)]  # type: ignore[list-item]
    widths = [max(cells(cell) for cell in column) for column in zip(*lines, strict=True)]
    joined = ((" " * gap).join(pad(*cell) for cell in zip(line, widths, sides, strict=True)) for line in lines)
    return [(" " * indent + line).rstrip() for line in joined]


def bar(share: float, width: int, unicode: bool = True) -> str:
    """Return a horizontal bar of `share` times `width` columns; with Unicode its length is exact to an eighth of a
    column.

    A share above 0 is always visible.

    >>> bar(0.5, 5), bar(0.001, 5), bar(0.0, 5), bar(0.5, 4, unicode=False)
    ('██▌', '▏', '', '##')
    """
    share = min(max(share, 0.0), 1.0)
    if not unicode:
        return "#" * (max(1, round(share * width)) if share > 0 else 0)
    eighths = max(1, round(share * width * 8)) if share > 0 else 0
    return "█" * (eighths // 8) + _EIGHTHS[eighths % 8].strip()


def histogram(rows: Sequence[tuple[str, int]], total: int, heading: str, width: int, unicode: bool = True) -> list[str]:
    """Return a line for each (label, number of jobs): the label, the number, its share of `total`, and a bar. The
    longest line fills `width`.

    >>> for line in histogram([("1", 3), ("2-4", 1)], 4, "processors", 38): print(line)
      processors       jobs    share
               1          3   75.0 %  ████
             2-4          1   25.0 %  █▍
    """
    most = max((many for _, many in rows), default=0)
    labels = max(len(heading), *(cells(label) for label, _ in rows), 0)
    lines = [f"  {pad(heading, labels, 'right')}  {'jobs':>9}  {'share':>7}"]
    for label, many in rows:
        drawn = bar(many / most if most else 0.0, max(1, width - labels - 24), unicode)
        share = percent(many / total if total else None)
        lines.append(f"  {pad(label, labels, 'right')}  {many:>9,}  {share:>7}  {drawn}".rstrip())
    return lines


def sparkline(values: Sequence[float], unicode: bool = True) -> str:
    """Return a curve of block characters, one for each value. The greatest value has the full height, and 0 is a blank.

    >>> sparkline([0, 1, 4, 8]), sparkline([0, 1, 8], unicode=False)
    (' ▁▄█', ' _#')
    """
    levels = _LEVELS if unicode else _ASCII_LEVELS
    top = max(values, default=0)
    if top <= 0:
        return " " * len(values)
    return "".join(levels[max(0, round(v / top * 8) - 1)] if v > 0 else " " for v in values)


def plain(text: str) -> str:
    """Return the text in ASCII, for terminals without Unicode.

    >>> plain("wait ≤ 5 · 12–14")
    'wait <= 5 - 12-14'
    """
    return text.translate(_PLAIN).encode("ascii", "replace").decode("ascii")


def drawn(text: str, ascii: bool = False) -> str:
    """Return the text with `?` in place of control characters, which names in foreign files may contain."""
    return plain(printable(text)) if ascii else printable(text)


def file_name(text: str) -> str:
    """Return the name of a trace in a form that can be the name of a file.

    >>> file_name("KTH SP2/1996")
    'KTH-SP2-1996'
    """
    return re.sub(r"[^\w.+-]+", "-", text).strip("-") or "session"


def titled(entry: Metric) -> str:
    return with_unit(entry.counted, entry.unit)


def with_unit(title: str, unit: str) -> str:
    return title + {"s": " (s)", "h": " (h)"}.get(unit, "")


def cell(entry: Metric, value: Value) -> str:
    """Return the value of a metric as text."""
    if value is None:
        return "–"
    if entry.unit == "share":
        return percent(value, 2)
    if entry.unit in ("jobs", "times"):
        return number(value)
    return f"{value:,.1f}" if entry.unit in ("s", "h") else f"{value:,.2f}"
