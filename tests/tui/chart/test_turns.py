from dataclasses import replace

import numpy as np
import pytest

from sim.history.stretch import Stretch
from tests.sim.conftest import Lab
from tests.tui.scenes import scene_of
from tui.chart.lanes import busy_at, by_turns, last_turn, row_on_turn, rows_sharing, turn_at


def test_turns_are_told_where_a_column_is_short_enough(lab: Lab) -> None:
    engine = lab.run("gang:slice=100", 4, "1 0 4 1000 1000", "2 0 4 1000 1000", until=0)
    engine.run(400)
    held = engine.history.between(0, 400)
    assert [(s.start, s.end) for s in by_turns(engine.history, held, 0, 400, 10) if s.rank == 0] == [
        (0, 100),
        (200, 300),
    ]
    assert list(by_turns(engine.history, held, 0, 400, 1000)) == held


def test_rows_are_on_turn_between_steps(lab: Lab) -> None:
    shown = lab.run("gang:slice=100", 4, "1 0 4 1000 1000", "2 0 4 1000 1000", until=0).snapshot()
    assert [turn_at(shown, clock)[:2] for clock in (0, 150, 299)] == [(1, 100), (2, 200), (1, 300)]
    assert row_on_turn(lab.run("easy", 4, "1 0 4 10 10").snapshot(), 5) is None
    engine = lab.run("gang:slice=100", 4, "1 0 4 1000 1000", "2 0 1 1000 1000", until=0)
    assert [busy_at(engine.snapshot(), clock) for clock in (0, 150, 299)] == [4, 1, 4]
    scene = scene_of(engine)
    assert [replace(scene, clock=clock).levels for clock in (0, 150)] == [(1, 0), (0.25, 0)]
    assert busy_at(lab.run("easy", 4, "1 0 3 10 10", until=0).snapshot(), 5) == 3
    shown = lab.run("gang:slice=100", 4, "1 0 4 1000 1000", "2 0 4 1000 1000", until=0).snapshot()
    assert [last_turn(shown, before) for before in (350, 300, 100.5, 100, 0)] == [300, 200, 100, 0, None]
    assert last_turn(lab.run("easy", 4, "1 0 4 10 10").snapshot(), 5) is None


@pytest.mark.parametrize(("band", "row"), [(0, 4), (1, 7), (2, 4)])
def test_bands_show_the_rows_in_turn(band: int, row: int) -> None:
    both = Stretch(0, 0, None, "gang", 0b1, (4, 7)), Stretch(1, 0, None, "gang", 0b1, (7,))
    sharing = rows_sharing(both, np.array([0, 0]), np.array([3, 3]), 3)
    at = np.array([band]), np.array([1])
    assert sharing.shows(np.array([0]), *at).tolist() == [True]
    assert sharing.shows(np.array([1]), *at).tolist() == [row == 7]
