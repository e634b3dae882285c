from io import StringIO

import pytest
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from textual.app import App, ComposeResult
from textual.screen import Screen
from textual.widgets import Static

from tests.tui.chart.charts import chart_of
from tests.tui.replays import replay
from tests.tui.scenes import engine_of
from tui.chart.cells.cells import Brush
from tui.chart.cells.grid import Size
from tui.chart.cells.paint import paint
from tui.look.palette import DARK
from tui.widgets.cell_rows import Inked, Lines
from tui.widgets.partial_update import Piece, SpanCompositor, Update

CONSOLE = Console(file=StringIO(), force_terminal=True, color_system="truecolor")


def sent(*cells: tuple[str, str]) -> str:
    return Update([Piece(2, 4, [Segment(text, Style.parse(style)) for text, style in cells])]).render_segments(CONSOLE)


def test_cells_are_sent_to_their_place() -> None:
    assert sent(("ab", ""), ("cd", "")) == "\x1b[3;5Habcd"


@pytest.mark.parametrize(
    ("first", "second", "turn"),
    [
        ("#ff0000 on #000000", "#00ff00 on #000000", "38;2;0;255;0m"),
        ("#ff0000 on #000000", "#ff0000 on #0000ff", "48;2;0;0;255m"),
        ("#ff0000 on #000000", "bold #ff0000 on #000000", "1m"),
        ("bold #ff0000 on #000000", "#ff0000 on #000000", "0;38;2;255;0;0;48;2;0;0;0m"),
        ("bold #ff0000", "#ff0000 italic", "0;3;38;2;255;0;0m"),
        ("#ff0000 on #000000", "#ff0000", "0;38;2;255;0;0m"),
        ("#ff0000", "", "0m"),
    ],
)
def test_of_a_style_only_what_is_new_is_sent(first: str, second: str, turn: str) -> None:
    before, _, after = sent(("ab", first), ("cd", second), ("", "bold"), ("ef", second)).partition("ab")
    assert before.startswith("\x1b[3;5H\x1b[")
    assert after == f"\x1b[{turn}cdef" + ("" if second == "" else "\x1b[0m")


@pytest.mark.parametrize("span", [(0, 0, 60), (3, 7, 20), (5, 30, 31)])
def test_inked_cells_are_sent_like_segments(span: tuple[int, int, int]) -> None:
    size, brush, between = Size(60, 12), Brush(DARK), [Segment("-", Style.parse("bold red"))]
    cells = paint(chart_of(engine_of("z-figure4", "easy", steps=6), size), DARK, size)
    inked = [Inked(runs, brush) for runs in brush.runs(cells, [span, (9, 2, 58)])]
    segments = [brush.draw(cells, *each) for each in (span, (9, 2, 58))]
    one, other = (
        Update([Piece(0, 0, first), Piece(1, 0, between), Piece(2, 0, last)]).render_segments(CONSOLE)
        for first, last in (inked, segments)
    )
    assert one == other


class Layered(Screen[None]):
    """A screen with lines, and with a note that covers part of the second and the third."""

    CSS = """
    Layered { layers: base over; }
    Lines { height: 4; layer: base; }
    Static { layer: over; width: 4; height: 2; offset: 2 1; }
    """

    def __init__(self) -> None:
        super().__init__()
        self._compositor = SpanCompositor()

    def compose(self) -> ComposeResult:
        yield Lines()
        yield Static("note\nmore")


async def test_what_lies_over_the_rows_stays_there() -> None:
    app = App[None]()
    async with app.run_test(size=(10, 4)) as pilot:
        await app.push_screen(Layered())
        await pilot.pause()
        compositor, lines = app.screen._compositor, app.screen.query_one(Lines)
        lines.put({y: [Segment("abcdefghij")] for y in range(4)})
        compositor.update_widgets({lines})
        update = compositor.render_partial_update()
        assert isinstance(update, Update)
        pieces = sorted((y, x, "".join(cell.text for cell in cells)) for y, x, cells in update._pieces)
        assert pieces == [
            (0, 0, "abcdefghij"),
            *((1, 0, "ab"), (1, 2, "note"), (1, 6, "ghij")),
            *((2, 0, "ab"), (2, 2, "more"), (2, 6, "ghij")),
            (3, 0, "abcdefghij"),
        ]
        assert compositor.render_partial_update() is None


async def test_the_replay_is_sent_so() -> None:
    async with replay() as run:
        assert isinstance(run.screen._compositor, SpanCompositor)
