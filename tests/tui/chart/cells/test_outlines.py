import pytest

from sim.engine.engine import Engine
from tests.sim.conftest import Lab
from tests.tui.chart.charts import chart_of, picture
from tests.tui.scenes import engine_of
from tui.chart.cells.grid import BLANK, Size
from tui.chart.cells.paint import paint
from tui.chart.scene import Mark
from tui.look.palette import DARK, TONES, Tone

SIZE = Size(46, 6)


@pytest.fixture
def engine(lab: Lab) -> Engine:
    return lab.run("easy", 4, "1 0 3 100 100", "2 0 4 100 100", until=0)


def test_what_is_planned_is_framed_in_its_own_colour(engine: Engine) -> None:
    drawn = paint(chart_of(engine, SIZE), DARK, SIZE)
    rows = drawn.text.splitlines()
    assert [row[13:23] for row in rows[:4]] == ["┌────────┐", "│░░░░░░░░│", "│J2░░░░░░│", "└────────┘"]
    hue, tone = divmod(int(drawn.fg[0, 14]), TONES)
    assert (hue, tone) == (1, Tone.FULL)


def test_a_job_in_one_row_has_no_room_for_a_frame(lab: Lab) -> None:
    engine = lab.run("easy", 4, "1 0 4 100 100", "2 0 1 100 100", until=0)
    text = picture(engine, DARK, SIZE)
    assert "J2" in text
    assert "┌" not in text


def test_frame_goes_round_what_ends_in_its_first_column() -> None:
    engine = engine_of("lublin-128", "easy", steps=374)
    size = Size(124, 49)
    rows = picture(engine, DARK, size, per_column=600, first=470).splitlines()
    at = next(column for row in rows if (column := row.find("J149")) >= 0)
    turns = [turn for row in rows if (turn := row[at - 1 : at + 1]) and turn[-1] in "┐┘"]
    assert turns == ["└┐", "┌┘", "└┐"]


def test_gap_separates_neighbours_of_one_colour(lab: Lab) -> None:
    """Jobs 1, 25, 49 and 73 have the same colour."""
    engine = lab.run("easy", 5, "1 0 2 200 200", "25 0 2 100 100", "49 1 2 100 100", "73 0 1 300 300", until=200)
    drawn = paint(chart_of(engine, Size(46, 7)), DARK, Size(46, 7))
    rows = [row[3:22] for row in drawn.text.splitlines()[:5]]
    assert "▏" in "".join(rows)
    assert "▔" in "".join(rows) or "─" in "".join(rows)
    lines = [(row, column) for row in range(5) for column in range(3, 22) if chr(drawn.chars[row, column]) in "▏▔─"]
    assert {int(drawn.fg[place]) for place in lines} == {BLANK}


@pytest.mark.parametrize(("guess", "truth"), [(250, 300), (300, 250), (440, 430), (-30, 20)])
def test_name_of_a_guess_stands_beside_its_own_line(engine: Engine, guess: int, truth: int) -> None:
    """In the lesson z-migration "it is here" stood beside now, and "your guess" between the lines."""
    marks = Mark(guess, "guess", "your guess"), Mark(truth, "guess", "it is here")
    chart = chart_of(engine, Size(60, 10), marks=marks, first=-8 if guess < 0 else 0)
    rows = [row.ljust(60) for row in paint(chart, DARK, Size(60, 10)).text.splitlines()]
    for mark in marks:
        line = rows[0].index("▕") + 1 + chart.view.column_of(mark.time)
        (begin,) = (row.index(f" {mark.text} ") for row in rows if mark.text in row)
        assert line in (begin, begin + len(mark.text) + 2), rows
