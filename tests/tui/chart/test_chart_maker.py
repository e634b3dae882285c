import numpy as np
import pytest

from sim.engine.engine import Engine
from sim.policies import parse_policy
from sim.workload.source import Source
from tests.sim.conftest import Lab
from tui.chart.chart_maker import ChartMaker
from tui.chart.colours import partition_hue
from tui.chart.raster import EXPECTED, RUN, UNKNOWN
from tui.chart.scale import Camera
from tui.chart.scene import ChartScene
from tui.look.palette import JOB_HUES

LONG = 60.0
SPECS = ["easy", "selective:sf=1.5", "multiqueue:speculate=180", "gang-backfill"]


def engine_of(spec: str, jobs: int = 120, trace: str = "lublin-128") -> Engine:
    _, workload = Source(trace).read()
    return Engine(workload.take(slice(jobs)), parse_policy(spec))


def camera_of(engine: Engine) -> Camera:
    return Camera(per_column=600, low=0, high=engine.moment.procs, columns=150, rows=60)


def draw(maker: ChartMaker, engine: Engine, camera: Camera, budget: float = LONG) -> ChartScene:
    history = engine.history.as_of(engine.step_count)
    return maker.make(history, engine.snapshot(), engine.now, camera, budget_seconds=budget)


def same(a: ChartScene, b: ChartScene) -> bool:
    owners = a.owners is b.owners is None or np.array_equal(a.owners, b.owners)  # type: ignore[arg-type]
    return np.array_equal(a.raster.pixels, b.raster.pixels) and owners and np.array_equal(a.hues, b.hues)


@pytest.mark.parametrize("by_event", [False, True], ids=["by the clock", "by event"])
@pytest.mark.parametrize("spec", SPECS)
def test_a_picture_made_step_by_step_is_the_one_made_at_once(spec: str, by_event: bool) -> None:
    engine = engine_of(spec)
    maker, camera = ChartMaker(engine.workload), camera_of(engine).spaced(by_event, None)
    for step in range(100):
        engine.step()
        shown = draw(maker, engine, camera)
        if not step % 10:
            assert same(shown, draw(ChartMaker(engine.workload), engine, camera))


@pytest.mark.parametrize("spec", SPECS)
def test_going_back_shows_the_same_picture(spec: str) -> None:
    engine = engine_of(spec)
    maker, camera = ChartMaker(engine.workload), camera_of(engine)
    engine.advance(100)
    snapshot, now = engine.snapshot(), engine.now
    first = maker.make(engine.history.as_of(100), snapshot, now, camera, budget_seconds=LONG)
    engine.advance(100)
    draw(maker, engine, camera)
    again = maker.make(engine.history.as_of(100), snapshot, now, camera, budget_seconds=LONG)
    assert same(first, again)


def test_without_time_a_frame_is_incomplete_and_says_so() -> None:
    engine = engine_of("easy", 1000)
    engine.run()
    maker = ChartMaker(engine.workload)
    camera = camera_of(engine).fitting(0, engine.now)
    shown = draw(maker, engine, camera, budget=0)
    assert shown.pending
    assert (shown.raster.rank == UNKNOWN).any()
    while shown.pending:
        shown = draw(maker, engine, camera, budget=0)
    assert same(shown, draw(ChartMaker(engine.workload), engine, camera))


def test_a_branch_shares_what_was_drawn_by_event() -> None:
    engine = engine_of("easy")
    engine.advance(150)
    maker, camera = ChartMaker(engine.workload), camera_of(engine).spaced(True, None)
    draw(maker, engine, camera)
    engine.switch(parse_policy("fcfs"))
    branch = maker.parted(engine.now)
    assert not draw(branch, engine, camera, budget=0).pending
    engine.advance(20)
    assert same(draw(branch, engine, camera), draw(ChartMaker(engine.workload), engine, camera))


def test_a_moment_between_two_steps_can_be_shown(lab: Lab) -> None:
    engine = lab.run("easy", 4, "1 0 4 200 300")
    snapshot = Engine(engine.workload, engine.moment.rules)
    snapshot.step()
    maker = ChartMaker(engine.workload)
    camera = Camera(10, 0, 4, 40, 8, follow=False)
    chart = maker.make(engine.history.as_of(1), snapshot.snapshot(), 50, camera, budget_seconds=LONG)
    assert [int(kind) for kind in chart.raster.kind[0, :7]] == [RUN] * 5 + [EXPECTED] * 2
    assert chart.raster.rank[0].tolist() == [0] * 30 + [-1] * 10


def test_empty_runs_can_be_shown(lab: Lab) -> None:
    engine = Engine(lab.workload(4, "1 10 4 20 20"), parse_policy("easy"))
    maker, camera = ChartMaker(engine.workload), Camera(1, 0, 4, 40, 8)
    chart = maker.make(engine.history.as_of(0), engine.snapshot(), 10, camera)
    assert (chart.raster.rank == -1).all()
    assert np.isnan([chart.start[0], chart.end[0]]).all()
    engine.step()
    assert (draw(maker, engine, camera).raster.rank == 0).any()
    engine = Engine(lab.workload(4), parse_policy("easy"))
    chart = draw(ChartMaker(engine.workload), engine, Camera(1, 0, 4, 40, 8))
    assert (chart.raster.rank == -1).all()


@pytest.mark.parametrize("order", [1, -1], ids=["forwards", "backwards"])
def test_chart_hides_later_steps_of_the_same_instant(lab: Lab, order: int) -> None:
    engine = lab.run("easy", 4, "1 0 4 20 20", "2 5 4 3 10", "3 9 4 7 7", "4 40 1 5 5")
    again, moments = Engine(engine.workload, engine.moment.rules), []
    while again.step():
        moments.append((again.history.as_of(again.step_count), again.snapshot()))
    maker, camera = ChartMaker(engine.workload), Camera(1, 0, 4, 40, 8)
    for past, snapshot in moments[::order]:
        for clock in filter(None, (snapshot.time, snapshot.next_time)):
            chart = maker.make(past, snapshot, clock, camera)
            for told, known in ((chart.start, past.starts(4)), (chart.end, past.ends(4))):
                times = told[np.arange(4)]
                assert np.array_equal(np.where(times <= clock, times, np.nan), known, equal_nan=True)


def test_hues_are_known_for_jobs_that_are_not_in_the_picture() -> None:
    engine = engine_of("easy")
    maker = ChartMaker(engine.workload)
    engine.run()
    chart = draw(maker, engine, camera_of(engine))
    assert 0 not in chart.raster.rank
    assert maker.hues_of(engine.history, [0], "job", engine.now)[0] < JOB_HUES


@pytest.mark.parametrize("spec", ["fcfs", "gang-backfill", "multiqueue:speculate=180"])
def test_a_job_has_one_hue_under_every_policy(spec: str) -> None:
    engine, other = engine_of(spec), engine_of("easy")
    engine.advance(100)
    every = range(len(engine.workload))
    hues = ChartMaker(engine.workload).hues_of(engine.history, every, "job", engine.now)
    before = ChartMaker(other.workload).hues_of(other.history, every, "job", other.now)
    assert np.array_equal(hues, before)
    chart = draw(ChartMaker(engine.workload), engine, camera_of(engine))
    seen = np.unique(chart.raster.rank[chart.raster.rank >= 0])
    assert np.array_equal(chart.hues[seen], hues[seen])


def test_the_partition_of_a_job_is_that_in_which_it_started() -> None:
    engine = engine_of("multiqueue", trace="ls-figure1")
    engine.run()
    history, every = engine.history, range(len(engine.workload))
    found = ChartMaker(engine.workload).hues_of(history, every, "partition", engine.now)
    for rank in every:
        first = history.of(rank)[0]
        shares = [(owned & first.processors).bit_count() for owned in history.owners_at(first.start)]
        assert found[rank] in [partition_hue(p) for p, share in enumerate(shares) if share == max(shares)]


@pytest.mark.parametrize("then", ["conservative", "gang:slice=60"])
def test_what_is_drawn_after_leaving_gang_depends_on_the_moment_alone(then: str) -> None:
    engine = engine_of("gang")
    engine.advance(100)
    before = engine.snapshot()
    engine.switch(parse_policy(then))
    engine.advance(100)
    camera = Camera(per_column=60, low=0, high=engine.workload.procs, columns=400, rows=60)
    maker = ChartMaker(engine.workload)
    first = draw(maker, engine, camera)
    maker.make(engine.history.as_of(100), before, before.time or 0, camera, budget_seconds=LONG)
    assert same(draw(maker, engine, camera), first)
