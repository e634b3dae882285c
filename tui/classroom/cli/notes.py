"""Speaker's notes in a second terminal: what to say, the answer with its reason, clocks, the next scene."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from shutil import get_terminal_size

from rich.console import Console
from rich.segment import Segment, Segments

from sim.support.errors import SchedscopeError
from sim.support.formatting import printable_lines
from tui.chart.cells.cells import Brush
from tui.chart.cells.grid import Size
from tui.chart.cells.paint import sketch
from tui.classroom.lesson_lines import flowed, markdown
from tui.classroom.presenting import Presented
from tui.look.palette import Look
from tui.look.settings import load, settings_path
from tui.look.sheets import Line, Span, line
from tui.look.themes import choose, depth_of

PICTURE = Size(56, 9)
"""Size in columns and rows of the small picture of the next scene."""
HOME, CLEAR_LINE, CLEAR_REST = "\x1b[H", "\x1b[K", "\x1b[J"


def clock_of(seconds: float) -> str:
    """Return a duration in seconds in the form of a clock, such as 1:06:40; a negative one is 0:00."""
    minutes, left = divmod(max(int(seconds), 0), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{left:02}" if hours else f"{minutes}:{left:02}"


def lines(now: Presented | None, width: int, time: float) -> Iterator[Line]:
    """Yield the notes as lines of this width, without the markup that the texts of the lesson have.

    >>> from tui.classroom.presenting import Presented
    >>> shown = lines(Presented("L", "Why?", "It *waits*.", "Ask first.", 0, 2, next="Then", since=40), 40, 100)
    >>> [part.text.strip() for part in shown]  # doctest: +NORMALIZE_WHITESPACE
    ['L · 1/2', '1:40 since the start · 1:00 for this', 'scene', '', 'Why?', 'Ask first.',
     '', 'The class reads', 'It waits.', '', 'Next: Then']
    """
    if now is None:
        yield from flowed(
            [Span("No presentation is running: start one with schedscope present LESSON in another terminal.")], width
        )
        return
    yield from flowed([Span(_plain(now.lesson), "title"), Span(f" · {now.index + 1}/{now.count}", "dim")], width)
    clocks = f"{clock_of(time - now.began)} since the start · {clock_of(time - now.since)} for this scene"
    yield from flowed([Span(clocks, "accent")], width)
    yield line()
    yield from flowed([Span(_plain(now.title), "strong")], width)
    yield from markdown(_plain(now.notes) or "(no notes)", width)
    yield line()
    yield from flowed([Span("The class reads", "dim")], width)
    yield from markdown(_plain(now.says), width)
    if now.asks:
        yield line()
        yield from flowed([Span("? ", "warn"), Span(_plain(now.asks), "strong")], width)
        yield from flowed([Span("Answer: ", "good"), Span(_plain(now.answer))], width)
        yield from markdown(_plain(now.then), width)
    yield line()
    told = f"Next: {_plain(now.next)}" if now.next else "This is the last scene."
    yield from flowed([Span(told, "strong")], width)


def _plain(told: str) -> str:
    return printable_lines(told)


def picture(name: str, index: int, look: Look, size: Size) -> list[list[Segment]]:
    """Return a small chart of scene `index` of a lesson; empty if the lesson cannot be read."""
    from sim.classroom.lessons.lesson_file import found_lesson
    from sim.classroom.lessons.performance import Performance
    from tui.classroom.thumbnail import of_scene

    try:
        made = Performance(found_lesson(name))
        scenes = made.staged()
    except SchedscopeError:
        return []
    if index >= len(scenes):
        return []
    chart = of_scene(made, scenes[index]).chart(size.columns, size.rows * (1 if look.patterned else 2))
    cells, brush = sketch(chart, look, size), Brush(look)
    return [brush.draw(cells, row, 0, size.columns) for row in range(size.rows)]


class Notes:
    """Window with the notes, drawn whenever they change; the next scene's picture is made once per scene."""

    def __init__(self, console: Console | None = None) -> None:
        self._console = console or Console(force_terminal=True, highlight=False, markup=False)
        look = choose(load(settings_path())[0], os.environ, sys.stdout.encoding)
        self._look = look.with_depth(depth_of(self._console))
        self._shown: tuple[object, ...] = ()
        self._picture: tuple[tuple[str, int], list[list[Segment]]] = (("", 0), [])

    def show(self, now: Presented | None, time: float) -> None:
        """Draw what has changed; a missing picture of the next scene is made afterwards."""
        size = get_terminal_size((80, 24))
        key = (now.name, now.index + 1) if now is not None and now.next else ("", 0)
        self._draw(now, time, size, self._picture[1] if self._picture[0] == key else [])
        if self._picture[0] != key:
            self._picture = key, picture(*key, self._look, PICTURE) if key[0] else []
            self._draw(now, time, size, self._picture[1])

    def _draw(self, now: Presented | None, time: float, size: os.terminal_size, drawn: list[list[Segment]]) -> None:
        shown = (now, int(time), size, len(drawn))
        if shown == self._shown:
            return
        self._shown = shown
        width = max(40, min(size.columns, 120))
        rows = [self._look.segments(each.spans) for each in lines(now, width, time)]
        rows += [
            [Segment("  "), *row] for row in drawn[: max(size.lines - len(rows) - 1, 0)] if width > PICTURE.columns
        ]
        self._console.file.write(HOME)
        for row in rows[: size.lines - 1]:
            self._console.print(Segments([*row]), end="", soft_wrap=True)
            self._console.file.write(f"{CLEAR_LINE}\n")
        self._console.file.write(CLEAR_REST)
        with suppress(OSError):
            self._console.file.flush()
