"""Screen of a results file, updated while a sweep writes it: a table of means, their plot, single runs."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from string import ascii_lowercase
from typing import TYPE_CHECKING, Any, ClassVar

from rich.segment import Segment
from rich.text import Text
from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.coordinate import Coordinate
from textual.message import Message
from textual.screen import Screen
from textual.widgets import DataTable
from textual.worker import Worker, get_current_worker

from sim.lab.again import session_of_run
from sim.lab.measured import measured_metric
from sim.lab.pivot import RunFilter, check_factor
from sim.metrics.catalogue import MEASURED
from sim.session.session import one_line
from sim.support.errors import SchedscopeError
from tui.lab.results.found import Found, ResultsGrid, Shown, drawn_plot, found, grid_of, keys, note, runs_in, title
from tui.look import text
from tui.look.palette import Look
from tui.screens import dialogs
from tui.screens.dialogs.choice import ChoiceDialog
from tui.screens.replay.files import choose_theme
from tui.screens.replay.messages import OpenEntry, Quit
from tui.widgets.bar import Bar
from tui.widgets.cell_rows import SizedLines

if TYPE_CHECKING:
    from tui.screens.commands import Command

EVERY = 0.5
"""Seconds between two checks of whether the file has changed."""
BESIDE = 110
"""Smallest width of the screen, in columns, at which the plot is next to the table."""
ACTIONS = {
    "space": "open", "escape": "back", "x": "rows", "c": "columns", "v": "value", "w": "where", "r": "runs",
    "l": "log", "T": "theme", "question_mark": "help", "q": "quit",
}  # fmt: skip
HELP = (
    ("A file of results", (
        ("↑ ↓ ← →", "Choose a mean, or a run."), ("enter", "The runs of a mean; the replay of a run."),
        ("esc", "Back to the means."), ("x c", "Choose the factors of rows and columns."),
        ("v", "Which number."), ("w", "Only some runs: load<=1.2, policy=easy; nothing: all."), ("r", "Every run."),
        ("l", "The plot by orders of magnitude."), ("T", "Dark, light, high contrast; monochrome, ASCII."),
        ("H", "In the replay of a run: back to here."), ("q", "Leave."),
    )),
)  # fmt: skip


class Read(Message):
    """Message of a thread with the content of the file or, if reading failed, the reason."""

    def __init__(self, thread: Worker[None], found: Found | str) -> None:
        self.thread, self.found = thread, found
        super().__init__()


class ResultsTable(DataTable[Text]):
    """Table in which the cursor is on a mean or, of single runs, on a row."""

    def __init__(self) -> None:
        super().__init__(cursor_background_priority="css", fixed_columns=1)

    def show(self, grid: ResultsGrid, look: Look, of_rows: bool, cursor: Coordinate) -> None:
        self.clear(columns=True)
        self.cursor_type = "row" if of_rows else "cell"
        columns = zip(grid.head, *(tuple(word.text for word in row) for row in grid.rows), strict=False)
        widths = [max(map(text.cells, column)) for column in columns]

        def padded(word: str, style: str, at: int) -> Text:
            return Text(text.pad(word, widths[at], "right" if at else "left"), look.style(style))

        for at, name in enumerate(grid.head[: len(widths)]):
            self.add_column(padded(name, "dim", at))
        for row in grid.rows:
            self.add_row(*(padded(word.text, word.style, at) for at, word in enumerate(row)))
        self.move_cursor(row=cursor.row, column=cursor.column)

    def validate_cursor_coordinate(self, value: Coordinate) -> Coordinate:
        """Keep the cursor out of the first column, which names the rows."""
        found = super().validate_cursor_coordinate(value)
        return Coordinate(found.row, max(found.column, 1))


class Plot(SizedLines):
    def show(self, told: str, look: Look) -> None:
        """Show this plot `told`, a text that contains colours as terminal escape sequences."""
        console, blank = self.app.console, look.style("")
        texts = [Text.from_ansi(each, style=blank, end="") for each in told.splitlines()]
        self.fill([[Segment(s.text, s.style or blank) for s in text.render(console)] for text in texts], blank)


class ResultsScreen(Screen[None]):
    DEFAULT_CSS = """
    ResultsScreen { background: $background; }
    ResultsScreen Bar { height: 1; }
    ResultsScreen #both { height: 1fr; layout: vertical; }
    ResultsScreen ResultsTable { height: auto; max-height: 50%; background: $background; }
    ResultsScreen ResultsTable:focus, ResultsTable:focus > .datatable--header { background-tint: $background 0%; }
    ResultsScreen ResultsTable > .datatable--header { background: $background; text-style: none; }
    ResultsScreen ResultsTable > .datatable--fixed { background: $background; }
    ResultsScreen Plot { height: 1fr; }
    ResultsScreen.-beside #both { layout: horizontal; }
    ResultsScreen.-beside ResultsTable { width: auto; max-width: 60%; height: 100%; max-height: 100%; }
    ResultsScreen.-beside Plot { width: 1fr; height: 100%; margin-left: 2; }
    """
    AUTO_FOCUS = "ResultsTable"
    HORIZONTAL_BREAKPOINTS: ClassVar[list[tuple[int, str]] | None] = [  # type: ignore[misc]  # declared the other way
        (0, "-below"),
        (BESIDE, "-beside"),
    ]
    BINDINGS: ClassVar[list[BindingType]] = [Binding(key, action, show=False) for key, action in ACTIONS.items()]

    def __init__(self, path: str, look: Look) -> None:
        super().__init__()
        self._path, self._look = path, look
        self._shown = Shown()
        self._newest: Worker[None] | None = None
        self.found: Found | None = None
        self._seen: tuple[int, int] | None = None
        """Modification time and size of the file when it was last read"""
        self._means: Coordinate | None = None
        """Place of the cursor among the means while runs are shown"""
        self._next: Coordinate | None = None
        """Place of the cursor in what is read next; None if it stays"""

    def compose(self) -> ComposeResult:
        yield Bar("surface", id="title")
        with Container(id="both"):
            yield ResultsTable()
            yield Plot()
        yield Bar(id="note")
        yield Bar("surface", id="keys")

    def on_mount(self) -> None:
        self._show_bars()
        self._look_again()
        self.set_interval(EVERY, self._look_again)

    def on_resize(self) -> None:
        self._show_bars()

    def use_look(self, look: Look) -> None:
        self._look = look
        self.query_one(Plot).forget()
        self._show_bars()
        self._show_table(self.query_one(ResultsTable).cursor_coordinate)

    # Reading

    def _look_again(self) -> None:
        """Read the file again if it has changed since it was last read, as it does during a sweep."""
        try:
            known = os.stat(self._path)
            now = known.st_mtime_ns, known.st_size
        except OSError:
            now = 0, 0
        if now != self._seen:
            self._seen = now
            self._read()

    def _read(self) -> None:
        self._newest = self._read_in_thread(self._shown)

    @work(thread=True, exclusive=True, group="reading")
    def _read_in_thread(self, shown: Shown) -> None:
        try:
            made: Found | str = found(self._path, shown)
        except SchedscopeError as error:
            made = str(error)
        self.post_message(Read(get_current_worker(), made))

    @on(Read)
    def _show_read(self, message: Read) -> None:
        if message.thread is not self._newest:
            return
        if isinstance(message.found, str):
            self.notify(message.found, severity="error", timeout=12)
            return
        self.found = message.found
        self._show_bars()
        self._show_table(self._next or self.query_one(ResultsTable).cursor_coordinate)
        self._next = None

    def _see(self, shown: Shown, cursor: Coordinate | None = None) -> None:
        """Show other results, with the cursor at this place or else at the beginning of the table."""
        self._shown, self._next = shown, cursor or Coordinate(0, 1)
        self._read()

    # Drawing

    def _show_bars(self) -> None:
        width, in_runs = self.size.width, self._shown.runs is not None
        where = self._shown.runs or (self.found.ask.where if self.found else ())
        self.query_one("#title", Bar).show([title(self._path, self.found, where, width)], self._look)
        self.query_one("#note", Bar).show([note(self.found)], self._look)
        self.query_one("#keys", Bar).show([keys(width, in_runs)], self._look)

    def _show_table(self, cursor: Coordinate) -> None:
        if self.found is not None:
            self.query_one(ResultsTable).show(grid_of(self.found), self._look, self.found.listed is not None, cursor)
            self._plot()

    @on(Plot.Resized)
    def _plot(self) -> None:
        plot = self.query_one(Plot)
        width, height = plot.size
        if self.found is not None and width and height:
            look = self._look
            told = drawn_plot(self.found, self._shown, width, height, look.colour, not look.ascii)
            plot.show(told, look)

    # Actions

    @on(ResultsTable.CellSelected)
    @on(ResultsTable.RowSelected)
    def action_open(self) -> None:
        if (of := self.found) is None:
            return
        cursor = self.query_one(ResultsTable).cursor_coordinate
        if of.listed is not None:
            if cursor.row < len(of.listed):
                self._replay(cursor.row)
        elif of.table.rows:
            at = of.table.rows[cursor.row], of.table.columns[cursor.column - 1]
            if at in of.table.cells:
                self._means = cursor
                self._see(replace(self._shown, ask=of.ask, runs=runs_in(of.ask, *at)))

    def _replay(self, row: int) -> None:
        assert self.found is not None
        assert self.found.listed is not None
        try:
            self.post_message(OpenEntry(one_line(session_of_run(self.found.listed[row])), is_session=True))
        except (SchedscopeError, OSError) as error:
            self.notify(str(error), severity="error", timeout=12)

    def action_back(self) -> None:
        if self._shown.runs is not None:
            self._see(replace(self._shown, runs=None), self._means)

    def action_runs(self) -> None:
        if self.found is not None:
            self._see(replace(self._shown, ask=self.found.ask, runs=self.found.ask.where))

    def action_rows(self) -> None:
        self._choose("Rows", self._factors(), "rows")

    def action_columns(self) -> None:
        self._choose("Columns", [("-", "nothing across"), *self._factors()], "columns")

    def _factors(self) -> list[tuple[str, str]]:
        of = self.found
        varying = dict(of.varying) if of else {}
        names = {"policy": varying.pop("policy", 1), "family": 0} | varying
        return [
            (name, f"{many} of them" if many else "policies without their parameters") for name, many in names.items()
        ]

    def _choose(self, asked: str, names: Sequence[tuple[str, str]], part: str) -> None:
        options = [(key, name, meaning) for key, (name, meaning) in zip(ascii_lowercase, names, strict=False)]
        current = getattr(self.found.ask, part) if self.found else ""

        def chosen(name: str | None) -> None:
            if name is not None and self.found is not None:
                self.action_use(part, "" if name == "-" else check_factor(name))

        self.app.push_screen(ChoiceDialog(asked, options, current), chosen)

    def action_value(self) -> None:
        def read(typed: str) -> str:
            return measured_metric(typed.strip().replace(" ", "_")).name

        def chosen(name: str | None) -> None:
            if name is not None and self.found is not None:
                cursor = self.query_one(ResultsTable).cursor_coordinate
                self._see(replace(self._shown, ask=replace(self.found.ask, value=name)), cursor)

        names = [entry.name for entry in MEASURED]
        self.app.push_screen(dialogs.Prompt("Value", "such as mean_wait, p95_slowdown", read, names), chosen)

    def action_where(self) -> None:
        def read(typed: str) -> tuple[RunFilter, ...]:
            return tuple(RunFilter.of(part) for part in typed.split(",") if part.strip())

        def chosen(where: tuple[RunFilter, ...] | None) -> None:
            if where is not None and self.found is not None:
                runs = None if self._shown.runs is None else where
                self._see(replace(self._shown, ask=replace(self.found.ask, where=where), runs=runs))

        self.app.push_screen(dialogs.Prompt("Where", "such as load<=1.2, policy=easy; nothing: all", read), chosen)

    def action_log(self) -> None:
        self._shown = replace(self._shown, log=not self._shown.log)
        self._plot()

    def action_theme(self) -> None:
        choose_theme(self, self._look)

    def action_help(self) -> None:
        self.app.push_screen(dialogs.HelpScreen(HELP, None))

    def action_quit(self) -> None:
        self.post_message(Quit())

    def palette_commands(self) -> Iterable[Command]:
        from tui.screens.commands import Command

        for name, _ in self._factors():
            yield Command(f"rows: {name}", "What differs from row to row.", f"use('rows', {name!r})")
            yield Command(f"columns: {name}", "What differs from column to column.", f"use('columns', {name!r})")
        for entry in MEASURED:
            yield Command(f"value: {entry.name}", entry.title, f"use('value', {entry.name!r})")
        yield Command("theme", "Dark, light, high contrast; colour, monochrome, ASCII.", "theme")

    def action_use(self, part: str, value: str) -> None:
        """Show the means with `value` in the query's field `part` ("rows", "columns" or "value")."""
        changed: dict[str, Any] = {part: value}
        if self.found is not None:
            self._see(replace(self._shown, ask=replace(self.found.ask, **changed), runs=None))
