import pytest

from sim.workload.samples import SAMPLES
from tui.chart.cells.grid import Size
from tui.chart.cells.paint import sketch
from tui.classroom.thumbnail import thumbnail
from tui.look.palette import DARK
from tui.replay.thumbnail import Thumbnail


@pytest.mark.parametrize("name", [sample.name for sample in SAMPLES])
def test_now_is_in_the_picture_and_so_is_something_planned(name: str) -> None:
    chart = Thumbnail.of_sample(name).chart(16, 6)
    assert chart.plan
    assert {*"┃│"} & {*sketch(chart, DARK, Size(16, 3)).text}
    assert (chart.view.columns, chart.view.rows) == (16, 6)


def test_of_few_jobs_all_that_is_planned_is_seen() -> None:
    chart = Thumbnail.of_sample("z-figure4").chart(40, 10)
    assert chart.view.end >= max(box.end for box in chart.plan) > chart.view.end - 2 * chart.view.per_column


def test_a_lesson_is_shown_at_the_scene_that_stands_for_it() -> None:
    chart = thumbnail("w-slip").chart(40, 10)
    assert chart.clock == 19
    assert 2700 <= chart.view.end <= 2900
    assert {box.kind for box in chart.plan} == {"expected", "reserved"}
