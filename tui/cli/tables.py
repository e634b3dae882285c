"""Tables for a terminal: what is wider than the terminal is split or wrapped instead of being broken at its edge."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import wrap

from tui.look.text import Align, cells, table

_NARROWEST = 12
"""Smallest width in columns to which a column of text is wrapped."""


def split(
    rows: Sequence[Sequence[str]], width: int | None, align: Sequence[Align] | None = None, labels: int = 1
) -> list[str]:
    """Return the lines of a table of numbers, at most `width` columns wide (None: any width). Columns that do not fit
    follow below, where the first `labels` columns are repeated. A column without a title stays with the one before.

    >>> for line in split([("", "easy", "fcfs"), ("wait", "1h00", "2h30")], 11): print(line)
          easy
    wait  1h00
    <BLANKLINE>
          fcfs
    wait  2h30
    """
    if not rows:
        return []
    sides: list[Align] = list(align) if align else ["left", *["right"] * (len(rows[0]) - 1)]  # type: ignore[list-item]
    lines: list[str] = []
    for part in _parts(rows, width, labels):
        columns = [*range(labels), *part]
        lines += ["", *table([[row[at] for at in columns] for row in rows], [sides[at] for at in columns])]
    return lines[1:]


def _parts(rows: Sequence[Sequence[str]], width: int | None, labels: int) -> Iterator[list[int]]:
    widths = [max(cells(cell) for cell in column) + 2 for column in zip(*rows, strict=True)]
    room = None if width is None else width + 2 - sum(widths[:labels])
    part: list[int] = []
    for at in range(labels, len(widths)):
        glued = [at, *([at + 1] if at + 1 < len(widths) and not rows[0][at + 1] else [])]
        is_glued = at > labels and not rows[0][at]
        if part and room is not None and not is_glued and sum(widths[of] for of in part + glued) > room:
            yield part
            part = []
        part.append(at)
    yield part


def wrapped_table(rows: Sequence[Sequence[str]], width: int | None, indent: int = 0) -> list[str]:
    """Return the lines of a table of texts, at most `width` columns wide (None: any width). The widest columns are
    wrapped.

    >>> for line in wrapped_table([("name", "meaning"), ("easy", "jobs may pass the head")], 20): print(line)
    name  meaning
    easy  jobs may pass
          the head
    """
    if not rows:
        return []
    widths = [max(cells(cell) for cell in column) for column in zip(*rows, strict=True)]
    if width is not None:
        room = width - indent - 2 * (len(widths) - 1)
        while sum(widths) > room and max(widths) > _NARROWEST:
            widths[widths.index(max(widths))] -= 1
    lines: list[list[str]] = []
    for row in rows:
        parts = [wrap(cell, most, break_on_hyphens=False) or [""] for cell, most in zip(row, widths, strict=True)]
        high = max(map(len, parts))
        lines += [list(line) for line in zip(*(part + [""] * (high - len(part)) for part in parts), strict=True)]
    return table(lines, ["left"] * len(widths), indent=indent)


def wrapped_lines(lines: Sequence[str], width: int | None) -> list[str]:
    """Return the lines, each line that is wider than `width` (None: any width) wrapped at blanks and indented further.

    >>> wrapped_lines(["  load: 0.8 and 1", "  seed: 0"], 14)
    ['  load: 0.8', '    and 1', '  seed: 0']
    """
    if width is None:
        return list(lines)
    return [part for line in lines for part in (_wrapped(line, width) if cells(line) > width else [line])]


def _wrapped(line: str, width: int) -> list[str]:
    indent = " " * (len(line) - len(line.lstrip()) + 2)
    return wrap(line, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
