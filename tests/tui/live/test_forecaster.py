from dataclasses import replace
from threading import Thread
from time import monotonic, sleep

import pytest

from sim.live.cluster.values import Cluster, ClusterJob
from sim.support.errors import TraceError
from tests.sim.live.forecast.test_forecast import BATCH, NODES_, NOW, RUNS, WAITS
from tests.tui.live.watched import Recorded, heard
from tui.live import forecaster, watch
from tui.live.forecaster import Forecaster
from tui.live.watch import Replayed

WIDE = replace(WAITS, cpus=8, tres="cpu=8,mem=80M,node=2", nodes_wanted=2)


def polls(*jobs: ClusterJob, many: int = 4) -> list[Cluster]:
    """Return polls of one minute each: these jobs in all but the last, in which J2 has started."""
    made = [Cluster(NOW + 60 * at, nodes=NODES_, partitions=(BATCH,), jobs=jobs) for at in range(many - 1)]
    start = NOW + 60 * (many - 1)
    began = replace(WIDE, state="RUNNING", start=start, end=start + 600, nodes=("n1", "n2"))
    later = replace(WAITS, id="3")
    return [*made, Cluster(start, nodes=NODES_, partitions=(BATCH,), jobs=(began, later))]


def watched(*jobs: ClusterJob, many: int = 4) -> Replayed:
    pictures = polls(*jobs, many=many)
    watch = Replayed(Recorded(pictures), "week.slog")
    for cluster in pictures:
        watch.observed.add(cluster)
    return watch


def test_forecasts_come_first_without_and_then_with_their_score() -> None:
    first, scored = Forecaster(watched(RUNS, WIDE)).make(3)
    assert (first.is_scored, first.forecasts.ours) == (False, None)
    assert first.forecasts.starts["3"].high == NOW + 180 + 600
    assert scored.is_scored
    assert scored.forecasts.ours is not None
    assert scored.forecasts.ours.forecasts == 3, "J2 was forecast in three polls before it started"


def test_polls_are_scored_in_order() -> None:
    made = Forecaster(watched(RUNS, WIDE))
    assert [ahead.is_scored for ahead in made.make(2)] == [False, True]
    (last,) = made.make(3)
    assert last.forecasts.ours is not None
    assert list(made.make(3)) == [last], "it is not made again"
    made = Forecaster(watched(RUNS, WIDE))
    assert len(list(made.make(3))) == 2
    *_, earlier = made.make(1)
    assert earlier.forecasts.ours is None
    assert set(earlier.forecasts.starts) == {"2"}
    assert made.made(3) is not None, "both boards are kept"
    assert list(Forecaster(watched(RUNS, WIDE)).make(3, lambda: True)) == []


def test_only_some_polls_are_scored_when_time_is_short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forecaster, "PATIENCE", 0.0)
    *_, scored = Forecaster(watched(RUNS, WIDE)).make(3)
    assert scored.forecasts.ours is not None
    assert scored.forecasts.ours.forecasts == 1


def test_watch_brings_forecasts_to_the_screen_and_rests() -> None:
    watch = Replayed(Recorded(polls(RUNS, WIDE)), "week.slog")
    with heard(watch) as until:
        scene = until(lambda scene: scene.forecasts is not None and scene.forecasts.ours is not None)
        assert scene.picture == 3
        assert scene.forecasts is not None
        assert set(scene.forecasts.starts) == {"3"}


def test_a_poll_of_which_no_forecast_can_be_made_ends_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "PAUSE", 0.01)
    seen, made = watched(RUNS, WIDE), list[int]()

    def refuse(picture: int, is_over: object) -> None:
        made.append(picture)
        raise TraceError("has a node without cores")

    monkeypatch.setattr(seen.forecaster, "make", refuse)
    seen.state, seen._on_screen = replace(seen.state, reading=None), 2
    thread = Thread(target=seen._look_ahead, daemon=True)
    thread.start()
    until = monotonic() + 30
    while not made and monotonic() < until:
        sleep(0.01)
    seen._on_screen = 3
    while len(made) < 2 and monotonic() < until:
        sleep(0.01)
    sleep(0.1)
    assert made == [2, 3], "each is tried once"
    seen._over.set()
    thread.join(30)
    assert not thread.is_alive()


def test_a_job_whose_end_is_reported_late_is_learnt_at_the_next_poll() -> None:
    watch = watched(RUNS, WIDE)
    made = Forecaster(watch)
    *_, ahead = made.make(2)
    known = len(ahead.board.past)
    late = replace(RUNS, id="9", state="COMPLETED", start=NOW - 400, end=NOW + 10)
    watch.observed.jobs.append(late)
    list(made.make(3))
    assert len(ahead.board.past) == known + 2, "it and J1, which the picture does not list any more"
