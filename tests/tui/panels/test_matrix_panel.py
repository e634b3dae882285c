"""The Ousterhout matrix as the panel draws it.

Also tests tui.panels.folding.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.sim.conftest import Lab
from tests.tui.scenes import context_of, engine_of
from tui.chart.lanes import Lane
from tui.panels.context import Context
from tui.panels.folding import Fold, fold
from tui.panels.matrix_panel import draw_matrix


def figure_7(**fields: object) -> Context:
    return context_of(engine_of("z-figure7", "gang-migrate-backfill", until=300), **fields)  # type: ignore[arg-type]


def test_rows_are_in_the_order_of_their_lanes() -> None:
    context = figure_7()
    shown = context.scene.snapshot
    assert shown.matrix is not None
    turned = replace(shown, matrix=shown.matrix._replace(rows=(*shown.matrix.rows[1:], shown.matrix.rows[0])))
    by_number = replace(context, scene=replace(context.scene, snapshot=turned))
    assert draw_matrix(by_number, (28, 9)).text == draw_matrix(context, (28, 9)).text
    assert context.scene.chart is not None
    lanes = tuple(Lane(row, False) for row in (3, 1, 2, 4))
    by_lane = replace(context, scene=replace(context.scene, chart=replace(context.scene.chart, lanes=lanes)))
    assert [line.text[0] for line in draw_matrix(by_lane, (28, 9)).head[:4]] == ["3", "1", "2", "4"]


def test_small_panel_keeps_what_is_selected() -> None:
    rows = [[line.text[0] for line in draw_matrix(figure_7(selected=3), (80, height)).head] for height in (2, 3)]
    assert rows == [["2", "…"], ["2", "3", "…"]]
    assert draw_matrix(figure_7(phase=4, selected=4), (100, 12)).mark == 1
    assert draw_matrix(figure_7(phase=4, selected=0), (100, 12)).mark is None


# Folding
def test_column_shows_its_main_holder_and_if_half_empty() -> None:
    one, two = 0b0000_0000_0111, 0b1100_0000_1000
    assert fold([one, two], 12, 3) == [Fold(0, False), Fold(None, False), Fold(1, False)]
    assert fold([0b1, 0b1_0000], 12, 3) == [Fold(0, True), Fold(1, True), Fold(None, False)]


# Turns
@pytest.mark.parametrize(
    ("later", "told"), [(159, "row 2 ◂ 1s"), (160, "row 3 ◂ 3m20"), (160 + 2 * 200, "row 1 ◂ 3m20")]
)
def test_between_two_steps_the_rows_go_on_taking_turns(later: float, told: str) -> None:
    context = figure_7()
    context = replace(context, scene=replace(context.scene, clock=300 + later))
    assert draw_matrix(context, (60, 10)).note == f"{told} of 3m20 left"


# The last rebuild
def test_chips_show_what_a_rebuild_did() -> None:
    sheet = draw_matrix(figure_7(phase=4), (100, 12))
    assert "▸fill 2 replicated" in sheet.head[-2].text
    assert [line.text for line in sheet.body] == ["▒ J4 also gets row 4", "▒ J5 also gets row 4"]
    assert [line.rank for line in sheet.body] == [3, 4]
    assert draw_matrix(figure_7(phase=1), (100, 12)).body[0].text == "No changes in this phase."
    chips = draw_matrix(figure_7(), (100, 12)).head[-2:]
    assert {span.action for line in chips for span in line.spans if "fill" in span.text} == {
        "select_phase(4)",
        "select_phase(5)",
    }
    context = replace(figure_7(), visible=frozenset({"matrix", "decisions"}))
    assert not draw_matrix(context, (100, 12)).body
    assert draw_matrix(replace(context, phase=2), (100, 12)).body  # which was chosen


def test_of_a_long_rebuild_only_the_lines_in_sight_are_made(lab: Lab) -> None:
    jobs = [f"{number} 0 1 90 90" for number in range(1, 101)]
    context = context_of(lab.run("gang", 100, *jobs, until=0))
    sheet = draw_matrix(context, (80, 14), 30)
    assert (sheet.first, sheet.total) == (30, 100)
    assert sheet.body[0].text.startswith("● J31 is placed in row 1, columns 30: needs 1, 70 free in this row")
    assert len(sheet.body) == 14 - len(sheet.head)


def test_migrations_and_stalls_are_counted_and_told_with_their_cost() -> None:
    context = context_of(engine_of("lublin-320", "gang-migrate-backfill", steps=532))
    assert "fill with migration 2 migrated, 2 stalled, 2 replicated" in draw_matrix(context, (120, 20)).text
    told = [line.text for line in draw_matrix(replace(context, phase=5), (120, 40)).body]
    assert sum("migrates to columns" in text for text in told) == 2
    assert sum("losing 10s of its own turns" in text for text in told) == 2
    assert sum("loses 5s of its turns to another job's migration" in text for text in told) == 2


# Nothing to show
def test_missing_matrix_is_explained(lab: Lab) -> None:
    told = draw_matrix(context_of(engine_of("z-figure4", "easy:depth=2", steps=1)), (80, 10)).text
    assert "No matrix: easy does not time-share processors." in told
    assert "gang-migrate-backfill" in told
    assert "The matrix is empty" in draw_matrix(context_of(lab.run("gang", 4, "1 0 2 10 10")), (60, 8)).text
