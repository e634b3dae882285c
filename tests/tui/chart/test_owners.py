import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.engine.engine import Engine
from tests.tui.chart.charts import chart_of
from tests.tui.scenes import engine_of
from tui.chart.axis import CLOCK
from tui.chart.cells.grid import Size
from tui.chart.hover import spot_at
from tui.chart.owners import Band, ByOwner, Order, Partitioned
from tui.chart.raster import FREE
from tui.chart.scene import ChartScene

STEP = 240


@pytest.fixture(scope="module")
def engine() -> Engine:
    engine = engine_of("ls-figure1", "multiqueue")
    engine.run()
    return engine


@pytest.fixture
def chart(engine: Engine) -> ChartScene:
    return chart_of(engine, Size(200, 40), per_column=STEP)


@given(st.lists(st.integers(0, 2), min_size=1, max_size=40), st.lists(st.integers(0, 2), min_size=1, max_size=40))
def test_order_has_a_place_for_each_processor(owned: list[int], homes: list[int]) -> None:
    procs = min(len(owned), len(homes))
    owners, division = (
        tuple(sum(1 << p for p in range(procs) if of[p] == part) for part in range(3)) for of in (owned, homes)
    )
    order = Order(owners, division, procs, gap=2)
    assert sorted(order.processors[order.processors >= 0]) == list(range(procs))
    assert all(order.processors[place] == processor for processor, place in enumerate(order.places))
    ends = [0, *(end for _, end in order.borders)]
    for part, low in enumerate(ends[:-1]):  # each partition has neighbouring places, by the processors' first owners
        there = order.processors[low : low + owners[part].bit_count()]
        assert sum(1 << int(p) for p in there) == owners[part]
        first = [next(h for h in range(3) if division[h] >> int(p) & 1) for p in there]
        assert first == sorted(first)


@given(st.integers(0, 2**20 - 1), st.integers(0, 2**20 - 1))
def test_order_keeps_the_size_of_a_set(one: int, other: int) -> None:
    owners = one, ~one & (2**20 - 1)
    order = Order(owners, owners, 20, gap=3)
    lifted = order.lifted(other)
    assert lifted.bit_count() == other.bit_count()
    assert all(lifted >> int(order.places[p]) & 1 == other >> p & 1 for p in range(20))


def test_each_column_shows_the_jobs_of_its_moment(engine: Engine, chart: ChartScene) -> None:
    view, by_owner = chart.view, chart.by_owner
    assert by_owner is not None
    checked = 0
    for column in range(0, view.column_of(engine.now), 3):
        begin, end = view.time_at(column), view.time_at(column + 1)
        there = [s for s in engine.history.between(begin, end) if s.start <= begin and (s.end or end) >= end]
        for row in range(view.rows):
            spot = spot_at(chart, column, row)
            if spot is None:
                continue
            whose = [s.rank for s in there if s.processors >> spot.processor & 1]
            if whose:
                assert spot.rank == whose[0]
                checked += 1
    assert checked > 500


def test_each_band_is_one_partition_at_every_moment(engine: Engine, chart: ChartScene) -> None:
    owners, view = chart.owners, chart.view
    assert owners is not None
    for column in range(view.column_of(engine.now)):
        seen = [int(part) for part in owners[::-1, column] if part >= 0]
        assert seen == sorted(seen)
        at = engine.history.owners_at(view.time_at(column + 1) - 1e-6)
        assert set(seen) == {part for part, owned in enumerate(at) if owned}


def test_boundaries_step_where_processors_are_borrowed(engine: Engine, chart: ChartScene) -> None:
    assert chart.by_owner is not None
    moves = [time for time, _ in engine.history.owners_between(1, engine.now)][1:]
    assert set(chart.by_owner.columns) == {0, *(chart.view.column_of(time) for time in moves)}


def test_nothing_runs_between_two_partitions(chart: ChartScene) -> None:
    assert chart.by_owner is not None
    for columns, order in chart.by_owner.runs(chart.view.columns):
        for low, high in order.borders:
            for place in range(low, high):
                band = int(np.searchsorted(-np.array(chart.view.edges()), -place, "left")) - 1
                assert (chart.raster.rank[band, columns] == FREE).all()


def test_a_borrowed_job_is_one_block(engine: Engine) -> None:
    # J6 runs on processors 0 to 8 and 10 to 12: by number in two pieces, by owner in one
    def pieces(by_rows: bool) -> int:
        chart = chart_of(engine, Size(200, 40), per_column=STEP, by_rows=by_rows)
        column = chart.raster.rank[:, chart.view.column_of(10_000)] == 5
        return int(np.count_nonzero(np.diff(np.concatenate([[False], column])) & column))

    assert (pieces(True), pieces(False)) == (1, 2)


def test_bands_count_own_borrowed_and_lent(engine: Engine) -> None:
    at_8000 = engine.history.as_of(8)
    how = Partitioned(at_8000.owners_at(0), at_8000.owners_at(8000), 8000, 30, 1)
    by_owner = ByOwner(how, at_8000, CLOCK, STEP, 0, 60)
    bands = by_owner.bands(by_owner.of(59))
    assert bands == (Band(4, 1, 3, 9, 0), Band(4, 4, 0, 6, 5), Band(22, 10, 12, 0, 10))
