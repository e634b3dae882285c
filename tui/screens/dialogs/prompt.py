"""Dialog with a question and a short answer that the user types, in a bar at the bottom."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Generic, TypeVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.events import Key
from textual.suggester import SuggestFromList
from textual.widgets import Input, Static

from sim.support.errors import SchedscopeError
from tui.look.sheets import Line, Span, line, wrapped
from tui.look.text import cells, drawn, shorten
from tui.screens.dialogs.dialog import Dialog, Page

T = TypeVar("T")

MOST_REMEMBERED = 50
MOST_LINES = 3
MOST_SUGGESTED = 12
KEYS, GAP = "enter  accept   esc  close", 2
"""Text at the end of the question's line, and columns between its parts."""


@dataclass
class Answers:
    """Answers that the user has given before, and texts that were not finished, for each title of a question."""

    given: dict[str, list[str]] = field(default_factory=dict)
    """Answers that the user has given, by title, the latest first."""
    begun: dict[str, str] = field(default_factory=dict)

    def keep(self, title: str, answer: str) -> None:
        earlier = [other for other in self.given.get(title, []) if other != answer]
        self.given[title] = [answer, *earlier][:MOST_REMEMBERED]
        self.begun.pop(title, None)


class Prompt(Dialog[T | None], Generic[T]):
    """Dialog with a line of text, which the function `read` turns into the answer. If `read` raises an error, it is
    shown below.

    Up and down show earlier answers, and Tab takes a suggestion. A text that was not finished is shown again when the
    same question is asked with the same `answers`.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "walk(1)", "Earlier answer"),
        Binding("down", "walk(-1)", "Later answer"),
        Binding("tab", "complete", "Complete", priority=True),
    ]

    def __init__(
        self,
        title: str,
        hint: str,
        read: Callable[[str], T],
        suggestions: Sequence[str] = (),
        initial: str = "",
        answers: Answers | None = None,
        typed: Callable[[str], None] | None = None,
    ) -> None:
        """Make the dialog; `typed` is called with the text whenever it changes."""
        super().__init__()
        self._typed = typed
        self._title, self._hint, self._read, self._suggestions = title, hint, read, tuple(suggestions)
        self._answers = answers if answers is not None else Answers()
        self._initial = initial or self._answers.begun.get(title, "")
        self._walked = 0
        self._draft = self._initial
        self._early = ""
        self._has_room = True

    def compose(self) -> ComposeResult:
        with Vertical(id="bar"):
            with Horizontal(id="question"):
                yield Static(drawn(self._title), id="title", markup=False)
                yield Static(drawn(self._hint), id="hint", markup=False)
                yield Static(KEYS, id="keys", markup=False)
            with Horizontal(id="answer"):
                yield Static("❯", id="sign")
                yield Input(
                    self._initial,
                    compact=True,
                    select_on_focus=bool(self._initial),
                    suggester=SuggestFromList(self._suggestions, case_sensitive=False),
                )
            yield Page(id="below")

    def on_mount(self) -> None:
        self._show(self._initial)

    def on_resize(self) -> None:
        room = self.app.size.width - 2  # the bar is padded
        self._has_room = sum(map(cells, (self._title, self._hint, KEYS))) + 2 * GAP <= room
        self.query_one("#hint").visible = self._has_room
        self.query_one("#below", Page).refresh(layout=True)

    def on_key(self, event: Key) -> None:
        """Put characters into the field that are typed before the field has the focus."""
        if event.is_printable and event.character and self.focused is None:
            event.stop()
            field = self.query_one(Input)
            field.select_on_focus = False
            self._fill_in(self._early + event.character)
            self._early += event.character

    @on(Input.Changed)
    def _text_typed(self, event: Input.Changed) -> None:
        if not self._walked:
            self._draft = event.value
        self._show(event.value)
        if self._typed is not None:
            self._typed(event.value)

    @on(Input.Submitted)
    def _text_submitted(self, event: Input.Submitted) -> None:
        typed = event.value.strip()
        try:
            answer = self._read(typed)
        except SchedscopeError:
            self._show(event.value, asked=True)
        else:
            self._answers.keep(self._title, typed)
            self.dismiss(answer)

    async def action_dismiss(self, result: T | None = None) -> None:
        """Close the dialog without an answer; the typed text is kept for the next time."""
        self._answers.begun[self._title] = self.query_one(Input).value
        self.dismiss(result)

    def action_walk(self, back: int) -> None:
        """Show the answer given `back` answers earlier; after the latest comes the unfinished text."""
        earlier = self._answers.given.get(self._title, [])
        walked = min(max(self._walked + back, 0), len(earlier))
        if walked != self._walked:
            self._walked = walked
            self._fill_in(earlier[walked - 1] if walked else self._draft)

    def action_complete(self) -> None:
        if matching := suggested(self.query_one(Input).value, self._suggestions):
            self._fill_in(matching[0])

    def action_take(self, index: int) -> None:
        if matching := suggested(self.query_one(Input).value, self._suggestions)[index : index + 1]:
            self._fill_in(matching[0])

    def _fill_in(self, text: str) -> None:
        field = self.query_one(Input)
        field.value = text
        field.cursor_position = len(text)
        field.focus()

    def _show(self, typed: str, asked: bool = False) -> None:
        """Show what is wrong or else suggestions; `asked` if the user pressed Enter."""
        message = self._error_in(typed.strip()) if typed.strip() or asked else None
        self.query_one("#bar").set_class(asked and message is not None, "-refused")
        page = self.query_one("#below", Page)
        if message is None:
            matching = suggested(typed, self._suggestions)
            page.show(lambda width: [*listed_suggestions(matching, width), *self._hint_below(width)])
        else:
            page.show(lambda width: [*complained(typed, message, width, asked), *self._hint_below(width)])

    def _hint_below(self, width: int) -> list[Line]:
        return [] if self._has_room else wrapped(self._hint, width, "dim")

    def _error_in(self, typed: str) -> str | None:
        try:
            self._read(typed)
        except SchedscopeError as error:
            return str(error)
        return None


def suggested(typed: str, suggestions: Sequence[str]) -> list[str]:
    wanted = typed.strip().lower()
    found = [each for each in suggestions if wanted in each.lower() and wanted != each.lower()]
    return sorted(found, key=lambda each: not each.lower().startswith(wanted))[:MOST_SUGGESTED]


def listed_suggestions(matching: Sequence[str], width: int) -> list[Line]:
    """Return as many suggestions as fit, which clicks take; empty without any."""

    def spans() -> Iterator[Span]:
        room = width
        for index, each in enumerate(matching):
            room -= cells(each) + 3
            if room < 0:
                return
            yield Span(each, "dim", f"take({index})")
            yield Span("   ")

    return [line(*spans())] if matching else []


def complained(typed: str, message: str, width: int, asked: bool) -> list[Line]:
    """Return `pointed` if the message fits into its line, otherwise carets over the message."""
    start, length = spot(typed, message)
    if cells(message) + length + 1 <= width:
        return [pointed(typed, message, width, asked)]
    style = "bad" if asked else "warn"
    carets = line(" " * start, Span(shorten("^" * length, max(width - start, 0)), style))
    return [carets, *wrapped(message, width, style)[:MOST_LINES]]


def pointed(typed: str, message: str, width: int, asked: bool) -> Line:
    """Return a line with the message on what is wrong. Its carets (^) point to the wrong part of the text above.
    `asked` is True if the user pressed Enter; then the line has the colour of an error.

    >>> pointed("queue > many", "expected a number, got 'many'", 60, False).text
    "        ^^^^ expected a number, got 'many'"
    """
    start, length = spot(typed, message)
    style = "bad" if asked else "warn"
    indent = min(start, max(width - cells(message) - length - 1, 0))
    carets = "^" * length if indent == start else ""
    return line(" " * indent, Span(shorten(f"{carets} {message}".strip(), width - indent), style))


def spot(typed: str, message: str) -> tuple[int, int]:
    """Return (column, width) of the wrong part of the typed text: the last part of it that the message quotes, or else
    all of it.

    >>> spot("d12 25:00", "no hour '25'"), spot("x17", "no such job")
    ((4, 2), (0, 3))
    """
    complaint = message.partition("did you mean")[0]
    for quoted in reversed(re.findall(r"'([^']+)'", complaint)):
        at = typed.rfind(quoted)
        if at >= 0:
            return cells(typed[:at]), cells(quoted)
    return cells(typed) - cells(typed.lstrip()), max(cells(typed.strip()), 1)
