from collections.abc import Sequence

import pytest

from sim.engine.engine import Engine
from sim.policies import parse_policy
from sim.workload.outages import Outage
from sim.workload.source import Source
from tests.tui.chart.svg.test_picture import SVG, WHOLE, fills, picture
from tui.chart.scene import Drawing
from tui.chart.svg.drawing import Options, drawing_of
from tui.chart.svg.elements import LETTER
from tui.chart.svg.frame import Frame
from tui.chart.svg.partition_shapes import boundaries, rects_of

AT = 8000
"""Time in seconds at which J6 has started on 12 borrowed processors."""


def chart(options: Options = WHOLE, outages: Sequence[Outage] = ()) -> Drawing:
    _, workload = Source("ls-figure1").read()
    engine = Engine(workload.with_outages(outages), parse_policy("multiqueue"))
    if options.until is None:
        engine.run()
    else:
        engine.run(options.until)
    return drawing_of(engine, "multiqueue", options)


def frame_of(drawn: Drawing) -> Frame:
    return Frame.within((1440, 810), drawn.begin, drawn.until, drawn.view.high, False, drawn.view.axis)


def test_the_line_of_now_crosses_no_text_of_a_bar() -> None:
    chart_at = chart(Options(until=13800, by_event=True))  # J8 has started at 12800, and the boundaries moved then
    drawn, now = picture(chart_at, 1440, 810), frame_of(chart_at).x(13800)
    told = [text for text in drawn.iter(f"{SVG}text") if (text.text or "").startswith(("long", "medium", "short"))]
    spans = [(float(t.get("x", 0)), len(t.text or "") * 11 * LETTER) for t in told if not t.get("text-anchor")]
    assert len(spans) > 6
    assert all(x > now or x + length <= now for x, length in spans)


def test_a_job_keeps_its_area_and_is_in_the_lane_of_its_partition() -> None:
    lanes, numbers = chart(), chart(Options(by_number=True))
    areas = [
        sum(((s.end or drawn.clock) - s.start) * s.processors.bit_count() for s in drawn.ran)
        for drawn in (lanes, numbers)
    ]
    assert areas[0] == pytest.approx(areas[1])
    assert lanes.by_owner is not None
    borrowing = [s for s in lanes.ran if s.rank == 5 and s.start < 10000]  # J6, of the class of long jobs
    assert borrowing
    for begin, _, order in lanes.by_owner.spans(AT + 1, 10000):
        (first, _), (_, above) = order.borders[1], order.borders[2]
        assert all(s.processors >> first << first == s.processors < 1 << above for s in borrowing), begin


def test_lanes_change_at_the_moment_of_a_loan() -> None:
    drawn = chart()
    assert drawn.by_owner is not None
    times = {time for time, _ in drawn.history.owners_between(0, drawn.clock)}
    begun = [begin for begin, _, _ in drawn.by_owner.spans(1, drawn.clock)][1:]
    assert len(begun) >= 7
    assert set(begun) <= times


def test_unavailable_processors_are_in_the_lanes_of_their_owners() -> None:
    assert "url(#missing)" in fills(picture(chart(outages=[Outage(7000, 12000, 0b111111)])))
    drawn = chart()
    frame = frame_of(drawn)
    rects = rects_of(drawn, frame, 7000, 12000, 0b111111)
    width, height = frame.x(12000) - frame.x(7000), frame.y(0) - frame.y(6)
    assert sum(rect.area for rect in rects) == pytest.approx(width * height)
    assert len({rect.y for rect in rects}) > 1  # boundaries have moved
    assert rects_of(chart(Options(by_number=True)), frame, 7000, 12000, 0b111111) == frame.rects(7000, 12000, 0b111111)


def test_a_boundary_that_stays_is_one_line() -> None:
    divisions = [(0.0, (0b0011, 0b1100)), (5.0, (0b0011, 0b1100)), (8.0, (0b0001, 0b1110))]
    assert [(line.at, line.start, line.end) for line in boundaries(divisions, 9)] == [(2, 0, 8), (1, 8, 9)]
