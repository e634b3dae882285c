from dataclasses import replace

import pytest

from tests.sim.conftest import Lab
from tui.chart.scale import Camera, ChartView

CAMERA = Camera(per_column=60, low=0, high=100, columns=100, rows=50)


def test_following_camera_keeps_its_place() -> None:
    stays = CAMERA.staying(6000)
    assert stays.view(6000) == CAMERA.view(6000)
    assert stays.view(9999) == stays.view(6000)
    assert stays.following() == replace(CAMERA, first=stays.first)
    closer = CAMERA.zoomed(1, now=6000)
    assert closer.per_column < CAMERA.per_column
    assert closer.view(6000).column_of(6000) == CAMERA.view(6000).column_of(6000)
    panned = CAMERA.panned(7, now=6000)
    assert (panned.view(0).first, panned.follow) == (CAMERA.view(6000).first + 7, False)
    half = CAMERA.stretched(1, procs=100, at=0)
    assert (half.low, half.high) == (0, 50)
    assert (half.lifted(1000, 100).low, half.lifted(-1000, 100).low) == (50, 0)
    assert half.stretched(-5, 100).high == 100
    view = CAMERA.fitting(1000, 777000).view(0)
    assert view.start <= 1000
    assert view.end >= 777000


@pytest.mark.parametrize("rungs", [-3, -1, 1, 3])
@pytest.mark.parametrize("now", [0, 1234, 5000])
def test_now_stays_in_its_column_if_visible(now: float, rungs: int) -> None:
    fitted = CAMERA.fitting(0, 6000)
    zoomed = fitted.zoomed(rungs, now)
    assert zoomed.view(now).column_of(now) == fitted.view(now).column_of(now)
    assert zoomed.zoomed(-rungs, now) == fitted


@pytest.mark.parametrize("rungs", [-3, -1, 1, 3])
def test_what_is_under_the_pointer_stays_there(rungs: int) -> None:
    before = CAMERA.view(60000)
    after = CAMERA.zoomed(rungs, now=60000, at=20).view(60000)
    assert after.column_of(before.time_at(20.5)) == 20


def test_first_sight_fits_the_trace(lab: Lab) -> None:
    workload = lab.workload(4, "1 0 2 50 50", "2 10 4 100 100", "3 20 4 100 100")
    view = Camera.on(workload, columns=80, rows=44).view(0)
    assert (view.low, view.high) == (0, 4)
    assert view.start <= 0
    assert view.end >= 250
    workload = lab.workload(4, *(f"{i} {i * 300} 1 60 60" for i in range(1000)))
    camera = Camera.on(workload, columns=100, rows=44)
    assert camera.follow
    assert 40 * 300 / 70 <= camera.per_column <= 2 * 40 * 300 / 70
    assert Camera.on(lab.workload(4), columns=80, rows=44).view(0).high == 4


def test_bands_differ_by_a_pixel_where_a_third_would_be_blank() -> None:
    lines = ChartView(60, 0, 10, 52, 0, 30).band_rows()
    assert {lines.count(band) for band in range(30)} == {1, 2}
    assert -1 not in lines


@pytest.mark.parametrize(("rows", "count"), [(116, 100), (52, 40), (28, 10), (44, 9), (116, 1)])
def test_processors_are_equally_high_and_as_high_as_can_be(rows: int, count: int) -> None:
    lines = ChartView(60, 0, 10, rows, 0, count).band_rows()
    assert {lines.count(band) for band in range(count)} == {rows // count}
    assert lines == (-1,) * (rows % count) + lines[rows % count :]


def test_above_three_rows_of_pixels_a_processor_has_whole_characters() -> None:
    heights = [ChartView(60, 0, 10, rows, 0, 10).band_rows().count(0) for rows in (28, 38, 48, 52, 78, 116)]
    assert heights == [2, 3, 4, 4, 6, 10]


@pytest.mark.parametrize(("rows", "count"), [(116, 338), (116, 100), (52, 30), (48, 10), (5, 4), (1, 9)])
def test_every_processor_is_in_just_one_band_and_found_there(rows: int, count: int) -> None:
    view = ChartView(60, 0, 10, rows, 3, 3 + count)
    seen = {view.processors_at(row) for row in range(rows)} - {None}
    assert sorted(p for low, high in seen for p in range(low, high + 1)) == list(range(3, 3 + count))  # type: ignore[misc]
    for processor in range(3, 3 + count):
        between = view.processors_at(view.rows_of(processor).start)
        assert between is not None
        assert between[0] <= processor <= between[1]
