"""What is sent: of rows the columns that changed, of styles what is new."""

from __future__ import annotations

from io import StringIO

import pytest
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from tests.tui.replays import replay
from tui.widgets.spans import SpanCompositor, _Spans

CONSOLE = Console(file=StringIO(), force_terminal=True, color_system="truecolor")


def strip(*pieces: tuple[str, str]) -> Strip:
    return Strip([Segment(text, Style.parse(style)) for text, style in pieces])


def sent(line: dict[int, Strip | None], first: int, last: int) -> str:
    """Of one row these columns."""
    ends = [*list(line)[1:], 20]
    return _Spans([line], [(0, first, last)], [ends]).render_segments(CONSOLE)


def test_a_row_is_sent_from_the_first_column_that_changed_to_the_last() -> None:
    line: dict[int, Strip | None] = {0: strip(("abcdef", "")), 6: strip(("ghijkl", "")), 12: strip(("mnopqrst", ""))}
    assert sent(line, 4, 8) == "\x1b[1;5Hefgh"
    assert sent(line, 6, 12) == "\x1b[1;7Hghijkl"
    assert sent(line | {6: None}, 4, 14) == "\x1b[1;5Hef\x1b[1;13Hmn"


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
    before, _, after = sent({0: strip(("ab", first), ("cd", second), ("ef", second))}, 0, 20).partition("ab")
    assert before.startswith("\x1b[1;1H\x1b[")
    assert after == f"\x1b[{turn}cdef" + ("" if second == "" else "\x1b[0m")


async def test_the_replay_is_sent_so() -> None:
    async with replay() as run:
        assert isinstance(run.screen._compositor, SpanCompositor)
