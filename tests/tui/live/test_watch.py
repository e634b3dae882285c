import gc
import weakref
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from time import time

import pytest

from sim.live.cluster.pace import Pace
from sim.live.cluster.recording import Scratch
from sim.live.cluster.values import Cluster, ClusterJob
from sim.stops.grammar import parse_stop
from sim.support.errors import FileError
from tests.tui.late import late
from tests.tui.live.moments import DAY, NODES, runs, waits
from tests.tui.live.watched import Recorded, Scripted, heard
from tui.chart.scale import Camera
from tui.live.chart import Wish
from tui.live.watch import Live, Replayed

CAMERA = Camera(10, 0, 32, 80, 40)


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Pace, "of", lambda every: Pace(0.05, 0.05))


def picture(at: float, *jobs: object) -> Cluster:
    return Cluster(at=DAY + at, nodes=NODES, jobs=jobs)  # type: ignore[arg-type]


@pytest.mark.usefixtures("quick")
def test_trouble_leaves_the_last_picture_and_passes() -> None:
    source = Scripted(picture(60, runs("1", 2, "n1")), None, None, picture(120))
    with heard(Live(source), Wish(CAMERA)) as until:
        troubled = until(lambda scene: bool(scene.state.trouble))
        assert "contact" in troubled.state.trouble
        assert troubled.cluster.at == DAY + 60
        assert troubled.chart is not None
        mended = until(lambda scene: not scene.state.trouble and scene.pictures > 1)
        assert mended.cluster.at == DAY + 120


def test_poll_that_is_asked_for_comes_before_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sim.live.cluster.pace.LEAST", 0.0)
    live = Live(Scripted(picture(60), picture(120)), every=900.0)
    with heard(live, Wish(CAMERA)) as until:
        first = until(lambda scene: scene.pictures == 1)
        assert (first.state.due or 0) > time() + 60
        live.poll_now()
        until(lambda scene: scene.pictures == 2)


@pytest.mark.usefixtures("quick")
def test_pictures_are_kept_and_the_past_is_asked_for_once() -> None:
    kept: list[Cluster] = []
    past: list[str] = []

    class Keeper:
        def add(self, cluster: Cluster) -> None:
            kept.append(cluster)

        def add_history(self, jobs: Iterable[ClusterJob]) -> None:
            past.extend(job.id for job in jobs)

    source = Scripted(picture(600), picture(660), ended=(runs("9", 1, "n1", start=100, end=200),))
    with heard(Live(source, keeps=Keeper()), Wish(CAMERA)) as until:
        until(lambda scene: scene.pictures > 2)
        held = until(lambda scene: "9" in scene.observed.ranks)
    assert [cluster.at for cluster in kept[:2]] == [DAY + 600, DAY + 660]
    assert past == ["9"]
    assert [s.end for s in held.observed.stretches(700) if s.rank == held.observed.ranks["9"]] == [200]


def test_a_recording_is_read_and_any_picture_shown(shared: Path) -> None:
    watch = Replayed(Recorded.of(shared, "v24.11"), "week.slog")
    with heard(watch, Wish(CAMERA)) as until:
        last = until(lambda scene: scene.state.reading is None)
        assert last.follows
        watch.wish(Wish(CAMERA, picture=10))
        then = until(lambda scene: scene.picture == 10)
        assert not then.follows
        assert then.clock == watch.observed.moments[10]
        assert then.chart is not None
        stop = parse_stop("queue > 25", watch.observed.workload)
        found = watch.search([stop], 0, forwards=True)
        assert found is not None
        assert len(watch.observed.at(found).queue) > 25  # type: ignore[union-attr]
        assert watch.search([stop], found, forwards=False) is None


@pytest.mark.usefixtures("quick")
def test_what_refers_to_itself_goes_with_the_next_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    """Objects with reference cycles must be freed at the next poll; an example are the lines drawn each second, which
    otherwise stay for hours."""

    class Ring:
        def __init__(self) -> None:
            self.ring = self

    monkeypatch.setattr("tui.live.watch.gc", gc)
    gc.collect()
    gc.disable()
    try:
        ring = weakref.ref(Ring())
        with heard(Live(Scripted(picture(60), picture(120))), Wish(CAMERA)) as until:
            until(lambda scene: scene.pictures > 2)
        assert ring() is None
    finally:
        gc.enable()


def test_a_recording_that_grows_is_read_on(shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tui.live.watch.AGAIN", 0.05)
    whole = Recorded.of(shared, "v22.05")
    grows = Recorded(list(whole.pictures.values())[:3])
    with heard(Replayed(grows, "x.slog"), Wish(CAMERA)) as until:
        until(lambda scene: scene.pictures == 3)
        grows.pictures = whole.pictures
        until(lambda scene: scene.pictures == len(whole.pictures))


@pytest.mark.usefixtures("quick")
def test_a_large_cluster_is_taken_in_whole() -> None:
    jobs = (*(runs(str(at), 1, "n1") for at in range(4)), *(waits(str(at), 1, 900.0 + at) for at in range(10, 3000)))
    with heard(Live(Scripted(picture(60, *jobs))), Wish(CAMERA)) as until:
        scene = until(lambda scene: scene.chart is not None)
    assert len(scene.cluster.queue) == 2990


@pytest.mark.usefixtures("quick")
def test_a_recording_that_cannot_be_written_is_said_and_watching_goes_on() -> None:
    class Full:
        def add(self, cluster: Cluster) -> None:
            raise FileError("no space left", "x.slog")

        def add_history(self, jobs: Iterable[ClusterJob]) -> None:
            """Do nothing; it is never called, as there are no earlier jobs."""

    with heard(Live(Scripted(picture(60), picture(120)), keeps=Full()), Wish(CAMERA)) as until:
        scene = until(lambda scene: bool(scene.state.unrecorded) and scene.pictures > 1)
    assert "no space left" in scene.state.unrecorded
    assert not scene.state.trouble


def test_a_recording_brings_the_past_before_its_first_picture() -> None:
    ended = runs("9", 1, "n1", start=100, end=200)
    with heard(Replayed(Recorded([picture(600)], (ended,)), "x.slog"), Wish(CAMERA)) as until:
        scene = until(lambda scene: scene.state.reading is None and "9" in scene.observed.ranks)
    assert [held.end for held in scene.observed.stretches(700)] == [200]


def test_an_error_of_this_program_is_not_kept_by_its_thread() -> None:
    class Broken(Scripted):
        def snapshot(self) -> Cluster:
            raise ZeroDivisionError

    with heard(Live(Broken(picture(60))), Wish(CAMERA)) as until, pytest.raises(ZeroDivisionError):
        until(lambda scene: True)


@pytest.mark.usefixtures("quick")
def test_pictures_that_memory_does_not_keep_are_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sim.live.cluster.observed.MOST_KEPT", 3)
    monkeypatch.setattr("sim.live.cluster.observed.MOST_EVENTS", 3)
    pictures = [picture(60.0 * at, *(waits(str(job), 2) for job in range(at + 1))) for at in range(1, 30)]
    with closing(Scratch()) as aside:
        watch = Live(Scripted(*pictures), aside=aside)
        with heard(watch, Wish(CAMERA)) as until:
            until(lambda scene: scene.pictures > 28)
            watch.wish(Wish(CAMERA, picture=2))
            old = until(lambda scene: scene.picture == 2)
            assert watch.observed.at(2) is None
            assert [event.kind for event in old.events] == ["arrival"]
            assert len(old.cluster.queue) == 4
            stop = parse_stop("queue > 10", watch.observed.workload)
            assert watch.search([stop], 0, forwards=True) == 9
            assert watch.search([stop], 25, forwards=False) == 9
            assert watch.search([stop], 25, forwards=False, is_over=lambda: True) is None


@pytest.mark.usefixtures("quick")
def test_the_earliest_picture_whose_jobs_are_known_replaces_an_older_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tui.live.watch.LEAST_PAST", 300.0)
    pictures = [picture(60.0 * at, waits(str(at), 2)) for at in range(1, 12)]
    with closing(Scratch()) as aside:
        live = Live(Scripted(*pictures[:-1], pictures[-1]), since=0.0, aside=aside)
        with heard(live, Wish(CAMERA, picture=0)) as until:
            scene = until(lambda scene: scene.pictures >= len(pictures))
            first = pictures[scene.picture]
            assert first.at >= pictures[-1].at - 300.0
            assert [scene.job(scene.rank(job)) for job in scene.cluster.queue] == list(first.queue)
            assert scene.job(0) is None
            assert scene.rank(pictures[0].jobs[0]) == -1


async def test_trouble_that_comes_while_a_scene_is_made_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """A scene that is being made does not show what changes meanwhile, so another one must follow."""
    watch = Replayed(Recorded([picture(60)]), "x.slog")
    watch.looks_ahead = False
    with heard(watch, Wish(CAMERA)) as until:
        until(lambda scene: scene.state.reading is None)
        being_made = late(watch, "_forecasts", monkeypatch, lambda picture: True)
        watch.wish(Wish(CAMERA, "user"))
        await being_made.come()
        watch._push([], trouble="gone")
        await being_made.go()
        until(lambda scene: scene.state.trouble == "gone")
