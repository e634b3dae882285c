from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from tests.tui.scenes import context_of, engine_of
from tui.look.text import cells
from tui.panels.waiting import waiting_lines

FIGURE = context_of(engine_of("z-figure4", "easy", until=600))
BUSY = context_of(engine_of("lublin-128", "easy", steps=984))


def waiting_texts(context: object, named: str, width: int, rows: int = 1) -> list[str]:
    return [line.text for line in waiting_lines(context, named, width, rows)]  # type: ignore[arg-type]


def test_waiting_jobs_have_reasons() -> None:
    assert waiting_texts(FIGURE, "", 80) == [
        " 2 wait  J3 8p 10m00 8 > 1 free, from 00:20:00  J4 4p 15m00 would delay J3"
    ]
    context = context_of(engine_of("ls-figure1", "multiqueue", until=8000))
    assert waiting_texts(context, "", 80) == [
        " 2 wait  J7 14p 14 > 4 free, from 03:20:00  J8 8p J7 comes first, from 03:33:20"
    ]
    (line,) = waiting_lines(FIGURE, "", 80, 1)
    assert [span.action for span in line.spans if span.text == "J4"] == ["select_rank(3)"]
    assert any("accent" in span.style for span in waiting_lines(replace(FIGURE, selected=3), "", 80, 1)[0].spans)


def test_suspended_job_shows_the_sum_of_its_xfactor_where_it_fits() -> None:
    context = context_of(engine_of("k-figure3.1", "selective:sf=1.2", until=2340))
    both = " xfactor: J2 (12m00 waited + 1h00 estimate) / 1h00, J1 (27m00 + 1h00) / 1h00"
    assert waiting_texts(context, "", 80) == [both]
    one = " 1 suspended  J2 8p xfactor 1.20 = (12m00 waited + 1h00 estimate) / 1h00"
    assert waiting_texts(context, "", 75) == [one]
    assert waiting_texts(context, "", 60) == [" 1 suspended  J2 8p xfactor 1.20"]


def test_waiting_line_keeps_and_counts() -> None:
    last = BUSY.scene.snapshot.queue.jobs[-1]
    assert f"J{last.id} " in waiting_texts(BUSY, f"J{last.id} waits", 60)[0]
    assert f"J{last.id} " not in waiting_texts(BUSY, "", 60)[0]
    line = waiting_texts(BUSY, "", 60)[0]
    left = int(line.rpartition("+")[2])
    assert line.count("J") + left == len(BUSY.scene.snapshot.queue)


@given(width=st.integers(20, 200), rows=st.integers(1, 3))
def test_waiting_lines_stay_within_the_room(width: int, rows: int) -> None:
    lines = waiting_texts(BUSY, "", width, rows)
    assert len(lines) <= rows
    assert all(cells(line) <= width for line in lines)
