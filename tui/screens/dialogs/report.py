"""Dialog that reports how a trace was read: what was left out, and what was assumed or invented."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import ClassVar

import numpy as np
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll

from sim.support.formatting import count, percent, printable, processors, span
from sim.workload.fidelity import Fidelity, Note
from sim.workload.model import Trace, Workload
from tui.look.sheets import Line, Span, line, wrapped
from tui.look.text import number, pad
from tui.screens.dialogs.dialog import Dialog, Page

LABELS = 10


class FidelityReport(Dialog[None]):
    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter,q,i", "dismiss", "Close")]

    def __init__(self, trace: Trace, workload: Workload) -> None:
        super().__init__()
        self._trace, self._workload = trace, workload

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as dialog:
            dialog.border_title = "What was read"
            dialog.border_subtitle = "↑ ↓ scroll   esc close"
            with VerticalScroll():
                yield Page(partial(report, self._trace, self._workload))


def report(trace: Trace, workload: Workload, width: int) -> list[Line]:
    room = min(width, 100)
    lines = [line(Span(printable(workload.name), "title")), line("")]
    lines += facts(trace, workload, room)
    if notes := notes_of(trace):
        lines += [line(""), line(Span("What the file says of itself", "title"))]
        lines += [part for note in notes for part in wrapped(note, room, indent=2)]
    lines += [line(""), line(Span("Differences from the file", "title"))]
    return lines + list(fidelity(workload.fidelity, room))


def facts(trace: Trace, workload: Workload, width: int) -> list[Line]:
    return [part for label, told in _facts(trace, workload) for part in _labelled(label, told, width)]


def _facts(trace: Trace, workload: Workload) -> Iterator[tuple[str, str]]:
    jobs, read = len(workload), len(trace.ids)
    yield "jobs", number(jobs) + (", all that the file holds" if jobs == read else f" of the {read:,} in the file")
    computer = workload.header.computer
    yield "machine", processors(workload.procs) + (f", {printable(computer)}" if computer else "")
    lasts = float(np.ptp(workload.submit)) if jobs else 0.0
    yield "span", f"{span(lasts)} from the first to the last submission"
    if lasts > workload.runtime.max(initial=0):  # else the jobs come all at once, and a load says nothing
        busy = float((workload.width * workload.runtime).sum()) / lasts
        would = f"the work would keep {number(busy, 1)} processors busy all the time"
        yield "load", f"{percent(busy / workload.procs)}: {would}"
    if killed := int(workload.killed.sum()):
        yield "killed", f"{count(killed, 'job')} that would run longer than estimated"
    yield "format", trace.format


def _labelled(label: str, told: str, width: int) -> Iterator[Line]:
    first, *more = wrapped(told, width, indent=LABELS)
    yield line(Span(pad(label, LABELS), "dim"), first.text[LABELS:])
    yield from more


def notes_of(trace: Trace) -> list[str]:
    """Return the notes in the header; one may go on in indented lines, or in a note within a sentence."""
    notes: list[str] = []
    goes_on = False
    for comment in trace.header.comments:
        words = printable(comment.strip())
        if words.startswith("Note:"):
            note = words.removeprefix("Note:").strip()
            if notes and goes_on and note[:1].islower():
                notes[-1] += " " + note
            else:
                notes.append(note)
            goes_on = True
        elif goes_on and comment.startswith("    ") and words:
            notes[-1] += " " + words
        else:
            goes_on = False
    return notes


def fidelity(known: Fidelity, width: int) -> Iterator[Line]:
    """Yield what was left out, assumed or invented: how many, why, and the first one."""
    if not known:
        yield from wrapped("All jobs were read unchanged.", width, indent=2)
    for kind, notes in (
        ("left out", known.skipped),
        ("assumed", known.assumed),
        ("assumed, because the file does not contain it", known.invented),
    ):
        if notes:
            yield line(Span(f"  {kind}", "dim"))
            for note in notes:
                yield from _note(note, width)


def _note(note: Note, width: int) -> Iterator[Line]:
    first = f" (first: {printable(note.first)})" if note.first else ""
    start, *more = wrapped(printable(note.what) + first, width, indent=LABELS + 2)
    yield line(Span(pad(f"{note.count:,}", LABELS, "right"), "accent"), "  ", start.text[LABELS + 2 :])
    yield from more


_WIDEST = 100


class SentencesDialog(Dialog[None]):
    """Dialog with sentences as plain text: they may come from a file or another program."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter,q,u", "dismiss", "Close")]

    def __init__(self, title: str, sentences: Sequence[str]) -> None:
        super().__init__()
        self._title, self._sentences = title, sentences

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as dialog:
            dialog.border_title = self._title
            dialog.border_subtitle = "↑ ↓ scroll   esc close"
            with VerticalScroll():
                yield Page(self._lines)

    def _lines(self, width: int) -> list[Line]:
        lines: list[Line] = []
        for sentence in self._sentences:
            lines += [*wrapped(sentence, min(width, _WIDEST)), line("")]
        return lines[:-1]
