import pytest

from sim.engine.engine import Engine
from sim.history.stretch import Stretch
from sim.policies import parse_policy
from sim.workload.source import Source
from tui.chart.lanes import Lanes


@pytest.fixture(scope="module")
def engine() -> Engine:
    _, workload = Source("lublin-320").read()
    engine = Engine(workload.take(slice(120)), parse_policy("gang-migrate-backfill"))
    engine.run()
    return engine


@pytest.fixture
def lanes(engine: Engine) -> Lanes:
    lanes = Lanes(engine.workload.procs)
    lanes.read(engine.history, engine.now)
    return lanes


def test_a_row_keeps_its_lane_while_it_lasts_and_no_two_have_one(engine: Engine, lanes: Lanes) -> None:
    was: dict[int, int] = {}
    for time, rows in engine.history.rows_settled():
        now = {row: lanes.of(row, time) for row in rows}
        assert len(set(now.values())) == len(rows)
        assert all(was[row] == now[row] for row in rows if row in was)
        was = now


def test_in_a_lane_nobody_stands_where_another_does(engine: Engine, lanes: Lanes) -> None:
    for moment in range(0, int(engine.now), int(engine.now) // 40):
        taken = 0
        for stretch in lanes.spread(engine.history.between(moment, moment + 1e-6)):
            assert not taken & stretch.processors
            taken |= stretch.processors


def test_the_past_has_the_lanes_that_it_had(engine: Engine, lanes: Lanes) -> None:
    early = Lanes(engine.workload.procs)
    clock = engine.history.time_of(39)
    early.read(engine.history.as_of(40), clock)
    lanes.read(engine.history.as_of(40), clock)
    assert lanes.count == early.count


def test_what_goes_on_on_the_same_processors_is_one_block(lanes: Lanes) -> None:
    parts = [Stretch(7, 1e9, 1e9 + 5, "gang", 0b11, (1,)), Stretch(7, 1e9 + 5, 1e9 + 9, "gang", 0b11, (1, 2))]
    home, replica = lanes.joined(parts)
    assert (home.start, home.end, replica.start) == (1e9, 1e9 + 9, 1e9 + 5)
