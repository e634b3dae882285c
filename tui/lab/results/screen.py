"""Screen of a results file, updated while a sweep writes it: a table of means, their plot, single runs."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from string import ascii_lowercase
from typing import TYPE_CHECKING, Any, ClassVar

from rich.segment import Segment
from rich.text import Text
from textual import events, on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.message import Message
from textual.screen import Screen
from textual.worker import Worker, get_current_worker

from sim.lab.again import session_of_run
from sim.lab.measured import measured_metric
from sim.lab.pivot import RunFilter, check_factor
from sim.metrics.catalogue import MEASURED
from sim.session.session import one_line
from sim.support.errors import SchedscopeError
from tui.lab.results.found import Found, Shown, drawn_plot, found, runs_in
from tui.lab.results.page import ResultsGrid, Window, drawn, grid_of, keys, note, place_at, title
from tui.look.palette import Look
from tui.screens import dialogs
from tui.screens.dialogs.choice import ChoiceDialog
from tui.screens.replay.files import choose_theme
from tui.screens.replay.messages import OpenEntry, Quit
from tui.widgets.bar import Bar
from tui.widgets.cell_rows import Lines, SizedLines

if TYPE_CHECKING:
    from tui.screens.commands import Command

EVERY = 0.5
"""Seconds between two checks of whether the file has changed."""
BESIDE = 110
"""Smallest width of the screen, in columns, at which the plot is next to the table."""
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


class ResultsTable(Lines, can_focus=True):
    class Opened(Message):
        """Message that the user opens the highlighted cell."""

    def __init__(self, look: Look) -> None:
        super().__init__()
        self._look, self.window = look, Window()
        self._grid = ResultsGrid(("",), ())
        self._whole_rows = False

    def show(self, grid: ResultsGrid, look: Look, whole_rows: bool) -> None:
        self._grid, self._look, self._whole_rows = grid, look, whole_rows
        self._redraw()

    def on_resize(self) -> None:
        self.forget()
        self._redraw()

    def move(self, columns: int, rows: int) -> None:
        self._choose(self.window.row + rows, self.window.column + columns)

    def _choose(self, row: int, column: int) -> None:
        self.window = replace(self.window, row=row, column=column)
        self._redraw()

    def _redraw(self) -> None:
        width, height = self.size
        if width and height:
            self.window = self.window.on(self._grid, width, height)
            lines = drawn(self._grid, self.window, width, height, self._look, self._whole_rows)
            self.put(dict(enumerate(lines)))

    def on_click(self, event: events.Click) -> None:
        if (place := place_at(self._grid, self.window, event.x, event.y)) is not None:
            is_again = place == (self.window.row, self.window.column)
            self._choose(*place)
            if is_again:
                self.post_message(self.Opened())

    def on_mouse_scroll_down(self) -> None:
        self.move(0, 1)

    def on_mouse_scroll_up(self) -> None:
        self.move(0, -1)


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
    ResultsScreen ResultsTable { height: 1fr; padding: 0; }
    ResultsScreen Plot { height: 1fr; }
    ResultsScreen.-beside #both { layout: horizontal; }
    ResultsScreen.-beside ResultsTable { height: 100%; }
    ResultsScreen.-beside Plot { width: 1fr; height: 100%; margin-left: 2; }
    """
    AUTO_FOCUS = "ResultsTable"
    HORIZONTAL_BREAKPOINTS: ClassVar[list[tuple[int, str]] | None] = [  # type: ignore[misc]  # declared the other way
        (0, "-below"),
        (BESIDE, "-beside"),
    ]
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "move(0,-1)", "above", show=False),
        Binding("down", "move(0,1)", "below", show=False),
        Binding("left", "move(-1,0)", "left", show=False),
        Binding("right", "move(1,0)", "right", show=False),
        Binding("pageup", "move(0,-10)", "above", show=False),
        Binding("pagedown", "move(0,10)", "below", show=False),
        Binding("enter,space", "open", "open", show=False),
        Binding("escape", "back", "back", show=False),
        Binding("x", "rows", "rows", show=False),
        Binding("c", "columns", "columns", show=False),
        Binding("v", "value", "value", show=False),
        Binding("w", "where", "where", show=False),
        Binding("r", "runs", "all runs", show=False),
        Binding("l", "log", "log", show=False),
        Binding("T", "theme", "theme", show=False),
        Binding("question_mark", "help", "help", show=False),
        Binding("q", "quit", "leave", show=False),
    ]

    def __init__(self, path: str, look: Look) -> None:
        super().__init__()
        self._path, self._look = path, look
        self._shown = Shown()
        self._newest: Worker[None] | None = None
        self.found: Found | None = None
        self._seen: tuple[int, int] | None = None
        """Modification time and size of the file when it was last read"""
        self._means = Window()

    def compose(self) -> ComposeResult:
        yield Bar("surface", id="title")
        with Container(id="both"):
            yield ResultsTable(self._look)
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
        self.query_one(ResultsTable).forget()
        self.query_one(Plot).forget()
        self._show_bars()

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

    def _see(self, shown: Shown, window: Window | None = None) -> None:
        """Show other results; the table from its beginning unless `window` is given."""
        self._shown = shown
        self.query_one(ResultsTable).window = window or Window()
        self._read()

    # Drawing

    def _show_bars(self) -> None:
        width, in_runs = self.size.width, self._shown.runs is not None
        where = self._shown.runs or (self.found.ask.where if self.found else ())
        self.query_one("#title", Bar).show([title(self._path, self.found, where, width)], self._look)
        self.query_one("#note", Bar).show([note(self.found)], self._look)
        self.query_one("#keys", Bar).show([keys(width, in_runs)], self._look)
        if self.found is not None:
            table, grid = self.query_one(ResultsTable), grid_of(self.found)
            is_beside = self.has_class("-beside")
            table.styles.max_height = None if is_beside else len(grid.rows) + 2
            table.styles.width = min(grid.width, width * 3 // 5) if is_beside else "1fr"
            table.show(grid, self._look, in_runs)
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

    def action_move(self, columns: int, rows: int) -> None:
        self.query_one(ResultsTable).move(columns, rows)

    @on(ResultsTable.Opened)
    def action_open(self) -> None:
        if (of := self.found) is None:
            return
        window = self.query_one(ResultsTable).window
        if of.listed is not None:
            if window.row < len(of.listed):
                self._replay(window.row)
        elif of.table.rows:
            at = of.table.rows[window.row], of.table.columns[window.column - 1]
            if at in of.table.cells:
                self._means = window
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
                self._see(
                    replace(self._shown, ask=replace(self.found.ask, value=name)), self.query_one(ResultsTable).window
                )

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
