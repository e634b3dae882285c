"""Widget for a panel: it shows a sheet with a title, fixed lines, and a body that scrolls."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, ClassVar, Protocol, TypeAlias

from rich.segment import Segment
from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message

from sim.support.formatting import printable_lines
from tui.look import text
from tui.look.palette import Look
from tui.look.sheets import Line, Sheet, Size, Span, width_of
from tui.panels.context import window
from tui.panels.meanings import title_meaning
from tui.widgets.cell_rows import Lines, fitted

MARGIN = 1
"""Number of blank columns at each side; the right one shows the scroll mark."""
AFTER = 2
"""Number of rows that also stay visible below the line to scroll to, which may be wrapped"""
WHEEL = 3
AnyDraw: TypeAlias = Callable[[Any, Size, int], Sheet]
"""Function of a context of any kind, the size, and the first line of the body."""
AnyTell: TypeAlias = Callable[[Any, Size, int, int], str]


class Shown(Protocol):
    @property
    def look(self) -> Look: ...

    @property
    def selected(self) -> int | None: ...

    @property
    def hovered(self) -> int | None: ...

    @property
    def decision(self) -> int | None: ...

    @property
    def whose(self) -> Span | None: ...

    def told(self, line: Line, column: int, rank: int | None) -> str:
        """Return the tooltip at `column` of a line: text on the job `rank` or, if None, on the line; "" for none."""


class Panel(Lines, can_focus=True):
    """Panel whose content is a sheet (a title and lines of text), which `draw` makes from the panel's context."""

    ALLOW_SELECT = True
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "move(-1)", "Up", show=False, id="panel.up"),
        Binding("down", "move(1)", "Down", show=False, id="panel.down"),
        Binding("pageup", "move_page(-1)", "Page up", show=False, id="panel.page_up"),
        Binding("pagedown", "move_page(1)", "Page down", show=False, id="panel.page_down"),
        Binding("enter", "choose", "Select", show=False, id="panel.choose"),
    ]

    class Picked(Message):
        def __init__(self, rank: int) -> None:
            self.rank = rank
            super().__init__()

    class Hovered(Message):
        """Message that the pointer is on the line of the job `rank`; None if the pointer has left that line."""

        def __init__(self, rank: int | None) -> None:
            self.rank = rank
            super().__init__()

    class Maximise(Message):
        """Message that the title was clicked, to change between the whole screen and the panel's usual size."""

        def __init__(self, panel: Panel) -> None:
            self.panel = panel
            super().__init__()

        @property
        def control(self) -> Panel:
            return self.panel

    class NeedsChanged(Message):
        """Message that the panel needs another number of rows to show its whole content."""

    def __init__(
        self, draw: AnyDraw, *, tell: AnyTell | None = None, id: str | None = None, classes: str | None = None
    ) -> None:
        super().__init__(id=id, classes=classes)
        self._draw, self._tell = draw, tell
        self._told = ""
        self._shown: Shown | None = None
        self._sheet = Sheet("")
        self._first = 0
        self._lines: tuple[Line, ...] = ()
        self._over: int | None = None
        self._cursor = 0
        """Number of the line of the body on which the cursor is, which is drawn while the panel has the focus."""

    def show(self, context: Shown) -> None:
        """Draw the panel; show the marked line if the selection or, in a sheet that follows it, the line changed."""
        before, self._shown, mark = self._shown, context, self._sheet.mark
        self._redraw()
        is_moved = self._sheet.is_followed and self._sheet.mark != mark
        if is_moved and self._sheet.mark is not None:
            self._put_cursor(self._sheet.mark, 1)
        if before is None or is_moved or (before.selected, before.decision) != (context.selected, context.decision):
            self._reveal(self._sheet.mark)

    @property
    def needs(self) -> int:
        return self._sheet.needs if self._sheet.title else 0

    # Drawing

    def _redraw(self) -> None:
        width, height = self.size
        if self._shown is None or not width or not height:
            return
        columns = max(width - 2 * MARGIN, 1)
        sheet = self._draw(self._shown, (columns, height - 1), self._first)
        self._sheet = sheet
        seen = window(sheet.total, self._first, self._room)
        self._first = seen.start
        body = sheet.body[seen.start - sheet.first : seen.stop - sheet.first]
        self._lines = (*sheet.head, *body)[: height - 1]
        cursor = range(*(at - seen.start + len(sheet.head) for at in self._entry)) if self.has_focus else None
        rows = draw_rows(sheet, self._lines, self._shown, width, height, cursor)
        self.put(dict(enumerate(add_scroll_mark(rows, 1 + len(sheet.head), seen, sheet.total, self._shown.look))))

    @property
    def _room(self) -> int:
        return max(self.size.height - 1 - len(self._sheet.head), 0)

    def on_resize(self) -> None:
        before = self.needs
        self.forget()
        self._redraw()
        self._reveal(self._sheet.mark)
        if self.needs != before:
            self.post_message(self.NeedsChanged())

    def watch_has_focus(self, has_focus: bool) -> None:
        super().watch_has_focus(has_focus)
        if has_focus:
            mark = self._sheet.mark
            self._put_cursor(*((self._first, 1) if mark is None else (mark, -1)))
        self._redraw()

    # The cursor

    def _body(self, at: int) -> Line | None:
        """Return the line `at` of the body; None if it is not visible."""
        row = at - self._first
        return self._lines[len(self._sheet.head) + row] if 0 <= row < len(self._lines) - len(self._sheet.head) else None

    @property
    def _entry(self) -> tuple[int, int]:
        """Return the first line of the entry under the cursor, and the one after its last; only visible ones count."""
        begin = min(self._cursor, max(self._sheet.total - 1, 0))
        while (seen := self._body(begin)) is not None and seen.is_more and self._body(begin - 1) is not None:
            begin -= 1
        end = begin + 1
        while (seen := self._body(end)) is not None and seen.is_more:
            end += 1
        return begin, end

    @property
    def under_cursor(self) -> str:
        """Return the words of the entry under the cursor in one line, without the icon or the bar before them."""
        lines = filter(None, map(self._body, range(*self._entry)))
        return re.sub(r"^\W+", "", " ".join(" ".join(seen.text for seen in lines).split()))

    def _put_cursor(self, at: int, by: int) -> None:
        """Put the cursor on the line `at` or, if no entry begins there, on the next one in the direction `by`."""
        while 0 <= at < self._sheet.total:
            self._reveal(at, AFTER)
            seen = self._body(at)
            if seen is None or (seen.text.strip() and not seen.is_more):
                self._cursor = at
                self._redraw()
                return
            at += by

    def action_move(self, by: int) -> None:
        begin, end = self._entry
        self._put_cursor(begin - 1 if by < 0 else end, by)

    def action_move_page(self, by: int) -> None:
        at = self._cursor + by * max(self._room - 1, 1)
        self._put_cursor(min(max(at, 0), self._sheet.total - 1), -by)

    async def action_choose(self) -> None:
        """Select the job in the line under the cursor, or do what a click on its first link does."""
        seen = self._body(self._entry[0])
        action = next((span.action for span in seen.spans if span.action), "") if seen else ""
        if seen is not None and seen.rank is not None:
            self.post_message(self.Picked(seen.rank))
        elif action:
            await self.screen.run_action(action)
        else:
            self.app.bell()

    # Scrolling

    def _go_to(self, first: int) -> bool:
        """Show the body from line `first` on; return False if that is already the first visible line."""
        first = window(self._sheet.total, first, self._room).start
        if first == self._first:
            return False
        self._first = first
        self._redraw()
        return True

    def _reveal(self, mark: int | None, after: int = 0) -> None:
        """Scroll as little as possible until line `mark` of the body and `after` more are visible; None: not at all."""
        if mark is not None:
            after = AFTER if self._sheet.is_followed else after
            self._go_to(min(max(self._first, mark - self._room + 1 + after), mark))

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        self._wheel(event, WHEEL)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        self._wheel(event, -WHEEL)

    def _wheel(self, event: events.MouseEvent, lines: int) -> None:
        event.stop()
        event.prevent_default()
        self._go_to(self._first + lines)

    # The pointer

    def _line_at(self, y: int) -> Line | None:
        return self._lines[y - 1] if 0 < y <= len(self._lines) else None

    def on_mouse_move(self, event: events.MouseMove) -> None:
        line = self._line_at(event.y)
        self._hover(None if line is None else line.rank)
        if (told := self._told_at(event.x - MARGIN, event.y - 1, line)) != self._told:
            self._told = told
            self.tooltip = Content(told) if told else None

    def _told_at(self, column: int, row: int, line: Line | None) -> str:
        """Return the tooltip: the title's meaning, text on the job, or what the panel's own function returns."""
        context = self._shown
        if context is None:
            return ""
        if line is None:
            return title_meaning(self._sheet.title) if row < 0 else ""
        span = span_at(line, column)
        rank = line.rank if line.rank is not None or span is None else span.rank
        if rank is not None and (about := context.told(line, column, rank)):
            return printable_lines(about)
        size = max(self.size.width - 2 * MARGIN, 1), self.size.height - 1
        told = self._tell(context, size, column, row + self._first) if self._tell is not None else ""
        return printable_lines(told or context.told(line, column, None))

    def on_leave(self) -> None:
        self._hover(None)

    def _hover(self, rank: int | None) -> None:
        if rank != self._over:
            self._over = rank
            self.post_message(self.Hovered(rank))

    async def on_click(self, event: events.Click) -> None:
        event.stop()
        event.prevent_default()  # a double click would mark the whole panel
        if self.text_selection is not None:
            return
        if event.y == 0:
            self.post_message(self.Maximise(self))
        elif line := self._line_at(event.y):
            self._put_cursor(self._first + event.y - 1 - len(self._sheet.head), -1)
            span = span_at(line, event.x - MARGIN)
            if span and span.action:
                await self.screen.run_action(span.action)
            elif line.rank is not None:
                self.post_message(self.Picked(line.rank))


# From a sheet to rows


def span_at(line: Line, column: int) -> Span | None:
    for span in line.spans:
        width = text.cells(span.text)
        if 0 <= column < width:
            return span
        column -= width
    return None


def draw_rows(
    sheet: Sheet, lines: Sequence[Line], context: Shown, width: int, height: int, cursor: range | None = None
) -> list[list[Segment]]:
    """Return the rows of a panel; with the focus it has a bar at its left edge, and `cursor` are the lines on which
    the cursor is.
    """
    look, edge = context.look, "" if cursor is None else "▎"
    rows = [_title(sheet, context, width, edge)]
    for at, line in enumerate(lines):
        here, begins = (at in cursor, at == cursor.start) if cursor is not None else (False, False)
        rows.append(_row(line, look, width, _lit(line, context, here), "▸" if begins else edge))
    blank = _row(Line(()), look, width, "", edge)
    return (rows + [blank] * (height - len(rows)))[:height]


def add_scroll_mark(drawn: list[list[Segment]], top: int, seen: range, total: int, look: Look) -> list[list[Segment]]:
    """Return the rows with a mark at the right: the lines `seen` of `total` of the body from row `top` on."""
    rows = len(seen)
    if not rows or rows >= total:
        return drawn
    length = max(1, rows * rows // total)
    start = top + (rows - length) * seen.start // (total - rows)
    mark = Segment("|" if look.ascii else "▐", look.style("surface faint"))
    for y in range(start, start + length):
        drawn[y] = [*drawn[y][:-1], mark]
    return drawn


def _title(sheet: Sheet, context: Shown, width: int, edge: str) -> list[Segment]:
    room = width - 2 * MARGIN
    spans = [Span(text.shorten(sheet.title, room), "accent" if edge else "title"), Span(" ")]
    if not sheet.of_both and (whose := context.whose):
        spans += [Span(f"{whose.text.strip()} ", "dim")]
    room -= width_of(spans)
    note = text.shorten(sheet.note, max(room - 2, 0))
    rule = room - text.cells(note) - bool(note)
    rule_style = "accent" if edge else "faint"
    spans += [Span("─" * max(rule, 0), rule_style), Span(f" {note}" if note else "", "dim")]
    return _row(Line(tuple(spans)), context.look, width, "", edge)


def _lit(line: Line, context: Shown, is_under_cursor: bool) -> str:
    if line.rank is not None and line.rank == context.selected:
        return " select"
    return " hover" if is_under_cursor or (line.rank is not None and line.rank == context.hovered) else ""


@lru_cache(1024)
def _row(line: Line, look: Look, width: int, lit: str, edge: str) -> list[Segment]:
    blank = look.style(f"surface{lit}")
    left = Segment(text.drawn(edge, look.ascii), look.style(f"surface{lit} accent"))
    segments = [left if edge else Segment(" " * MARGIN, blank)]
    for span in line.spans:
        told = text.drawn(span.text, look.ascii)
        segments.append(Segment(told, look.style(f"surface{lit} {span.style}") if span.style else blank))
    return [*fitted(segments, width - MARGIN, blank), Segment(" " * MARGIN, blank)]
