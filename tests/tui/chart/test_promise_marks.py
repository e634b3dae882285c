from sim.decisions.wording import Hole
from sim.engine.engine import Engine
from sim.workload.model import Header
from tests.tui.chart.charts import SIZE, chart_of
from tests.tui.scenes import engine_of
from tui.chart.cells.grid import Size
from tui.chart.cells.paint import paint
from tui.chart.chart_maker import Promises, hole_of
from tui.chart.scene import Mark
from tui.look.calendar import Calendar
from tui.look.palette import DARK, Hue, Tone, ink


def marks(engine: Engine, selected: int | None = None) -> list[Mark]:
    return list(Promises().marks(engine.history, engine.snapshot(), engine.now, selected))


def test_the_head_has_a_promise_and_it_is_told_how_it_slipped() -> None:
    kept, slipped = engine_of("z-figure4", "easy", steps=6), engine_of("w-figure1", "relaxed:omega=1.25", steps=6)
    assert marks(kept) == []
    assert [(m.time, m.kind, m.told()) for m in marks(kept, selected=2)] == [(1200, "promise", "J3 promised 00:20:00")]
    (mark,) = marks(slipped)
    assert mark.told() == "J2 promised 00:16:40, now +3m40"
    calendar = Calendar.of(Header(unix_start=839855347, time_zone="US/Pacific"))
    assert calendar is not None
    assert mark.told(calendar.near) == "J2 promised 06:25:47, now +3m40"


def test_promises_have_marks_while_they_stand() -> None:
    engine = engine_of("k-figure2.1-2.2", "conservative", steps=5)
    assert [mark.told() for mark in marks(engine, selected=3)] == ["J4 promised 00:30:00"]
    assert marks(engine, selected=0) == []
    assert marks(engine_of("z-figure4", "fcfs", steps=6)) == []
    engine, promises = engine_of("z-figure4", "easy", steps=6), Promises()
    assert list(promises.marks(engine.history, engine.snapshot(), engine.now, 2))
    assert not list(promises.marks(engine.history, engine.snapshot(), 0, 2))
    windows = [marks(engine_of("w-figure1", "relaxed:omega=1.25", steps=n)) for n in range(2, 6)]
    assert ["window for J2"] in [[mark.text for mark in found if mark.kind == "window"] for found in windows]
    assert hole_of(engine_of("z-figure4", "fcfs", steps=6).snapshot()) is None
    assert chart_of(engine_of("ls-figure1", "multiqueue", steps=7), SIZE).hole is None


def test_hole_ends_at_the_shadow_time_beside_extra_processors() -> None:
    engine = engine_of("z-figure4", "easy", steps=6)
    assert hole_of(engine.snapshot()) == Hole(engine.workload.jobs[2], 1200, 2)
    size = Size(60, 22)
    drawn = paint(chart_of(engine, size, per_column=60), DARK, size)
    open_ = drawn.bg == ink(Hue.ACCENT, Tone.GROUND)
    left = 3
    assert open_[14, left + 19]
    assert open_[1, left + 22]
    assert not open_[1, left + 35]
    assert not open_[:, : left + 10].any()
