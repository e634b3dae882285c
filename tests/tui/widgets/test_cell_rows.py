import pytest
from rich.segment import Segment
from textual.app import App, ComposeResult
from textual.geometry import Region

from tui.widgets.cell_rows import Lines, cut, differing


class Stand(App[None]):
    def compose(self) -> ComposeResult:
        yield Lines()


def row(*texts: str) -> list[Segment]:
    return [Segment(text) for text in texts]


async def test_only_the_columns_that_changed_are_drawn_again(monkeypatch: pytest.MonkeyPatch) -> None:
    async with Stand().run_test(size=(6, 3)) as pilot:
        lines, refreshed = pilot.app.query_one(Lines), list[Region]()
        lines.put({0: row("ab", "cd", "ef"), 1: row("abcdef")})
        monkeypatch.setattr(lines, "refresh", lambda *regions: refreshed.extend(regions))
        lines.put({0: row("ab", "xy", "ef"), 1: row("abcdef"), 2: row("ghijkl")})
        assert refreshed == [Region(2, 0, 2, 1), Region(0, 2, 6, 1)]
        assert [lines.changed_cells(0, *at) for at in ((2, 4), (1, 5))] == [row("xy"), row("b", "xy", "e")]
        assert [lines.render_line(y).text for y in range(3)] == ["abxyef", "abcdef", "ghijkl"]
        assert [strip.text for strip in lines.render_lines(Region(1, 1, 3, 2))] == ["bcd", "hij"]
        lines.forget()
        lines.put({1: row("abcdef")})
        assert refreshed[2:] == [Region(0, 1, 6, 1)]


@pytest.mark.parametrize(
    ("now", "was", "changed"),
    [
        (("日本", "a"), ("日本", "b"), (4, 5)),
        (("a", "日", "c"), ("x", "日", "c"), (0, 1)),
        (("a", "a", "a"), ("a", "aa"), (1, 3)),
        (("aa", "b"), ("a", "ab"), (0, 3)),
    ],
)
def test_it_is_known_where_rows_differ(now: tuple[str, ...], was: tuple[str, ...], changed: tuple[int, int]) -> None:
    *columns, cells = differing(row(*now), row(*was))
    assert tuple(columns) == changed
    assert cells == cut(row(*now), *changed)


@pytest.mark.parametrize(("begin", "end", "inside"), [(0, 6, "a日本b"), (1, 5, "日本"), (2, 6, " 本b"), (0, 2, "a ")])
def test_a_wide_character_is_never_cut_in_two(begin: int, end: int, inside: str) -> None:
    assert "".join(segment.text for segment in cut(row("a日", "本b"), begin, end)) == inside
