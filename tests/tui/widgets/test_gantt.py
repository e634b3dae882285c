from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from textual import events
from textual.app import App, ComposeResult
from textual.geometry import Region
from textual.message import Message
from textual.pilot import Pilot

from sim.engine.engine import Engine
from tests.sim.conftest import Lab
from tests.tui.chart.charts import scene_of
from tests.tui.replays import wait_until
from tui.chart.cells.edges import margin
from tui.chart.chart_maker import ChartMaker
from tui.chart.scale import Camera, ChartView
from tui.chart.scene import ChartScene
from tui.look.palette import DARK, Look
from tui.widgets.cell_rows import Inked
from tui.widgets.gantt import Gantt

COLUMNS, ROWS = 60, 14


class Stand(App[None]):
    """An app with only a chart, which makes each scene as soon as the camera moves."""

    CSS = "Gantt { width: 100%; height: 100%; }"

    def __init__(self, engine: Engine) -> None:
        super().__init__()
        self.engine, self.maker, self.look = engine, ChartMaker(engine.workload), DARK
        self.told: list[Message] = []
        self.drawn: ChartScene | None = None
        self.chart = Gantt(engine.workload)

    def compose(self) -> ComposeResult:
        yield self.chart

    def on_gantt_camera_changed(self, message: Gantt.CameraChanged) -> None:
        self.told.append(message)
        self.show()

    def on_gantt_picked(self, message: Gantt.Picked) -> None:
        self.told.append(message)

    def on_gantt_hovered(self, message: Gantt.Hovered) -> None:
        self.told.append(message)

    def show(self, look: Look | None = None) -> None:
        self.look = look or self.look
        camera, engine = self.chart.camera, self.engine
        assert camera is not None
        made = self.maker.make(engine.history, engine.snapshot(), engine.now, camera, budget_seconds=60)
        self.drawn = made
        self.chart.show(scene_of(engine, made), self.look)

    @property
    def camera(self) -> Camera:
        assert self.chart.camera is not None
        return self.chart.camera

    @property
    def view(self) -> ChartView:
        assert self.drawn is not None
        return self.drawn.view

    @property
    def text(self) -> list[str]:
        return [self.chart.render_line(y).text.rstrip() for y in range(self.chart.size.height)]

    def told_of(self, kind: type[Message]) -> list[Any]:
        return [message for message in self.told if isinstance(message, kind)]


Press = Pilot[None]


@pytest.fixture
def engine(lab: Lab) -> Engine:
    return lab.run("easy", 4, "1 0 3 200 300", "2 5 2 100 100", "3 100 1 40 40", until=100)


@pytest.fixture
async def pilot(engine: Engine, drawn: list[str]) -> AsyncIterator[Press]:
    drawn.append("its cells are read")
    async with Stand(engine).run_test(size=(COLUMNS, ROWS), tooltips=True) as press:
        await press.pause()
        yield press
    drawn.clear()


def stand(pilot: Press) -> Stand:
    assert isinstance(pilot.app, Stand)
    return pilot.app


async def move_to(pilot: Press, column: int, row: int) -> None:
    await pilot.hover(Gantt, offset=(margin(4) + column, row))


async def test_it_asks_for_a_picture_of_its_size_and_draws_it(pilot: Press) -> None:
    camera = stand(pilot).camera
    assert (camera.columns, camera.rows) == (COLUMNS - margin(4), 2 * (ROWS - 2))
    assert any("J1" in line for line in stand(pilot).text)
    assert "now" in stand(pilot).text[-2]


async def test_a_new_size_moves_the_camera_and_keeps_what_was_chosen(pilot: Press) -> None:
    before = stand(pilot).camera
    await pilot.resize_terminal(90, 20)
    await wait_until(lambda: stand(pilot).camera != before and len(stand(pilot).text[-2]) > COLUMNS)
    after = stand(pilot).camera
    assert (after.columns, after.rows) == (90 - margin(4), 2 * 18)
    assert after.per_column == before.per_column
    assert len(stand(pilot).text[-2]) > COLUMNS


KEYS: list[tuple[str, Callable[[Camera, Camera], bool]]] = [
    ("plus", lambda before, after: after.per_column < before.per_column),
    ("minus", lambda before, after: after.per_column > before.per_column),
    ("shift+right", lambda before, after: after.view(100).first > before.view(100).first and not after.follow),
    ("h", lambda before, after: after.view(100).first < before.view(100).first and not after.follow),
    ("n", lambda before, after: after.follow),
    ("0", lambda before, after: after.view(100).start <= 0 and after.view(100).end >= 100),
]


@pytest.mark.parametrize(("key", "holds"), KEYS)
async def test_keys_move_the_camera(pilot: Press, key: str, holds: Callable[[Camera, Camera], bool]) -> None:
    app = stand(pilot)
    app.chart.focus()
    await pilot.press("plus")
    before = app.camera
    app.told.clear()
    await pilot.press(key)
    await pilot.pause()
    assert holds(before, app.camera)
    assert [message.camera for message in app.told_of(Gantt.CameraChanged)] == [app.camera] * (before != app.camera)


async def test_space_can_go_by_event_and_back(pilot: Press) -> None:
    app = stand(pilot)
    app.chart.focus()
    before = app.camera
    await pilot.press("K")
    await pilot.pause()
    assert app.camera.by_event
    assert "by event" in app.text[-2]
    await pilot.press("minus", "shift+left", "K")
    await pilot.pause()
    assert app.camera == before


async def test_by_event_the_middle_stays_where_now_is_out_of_sight(pilot: Press) -> None:
    app = stand(pilot)
    app.chart.focus()
    await pilot.press("plus", "plus", "plus", *["h"] * 20)
    middle = app.view.time_at(app.camera.columns / 2)
    await pilot.press("K")
    await pilot.pause()
    assert app.view.column_of(middle) == app.camera.columns // 2
    assert app.camera.held is None


async def test_by_event_now_is_visible_if_the_middle_is_to_come(pilot: Press) -> None:
    app = stand(pilot)
    app.chart.focus()
    await pilot.press("plus", "plus", "plus", *["l"] * 20)
    assert not app.view.shows(100)
    for by_event in (True, False):
        await pilot.press("K")
        await pilot.pause()
        assert app.camera.by_event == by_event
        assert app.view.shows(100)


async def test_the_selected_job_can_be_fitted(pilot: Press) -> None:
    app = stand(pilot)
    app.chart.focus()
    app.chart.selected = 0
    await pilot.press("o")
    view = app.camera.view(100)
    assert view.start <= 0
    assert view.end >= 300


async def test_clicks_pick_jobs_and_drags_move(pilot: Press) -> None:
    app = stand(pilot)
    now = app.camera.view(100).column_of(100)
    await pilot.click(Gantt, offset=(margin(4) + now - 1, ROWS - 4))
    await pilot.click(Gantt, offset=(margin(4), 0))
    assert [picked.rank for picked in app.told_of(Gantt.Picked)] == [0, None]
    app.told.clear()
    first = app.camera.view(100).first
    await pilot.mouse_down(Gantt, offset=(30, 5))
    await pilot.hover(Gantt, offset=(20, 5))
    await pilot.mouse_up(Gantt, offset=(20, 5))
    assert app.camera.first == first + 10
    assert app.told_of(Gantt.Picked) == []


async def test_the_wheel_zooms_about_the_pointer(pilot: Press) -> None:
    app = stand(pilot)
    before = app.camera.view(100)
    wheel = events.MouseScrollDown(app.chart, 30, 3, 0, 1, 0, shift=False, meta=False, ctrl=False)
    app.chart.on_mouse_scroll_down(wheel)
    after = app.camera.view(100)
    assert after.per_column > before.per_column
    assert after.column_of(before.time_at(30 - margin(4) + 0.5)) == 30 - margin(4)


async def test_hovering_tells_about_the_job_without_drawing(pilot: Press, monkeypatch: pytest.MonkeyPatch) -> None:
    app = stand(pilot)
    drawn: list[object] = []
    monkeypatch.setattr(app.chart, "refresh", lambda *regions, **_: drawn.append(regions))
    await move_to(pilot, app.camera.view(100).column_of(100) - 1, ROWS - 4)
    assert str(app.chart.tooltip).startswith("J1 · 3 processors · started 00:00")
    assert app.told_of(Gantt.Hovered)[-1].rank == 0
    await move_to(pilot, 0, 0)
    assert "processor 3 was free" in str(app.chart.tooltip)
    assert drawn == []


async def test_only_rows_that_changed_are_drawn_again(pilot: Press, monkeypatch: pytest.MonkeyPatch) -> None:
    app = stand(pilot)
    drawn: list[Region] = []
    monkeypatch.setattr(app.chart, "refresh", lambda *regions, **_: drawn.extend(regions))
    app.show()
    assert drawn == []
    app.chart.selected = 2
    assert 0 < len(drawn) < ROWS
    assert all(region.height == 1 for region in drawn)


async def test_what_is_sent_of_what_changed_is_what_stands_there(pilot: Press, monkeypatch: pytest.MonkeyPatch) -> None:
    app = stand(pilot)
    drawn: list[Region] = []
    monkeypatch.setattr(app.chart, "refresh", lambda *regions, **_: drawn.extend(regions))
    app.chart.selected = 2
    for region in drawn:
        at = region.y, region.x, region.right
        sent = app.chart.changed_cells(*at)
        assert isinstance(sent, Inked)
        assert sent.runs.texts == [segment.text for segment in app.chart.cells(*at)]
    y, begin, end = at
    assert app.chart.changed_cells(y, begin, end - 1) == app.chart.cells(y, begin, end - 1)
