"""Output of the commands to the terminal: text, colours and progress bars."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from shutil import get_terminal_size
from textwrap import wrap
from typing import TYPE_CHECKING, Protocol, TextIO

import click

from sim.support.errors import ReaderGoneError
from sim.support.formatting import printable, printable_lines
from tui.look.text import Align, cells, table

if TYPE_CHECKING:
    from sim.engine.engine import Engine

_STEPS, _TIMES = 1000, 50
"""Least number of steps between two drawings, and drawings in a long run: with many waiting jobs one takes long."""
_PARTS, _LARGE = 200, 1 << 24
"""Number of parts of a progress bar for reading, and size in bytes of the smallest file with a bar"""


class Bar(Protocol):
    def update(self, more: int) -> None: ...


class NotWrittenError(Exception):
    """Error that is raised if a result cannot be printed."""


def is_terminal(stream: TextIO | None) -> bool:
    """Return True if the stream is an open terminal; False for None or a closed stream."""
    return stream is not None and not stream.closed and stream.isatty()


def say(text: str, exact: bool = False) -> None:
    """Print a result without control sequences, `exact` for programs; click's echo alone would exit with 1."""
    try:
        shown = text if exact and not is_terminal(sys.stdout) else printable_lines(text)
        click.echo(shown, color=True)  # else click takes colours out of names
        sys.stdout.flush()
    except BrokenPipeError:
        raise ReaderGoneError("stdout was closed by its reader") from None
    except OSError as error:
        raise NotWrittenError(f"cannot write the result: {error.strerror or error}") from None
    except AttributeError:
        raise NotWrittenError("cannot write the result: there is no standard output") from None
    except ValueError:
        if not sys.stdout.closed:
            raise
        raise NotWrittenError("cannot write the result: standard output is closed") from None


def columns() -> int:
    """Return the width of the terminal in columns, but at least 40 and at most 120; 80 without a terminal."""
    return max(40, min(get_terminal_size((80, 24)).columns, 120))


def seen_columns() -> int | None:
    """Return the width in columns of the terminal that shows the output; None if the output goes elsewhere."""
    return get_terminal_size((80, 24)).columns if is_terminal(sys.stdout) else None


def shows_unicode() -> bool:
    return sys.stdout is not None and (sys.stdout.encoding or "ascii").lower().replace("-", "").startswith("utf")


@contextmanager
def shown_reading(trace: str) -> Iterator[Callable[[float], None] | None]:
    """Show a bar while a large file is read; yield the function for the share read, or None."""
    if not is_terminal(sys.stderr) or not is_large(trace):
        yield None
        return
    done = 0
    with progress(_PARTS, f"reading {os.path.basename(trace)}") as bar:

        def heard(share: float) -> None:
            nonlocal done
            if bar is not None and (more := int(_PARTS * share) - done):
                bar.update(more)
                done += more

        yield heard


def is_large(trace: str) -> bool:
    try:
        return os.path.getsize(trace) >= _LARGE
    except (OSError, ValueError):
        return False


def run_to_end(engine: Engine, label: str) -> None:
    jobs, done = len(engine.workload), 0
    with progress(jobs, label) as bar:
        while engine.advance(max(_STEPS, jobs // _TIMES)):
            if bar is not None:
                bar.update(engine.moment.finished - done)
                done = engine.moment.finished


@contextmanager
def progress(many: int, label: str) -> Iterator[Bar | None]:
    """Show a progress bar for `many` jobs, and yield it; None if there is no terminal."""
    if not is_terminal(sys.stderr):
        yield None
        return
    # with colour the cursor is hidden, and a killed process could not show it again
    with click.progressbar(length=many, label=printable(label), file=sys.stderr, width=30, color=False) as bar:
        yield bar
    sys.stderr.write("\x1b[1A\x1b[2K")  # the finished bar makes room for the result


# Tables.


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
