"""Preview of a trace before it is opened: the description of a sample, or a summary of what was read from a file."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from functools import partial

from sim.support.errors import SchedscopeError
from sim.support.files import is_database
from sim.support.formatting import count, printable, processors
from sim.workload.model import Trace, Workload
from sim.workload.reading import read
from sim.workload.samples import SAMPLES
from tui.look.sheets import Line, Span, line, wrapped
from tui.screens.dialogs.dialog import Draw
from tui.screens.dialogs.report import facts, fidelity, notes_of
from tui.screens.dialogs.trace_choices import Choice

READ_UNASKED = 64 * 2**20
"""Largest size in bytes of a file that is read for a preview before the user opens it."""
UNITS = ("bytes", "KB", "MB", "GB")


def sample(name: str, width: int) -> list[Line]:
    shown = next(each for each in SAMPLES if each.name == name)
    jobs, procs = (int(shown.header(key)[0]) for key in ("MaxJobs", "MaxProcs"))
    caption, *notes = shown.header("Note")
    lines = [line(Span(name, "accent"), "  ", Span(f"{count(jobs, 'job')}, {processors(procs)}", "dim")), line("")]
    lines += [*wrapped(caption + ".", width), line("")]
    return lines + [part for note in notes for part in wrapped(note, width, "dim")]


def said(choice: Choice, words: str, style: str, width: int) -> list[Line]:
    return [line(Span(printable(choice.title), "accent")), line(""), *wrapped(words, width, style)]


def glance(choice: Choice) -> tuple[Draw, bool]:
    """Return a first preview, and if the file is to be read: no large, results or special files."""
    try:
        status = os.stat(choice.value)
    except (OSError, ValueError) as error:
        return partial(said, choice, str(getattr(error, "strerror", None) or error), "bad"), False
    if not stat.S_ISREG(status.st_mode):
        return partial(said, choice, "No ordinary file: it is read when it is opened.", "dim"), False
    if is_database(choice.value):
        return partial(said, choice, "A file of results: it opens as a table and a plot.", "dim"), False
    if status.st_size > READ_UNASKED:
        return partial(said, choice, f"{size(status.st_size)}: it is read when it is opened.", "dim"), False
    return partial(said, choice, f"{size(status.st_size)}, reading …", "dim"), True


def look_into(choice: Choice) -> tuple[Draw, str | None]:
    """Read a file, which may take seconds; return its preview, and the error if it is no trace."""
    try:
        trace = read(choice.value)
        return partial(_trace, choice, trace, Workload.of(trace).with_overruns()), None
    except SchedscopeError as error:
        return partial(said, choice, str(error), "bad"), str(error)


def _trace(choice: Choice, trace: Trace, workload: Workload, width: int) -> Iterable[Line]:
    yield line(Span(printable(choice.title), "accent"))
    yield line("")
    yield from facts(trace, workload, width)
    yield line("")
    for note in notes_of(trace):
        yield from wrapped(note, width, "dim")
    yield line("")
    yield from fidelity(workload.fidelity, width)


def size(many: int) -> str:
    """Return the size of a file, `many` bytes, as text.

    >>> size(300), size(387790), size(5 * 2**30)
    ('300 bytes', '379 KB', '5.0 GB')
    """
    amount, unit = float(many), 0
    while amount >= 1024 and unit < len(UNITS) - 1:
        amount, unit = amount / 1024, unit + 1
    return f"{amount:.1f} {UNITS[unit]}" if unit and amount < 10 else f"{amount:.0f} {UNITS[unit]}"
