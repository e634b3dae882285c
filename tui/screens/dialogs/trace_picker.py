"""Dialog to choose a trace: a sample, a recent trace, or a file by its path."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from time import sleep
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.widgets import Button, Input, OptionList, Static
from textual.widgets.option_list import Option
from textual.worker import get_current_worker

from sim.support.errors import SchedscopeError
from sim.support.files import is_database
from sim.support.formatting import count, printable, processors
from sim.workload.model import Trace, Workload
from sim.workload.reading import read
from sim.workload.samples import SAMPLES
from tui.look.sheets import Line, Span, line, wrapped
from tui.screens.dialogs.dialog import Dialog, Draw, Page
from tui.screens.dialogs.report import facts, fidelity, notes_of
from tui.screens.dialogs.trace_choices import Choice, completed, is_path, sections
from tui.widgets.options import Options, is_listed

SETTLED = 0.15
"""Seconds for which a file must stay highlighted before it is read for its preview."""


class TracePicker(Dialog[str | None]):
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "move(False)", "Trace above"),
        Binding("down", "move(True)", "Trace below"),
        Binding("tab", "complete", "Complete the path", priority=True),
    ]

    class Looked(Message):
        """Message that a file was read for its preview; `wrong` is the error if it is no trace."""

        def __init__(self, choice: Choice, draw: Draw, wrong: str | None) -> None:
            super().__init__()
            self.choice, self.draw, self.wrong = choice, draw, wrong

    def __init__(self, recent: Sequence[str]) -> None:
        super().__init__()
        self._recent = tuple(recent)
        self._choices: list[Choice | None] = []
        """Traces in the order of the list; None for a heading"""
        self._chosen: Choice | None = None
        self._clicked: Choice | None = None
        self._wrong: dict[Choice, str] = {}

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as dialog:
            dialog.border_title = "Which trace?"
            dialog.border_subtitle = "↑ ↓ choose   tab complete   enter open   esc close"
            yield Input(placeholder="find, or a path such as ~/logs/", compact=True, id="find")
            with Horizontal(id="halves"):
                with Vertical(id="left"):
                    yield Options(id="traces", compact=True)
                with VerticalScroll(id="right", can_focus=False):
                    yield Page(id="preview")
            with Horizontal(id="bottom"):
                yield Static(id="wrong")
                yield Button("Cancel", id="cancel", compact=True)
                yield Button("Open", id="open", variant="primary", compact=True)

    def on_mount(self) -> None:
        self.query_one("#traces", OptionList).can_focus = False

    def on_resize(self) -> None:
        self._list(self._chosen)

    @property
    def _text_typed(self) -> str:
        return self.query_one("#find", Input).value

    # The list

    @on(Input.Changed, "#find")
    def _find(self) -> None:
        self._list(None)

    def _list(self, chosen: Choice | None) -> None:
        """Show the matching traces; highlight `chosen` if it is among them, otherwise the first one."""
        traces = self.query_one("#traces", OptionList)
        with self.prevent(OptionList.OptionHighlighted):
            traces.clear_options()
            listed = list(self._options())
            self._choices = [choice for choice, _ in listed]
            traces.add_options(option for _, option in listed)
            there = [at for at, choice in enumerate(self._choices) if choice and chosen in (choice, None)]
            traces.highlighted = there[0] if there else None
        self._choose(self._choices[there[0]] if there else None)

    def _options(self) -> Iterator[tuple[Choice | None, Option]]:
        for number, section in enumerate(sections(self._text_typed, self._recent)):
            if number:
                yield None, _note("")
            yield None, _note(section.title)
            for choice in section.choices:
                yield choice, Option(_prompt(choice, self.is_wide))
            if section.more:
                yield None, _note(section.more)

    def action_move(self, down: bool) -> None:
        traces = self.query_one("#traces", OptionList)
        if down:
            traces.action_cursor_down()
        else:
            traces.action_cursor_up()

    def action_complete(self) -> None:
        """Complete the typed path; if nothing can be added, type the highlighted trace's."""
        further = completed(self._text_typed) if self._text_typed else ""
        if further == self._text_typed and self._chosen is not None:
            further = self._chosen.value
        self._type(further)

    def _type(self, text: str) -> None:
        field = self.query_one("#find", Input)
        field.value = text
        field.cursor_position = len(text)

    # The preview

    @on(OptionList.OptionHighlighted, "#traces")
    def _highlighted(self, event: OptionList.OptionHighlighted) -> None:
        if is_listed(event):
            self._choose(self._choices[event.option_index])

    def _choose(self, choice: Choice | None) -> None:
        self.workers.cancel_group(self, "preview")
        self._chosen = choice
        self.query_one("#open", Button).disabled = choice is None
        self._show_error(self._wrong.get(choice, "") if choice else _no_match(self._text_typed))
        page = self.query_one("#preview", Page)
        match choice:
            case None:
                page.show(lambda width: ())
            case Choice("sample", name):
                page.show(partial(sample, name))
            case Choice("puzzle"):
                page.show(partial(said, choice, "A puzzle of jobs, in one line.", "dim"))
            case Choice("folder"):
                page.show(partial(said, choice, "A folder: enter looks into it.", "dim"))
            case Choice("missing", path):
                page.show(partial(said, choice, f"{printable(path)} is no longer there.", "bad"))
            case _:
                self._look_into(choice)

    @work(thread=True, exclusive=True, group="preview")
    def _look_into(self, choice: Choice) -> None:
        worker = get_current_worker()
        draw, is_small = glance(choice)
        if not worker.is_cancelled:
            self.post_message(self.Looked(choice, draw, None))
        if is_small:
            sleep(SETTLED)
            if not worker.is_cancelled:
                self.post_message(self.Looked(choice, *look_into(choice)))

    @on(Looked)
    def _show(self, event: Looked) -> None:
        if event.choice == self._chosen:
            self.query_one("#preview", Page).show(event.draw)
            if event.wrong:
                self._wrong[event.choice] = event.wrong

    def _show_error(self, words: str) -> None:
        self.query_one("#wrong", Static).update(Content(printable(words)))

    # The answer

    @on(OptionList.OptionSelected, "#traces")
    def _clicked_at(self, event: OptionList.OptionSelected) -> None:
        if not is_listed(event):
            return
        choice = self._choices[event.option_index]
        if choice is not None and choice == self._clicked:
            self._open()
        self._clicked = choice

    @on(Input.Submitted)
    @on(Button.Pressed, "#open")
    def _open(self) -> None:
        choice = self._chosen
        if choice is None:
            return
        if choice.kind == "folder":
            self._type(choice.value)
        elif choice.kind == "missing":
            self._show_error(f"{choice.title} is no longer there")
        elif choice in self._wrong:
            self._show_error(self._wrong[choice])
        else:
            self.dismiss(choice.value)

    @on(Button.Pressed, "#cancel")
    def _cancel(self) -> None:
        self.dismiss(None)


def _no_match(typed: str) -> str:
    return f"nothing begins with {typed}" if is_path(typed) else f"no sample and no file matches {typed!r}"


def _note(words: str) -> Option:
    return Option(Content.styled(printable(words), "$text-muted"), disabled=True)


def _prompt(choice: Choice, with_what: bool) -> Content:
    title = (printable(choice.title), "$text-disabled" if choice.kind == "missing" else "bold")
    if with_what and choice.what:
        return Content.assemble(title, ("\n" + printable(choice.what), "$text-second"))
    return Content.assemble(title)


# Previews.

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
    """Return the size of a file, `many` bytes, as text."""
    amount, unit = float(many), 0
    while amount >= 1024 and unit < len(UNITS) - 1:
        amount, unit = amount / 1024, unit + 1
    return f"{amount:.1f} {UNITS[unit]}" if unit and amount < 10 else f"{amount:.0f} {UNITS[unit]}"
