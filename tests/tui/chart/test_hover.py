from dataclasses import replace
from math import inf

from sim.engine.engine import Engine
from sim.workload.follows import After, Follow
from sim.workload.outages import Outage
from tests.sim.conftest import Lab
from tests.tui.chart.charts import chart_of
from tests.tui.scenes import engine_of
from tui.chart.cells.grid import Size
from tui.chart.cells.paint import paint
from tui.chart.hover import Spot, free_text, hover_text, job_span, spot_at
from tui.look.palette import DARK, Hue


def said(engine: Engine, rank: int) -> list[str]:
    return hover_text(chart_of(engine), engine.snapshot(), rank).splitlines()


def test_pointer_tells_of_jobs(lab: Lab) -> None:
    engine = lab.run("easy", 4, "17 0 3 5000 14400", "2 3900 1 10 10", until=3900)
    assert said(engine, 0) == ["J17 · 3 processors · started 00:00:00 · ran 1h05 of 4h00", "ends by 04:00:00, on 0-2"]
    engine = lab.run("easy", 4, "1 0 3 50 600", "2 0 2 60 60", until=0)
    assert said(engine, 1) == ["J2 · 2 processors · waits since 00:00:00 · estimate 1m00", "reserved for 00:10:00"]


def test_a_job_behind_a_cancelled_one_waits_from_the_cancellation(lab: Lab) -> None:
    """J1 does not fail, so J2 is cancelled when it ends. Then J3 is submitted, and starts."""
    follows = (None, Follow((After(0, "not ok"),)), Follow((After(1, "any"),)))
    jobs = replace(lab.workload(4, "1 0 4 10 10", "2 1 4 10 10", "3 2 1 5 5"), follows=follows)
    engine = Engine(jobs.with_outages([Outage(90, 95, 1)]), "fcfs")
    engine.run(15)
    assert said(engine, 2)[1] == "waited 0s"
    assert job_span(chart_of(engine), 2) == (10, 15)
    assert chart_of(engine, mode="wait").hues[2] == Hue.RAMP


def test_pointer_tells_what_is_known(lab: Lab) -> None:
    engine = lab.run("easy", 4, "1 0 4 60 600", "2 10 4 60 60")
    early = Engine(engine.workload, engine.moment.rules)
    early.advance(2)
    chart = replace(chart_of(engine), clock=early.now)  # knows both ends
    assert hover_text(chart, early.snapshot(), 0).splitlines()[1] == "ends by 00:10:00, on 0-3"
    assert "waits since" in hover_text(chart, early.snapshot(), 1)
    engine = lab.run("easy", 4, "1 0 4 60 600", "2 10 4 60 60", until=10)
    chart = chart_of(engine)
    assert job_span(chart, 0) == (0, 600)
    assert job_span(chart, 1) is None  # its plan is out of sight
    engine.run()
    assert job_span(chart_of(engine), 1) == (10, 120)


def test_a_place_has_a_time_a_processor_and_perhaps_a_job(lab: Lab) -> None:
    engine = lab.run("easy", 4, "1 0 3 200 300")
    chart = chart_of(engine, Size(43, 6))
    assert spot_at(chart, 5, 7) == Spot(time=55, processor=0, rank=0)
    assert spot_at(chart, 5, 0) == Spot(time=55, processor=3, rank=None)
    assert spot_at(chart, 5, 8) is None
    assert spot_at(chart, -1, 0) is None


def test_the_room_before_the_head_says_who_may_pass() -> None:
    engine = engine_of("z-figure4", "easy", steps=6)
    chart = chart_of(engine, per_column=60)
    told = [free_text(chart, Spot(time, 9, None)).splitlines() for time in (1100, 1300, 4000)]
    assert told[0][1] == "a job that ends by 00:20:00, when J3 is to start, may pass it"
    assert told[1][1] == "a job that needs no more than the 2 that J3 leaves free may pass it"
    assert len(told[2]) == 1


def test_what_is_not_there_is_reported_and_shown_like_nothing_else(lab: Lab) -> None:
    outages = [Outage(-inf, 10, 0b0001), Outage(20, 40, 0b1111, True), Outage(60, inf, 0b0011)]
    engine = Engine(lab.workload(4, "1 0 1 300 300").with_outages(outages), "easy")
    engine.run(70)
    chart = chart_of(engine, Size(60, 20), per_column=5)
    told = [free_text(chart, Spot(time, 0, None)).partition(": ")[2] for time in (5, 30, 65)]
    assert told == [
        "it comes at 00:00:10",
        "down for maintenance, as announced, since 00:00:20, until 00:00:40",
        "gone since 00:01:00, for good",
    ]
    assert chart.missing is not None
    assert "╳" in paint(chart, DARK, Size(60, 20)).text
    assert "x" in paint(chart, DARK.with_mode("ascii"), Size(60, 20)).text
