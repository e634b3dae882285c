"""First screen: a menu with pictures, each the chart of a sample at the time at which the sample opens."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from threading import Lock
from typing import TYPE_CHECKING, Any, ClassVar

from rich.segment import Segment
from textual import events, on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.worker import get_current_worker

from tui.annexes import annexed
from tui.chart.cells.cells import Brush, Cells
from tui.chart.cells.grid import Size
from tui.chart.cells.paint import sketch
from tui.look.palette import Look
from tui.look.sheets import Span, line
from tui.screens import dialogs
from tui.screens.dialogs.dialog import ClosesOnce
from tui.screens.first.page import DIGITS, MenuEntry, Page, arranged, drawn, keys, told
from tui.screens.replay.files import choose_theme
from tui.screens.replay.messages import OpenEntry, OpenLesson, Quit, ShowFirst, ShowLessons
from tui.widgets.bar import Bar
from tui.widgets.cell_rows import Lines
from tui.widgets.panel import add_scroll_mark
from tui.widgets.partial_update import SpanCompositor

if TYPE_CHECKING:
    from tui.chart.scene import ChartScene
    from tui.screens.commands import Command

HELP = (
    ("The first screen", (
        ("↑ ↓ ← →", "Choose what to open."), ("enter 1 ... 9", "Open it. A click does, too."),
        ("o t", "Open a file, or a sample by its name."), ("L", "Lessons."),
        ("P", "A puzzle: draw jobs, and see four policies schedule them."),
        ("G", "A game: you are the scheduler for an afternoon."),
        ("T", "Dark, light, high contrast; monochrome, ASCII."),
        ("esc", "Return to the open replay."), ("q", "Leave."),
    )),
)  # fmt: skip


class Sketched(Message):
    def __init__(self, name: str, cells: Cells, page: Page, look: Look) -> None:
        self.name, self.cells, self.page, self.look = name, cells, page, look
        super().__init__()


class Menu(Lines, can_focus=True):
    class Chosen(Message):
        """Message that another entry is highlighted."""

    class Opened(Message):
        """Message that the user opens the highlighted entry."""

    def __init__(self, entries: Sequence[MenuEntry], look: Look) -> None:
        super().__init__()
        self.entries = tuple(entries)
        self.chosen = 0
        self._brush = Brush(look)
        self._pictures: dict[str, Cells] = {}
        self._first = 0
        self.page = arranged(self.entries, 80, 20)

    def on_resize(self) -> None:
        self.page = arranged(self.entries, self.size.width - 1, self.size.height)
        self.see(self._brush.look)

    def see(self, look: Look) -> None:
        self._brush = Brush(look)
        self._pictures = {}
        self.forget()
        self._redraw()

    def put_picture(self, name: str, cells: Cells) -> None:
        self._pictures[name] = cells
        self._redraw()

    @property
    def is_whole(self) -> bool:
        return len(self._pictures) == sum(entry.has_picture for entry in self.entries)

    def choose(self, number: int) -> None:
        self.chosen = number
        self._redraw()
        self.post_message(self.Chosen())

    def move(self, columns: int, rows: int) -> None:
        self.choose(self.page.beside(self.chosen, columns, rows))

    def _redraw(self) -> None:
        width, height = self.size
        if not width or not height:
            return
        place, look = self.page.places[self.chosen], self._brush.look
        first = min(max(self._first, place.row + place.rows - height), place.row)
        self._first = min(first, max(self.page.rows - height, 0))
        rows = drawn(self.page, self.entries, self._pictures, self._brush, self.chosen)
        seen = rows[self._first : self._first + height]
        seen += [[Segment(" " * width, look.style(""))]] * (height - len(seen))
        shown = range(self._first, min(self._first + height, self.page.rows))
        self.put(dict(enumerate(add_scroll_mark(seen, 0, shown, self.page.rows, look))))

    # The mouse

    def _entry_at(self, event: events.MouseEvent) -> int | None:
        return self.page.at(event.x, event.y + self._first)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        number = self._entry_at(event)
        if number is not None and number != self.chosen:
            self.choose(number)

    def on_click(self, event: events.Click) -> None:
        number = self._entry_at(event)
        if number is not None:
            self.choose(number)
            self.post_message(self.Opened())

    def on_mouse_scroll_down(self) -> None:
        self.move(0, 1)

    def on_mouse_scroll_up(self) -> None:
        self.move(0, -1)


class FirstScreen(ClosesOnce[None]):
    DEFAULT_CSS = """
    FirstScreen { background: $background; }
    FirstScreen Bar { height: 1; }
    FirstScreen #title { margin-bottom: 1; }
    FirstScreen Menu { height: 1fr; }
    """
    AUTO_FOCUS = "Menu"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "move(0,-1)", "above", show=False),
        Binding("down", "move(0,1)", "below", show=False),
        Binding("left", "move(-1,0)", "left", show=False),
        Binding("right", "move(1,0)", "right", show=False),
        Binding("enter,space", "open", "open", show=False),
        Binding("o,t", "file", "a file", show=False),
        Binding("L", "lessons", "lessons", show=False),
        Binding("P", "puzzle", "puzzle", show=False),
        Binding("G", "play", "a game", show=False),
        Binding("T", "theme", "theme", show=False),
        Binding("question_mark", "help", "help", show=False),
        Binding("escape", "back", "back", show=False),
        Binding("q", "quit", "leave", show=False),
        *(Binding(digit, f"open_number({digit})", "open", show=False) for digit in DIGITS),
    ]

    def __init__(
        self, entries: Sequence[MenuEntry], recent: Sequence[str], look: Look, is_over: bool, chosen: int = 0
    ) -> None:  # fmt: skip
        super().__init__()
        self._compositor = SpanCompositor()
        self._recent, self._look, self._is_over = tuple(recent), look, is_over
        self._menu = Menu(entries, look)
        self._menu.chosen = chosen
        self._sketches: dict[str, Callable[[int, int], ChartScene]] = {}
        self._drawing = Lock()
        """Held while a picture is drawn: a thread that was cancelled may still draw when the next one begins."""

    @property
    def _has_files(self) -> bool:
        """Return True if any file can be opened; visitors of the web server have none."""
        return any(entry.kind == "file" for entry in self._menu.entries)

    def compose(self) -> ComposeResult:
        yield Bar("surface", id="title")
        yield self._menu
        yield Bar(id="told")
        yield Bar("surface", id="keys")

    def on_mount(self) -> None:
        self._show_bars()

    def on_resize(self) -> None:
        self._show_bars()
        self.call_after_refresh(self._sketch)

    def use_look(self, look: Look) -> None:
        self._look = look
        self._menu.see(look)
        self._show_bars()
        self._sketch()

    @on(Menu.Chosen)
    def _show_bars(self) -> None:
        width, entry = self.size.width, self._menu.entries[self._menu.chosen]
        asked = "what to learn?" if self._menu.entries[0].kind == "lesson" else "choose a sample, trace or session"
        what = f"parallel job schedules, step by step: {asked}"
        name = " schedscope"
        said = what if len(f"{name}   {what}") < width else asked
        title = line(Span(name, "strong"), Span(f"   {said}", "dim"))
        self.query_one("#title", Bar).show([title], self._look)
        self.query_one("#told", Bar).show([told(entry, width)], self._look)
        self.query_one("#keys", Bar).show([keys(width, self._is_over, self._has_files)], self._look)

    # Pictures

    @work(thread=True, exclusive=True)
    def _sketch(self) -> None:
        worker, page, look = get_current_worker(), self._menu.page, self._look
        size = Size(*page.picture)
        for entry in self._menu.entries:
            if not entry.has_picture or not size.columns or worker.is_cancelled:
                continue
            with self._drawing:
                if entry.value not in self._sketches:
                    self._sketches[entry.value] = _thumbnail(entry).chart
                chart = self._sketches[entry.value](size.columns, size.rows * (1 if look.patterned else 2))
            self.post_message(Sketched(entry.value, sketch(chart, look, size), page, look))

    @on(Sketched)
    def _show_picture(self, message: Sketched) -> None:
        if message.page is self._menu.page and message.look is self._look:
            self._menu.put_picture(message.name, message.cells)

    # Actions

    def action_move(self, columns: int, rows: int) -> None:
        self._menu.move(columns, rows)

    @on(Menu.Opened)
    def action_open(self) -> None:
        entry = self._menu.entries[self._menu.chosen]
        if entry.kind == "file":
            self.action_file()
        elif entry.kind == "learn":
            self.action_lessons()
        elif entry.kind == "cluster":
            if any(hasattr(screen, "observes") for screen in self.app.screen_stack):
                self.dismiss()  # back to its screen, which is below this one
            else:
                self.app.push_screen(annexed("cluster screen")(self._look))
        elif entry.kind == "lesson":
            self.post_message(OpenLesson(entry.value))
        else:
            self.post_message(OpenEntry(entry.value, entry.kind == "session"))

    def action_open_number(self, number: int) -> None:
        if number <= len(self._menu.entries):
            self._menu.choose(number - 1)
            self.action_open()

    def action_file(self) -> None:
        if not self._has_files:
            return
        self.app.push_screen(dialogs.TracePicker(self._recent), lambda trace: self._open(trace))

    def _open(self, trace: str | None) -> None:
        if trace is not None:
            self.post_message(OpenEntry(trace))

    def action_lessons(self) -> None:
        self.post_message(ShowLessons())

    def action_puzzle(self) -> None:
        self.app.push_screen(annexed("puzzle")(self._look, not self._has_files))

    def action_play(self) -> None:
        self.app.push_screen(annexed("game")(self._look))

    def action_theme(self) -> None:
        choose_theme(self, self._look)

    def action_help(self) -> None:
        self.app.push_screen(dialogs.HelpScreen(HELP, None))

    def action_back(self) -> None:
        if self._is_over:
            self.dismiss()
        elif self._menu.entries[0].kind == "lesson":
            self.post_message(ShowFirst())

    def action_quit(self) -> None:
        self.post_message(Quit())

    def palette_commands(self) -> Iterable[Command]:
        from tui.screens.commands import Command

        for number, entry in enumerate(self._menu.entries, 1):
            yield Command(f"open: {entry.title}", entry.what, f"open_number({number})")
        yield Command("theme", "Dark, light, high contrast; colour, monochrome, ASCII.", "theme")


def _thumbnail(entry: MenuEntry) -> Any:
    if entry.kind == "lesson":
        return annexed("thumbnail of a lesson")(entry.value)
    from tui.replay.thumbnail import Thumbnail

    return Thumbnail.of_sample(entry.value)
