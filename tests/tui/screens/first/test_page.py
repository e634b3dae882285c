"""Contents and layout of the first screen, which are pure functions.

Also tests tui.classroom.entries.
"""

from __future__ import annotations

import pytest

from sim.classroom.lessons.lesson import ORDER
from tui.chart.cells.cells import Brush
from tui.classroom.entries import entries_of_lessons
from tui.look.palette import DARK
from tui.screens.first.page import MenuEntry, arranged, drawn, entries, told

SIZES = ((60, 14), (79, 20), (119, 32), (199, 56), (20, 3))
SEEN = {"read-this-chart": 99, "backfilling": 2}
THERE = entries(
    [MenuEntry("session", "last", "where it was left", "KTH under easy")], ["/no/such.swf", "z-figure4"], SEEN
)


def rows_of(width: int, height: int, chosen: int = 0, mode: str = "colour") -> list[str]:
    page = arranged(THERE, width, height)
    look = DARK.with_mode("ascii" if mode == "ascii" else "colour")
    return ["".join(s.text for s in row) for row in drawn(page, THERE, {}, Brush(look), chosen)]


def test_page_teaches_in_any_room() -> None:
    assert THERE[8].what == f"{len(ORDER)} lessons, 1 done: next “Backfilling in five minutes”"
    there = [*entries_of_lessons(SEEN)]
    assert [entry.policy for entry in there[:3]] == ["done", "2 of 7 scenes", ""]
    assert [entry.origin for entry in (there[1], there[4])] == [
        "2 · Introduction and practice",
        "5 · Zotkin et al. 2000",
    ]
    assert (arranged(THERE, -2, -1).width, arranged(THERE, 3, 1).picture[0]) == (0, 0)
    assert len(rows_of(-2, -1)) == arranged(THERE, -2, -1).rows
    assert all(row.replace("▌", "|").isascii() for row in rows_of(79, 20, mode="ascii"))


def test_a_small_screen_cuts_no_source_and_drops_no_description() -> None:
    rows = rows_of(79, 20)
    assert any("Zhang et al., fig. 4" in row for row in rows)
    assert any("Lawson & Smirni" in row for row in rows)
    assert not any("figure…" in row or "fig…" in row for row in rows)
    assert told(THERE[0], 80).text.endswith(" · Zhang et al., figure 4")
    assert told(THERE[0], 70).text.strip() == THERE[0].what


@pytest.mark.parametrize("size", SIZES)
def test_every_row_is_as_wide_as_the_screen(size: tuple[int, int]) -> None:
    rows = rows_of(*size)
    assert {len(row) for row in rows} == {size[0] + 1}
    assert len(rows) == arranged(THERE, *size).rows


@pytest.mark.parametrize("size", SIZES)
def test_nothing_stands_upon_something_else(size: tuple[int, int]) -> None:
    page = arranged(THERE, *size)
    taken = [(row, place.column) for place in page.places for row in range(place.row, place.row + place.rows)]
    assert len(set(taken)) == len(taken)
    assert all(page.at(place.column, place.row) == number for number, place in enumerate(page.places))


@pytest.mark.parametrize("size", SIZES)
def test_the_arrows_reach_everything(size: tuple[int, int]) -> None:
    page, reached, new = arranged(THERE, *size), {0}, {0}
    while new:
        new = {page.beside(n, *by) for n in new for by in ((1, 0), (-1, 0), (0, 1), (0, -1))} - reached
        reached |= new
    assert reached == set(range(len(THERE)))
