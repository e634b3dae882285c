"""One job read from a recording without the others is the same as in the whole pictures."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sim.live.cluster.one_job import Expectation, expectations, pictures_of
from sim.live.cluster.recording import FRAME, PollRecorder, Recording
from sim.live.cluster.values import Cluster, ClusterJob
from sim.support.errors import FileError
from tests.sim.live.cluster.test_recording import clusters

WAITING = ClusterJob("7", "7", "PENDING", reason="Priority", start=900.0, priority=9)


def written(path: Path, pictures: list[Cluster]) -> Recording:
    path.unlink(missing_ok=True)
    with closing(PollRecorder(path)) as recorder:
        for picture in pictures:
            recorder.add(picture)
    return Recording(path)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(clusters(), min_size=1, max_size=6), st.sampled_from("123"), st.integers(0, 4))
def test_a_job_alone_is_as_in_the_pictures(tmp_path: Path, found: list[Cluster], job: str, since: int) -> None:
    made = [replace(cluster, at=60.0 * poll) for poll, cluster in enumerate(found)]
    recording = written(tmp_path / "x.slog", made)
    own = [
        Cluster(each.at, jobs=(each.job_of[job],), is_private=each.is_private)
        for each in recording.pictures()
        if job in each.job_of and each.at >= 60.0 * since
    ]
    assert list(pictures_of(recording, job, 60.0 * since, 1e9)) == own


def test_more_polls_than_one_question_reads(tmp_path: Path) -> None:
    others = tuple(replace(WAITING, id=f"{at}") for at in range(20, 25))
    polls = [
        Cluster(10.0 * at, jobs=(*others[at % 3 :], replace(WAITING, start=900.0 + 5 * at, priority=at)))
        for at in range(3 * FRAME)
    ]
    recording = written(tmp_path / "x.slog", polls)
    found = list(pictures_of(recording, "7", 10.0 * FRAME, 20.0 * FRAME))
    assert [each.at for each in found] == [10.0 * at for at in range(FRAME, 2 * FRAME + 1)]
    assert (found[-1].jobs[0].start, found[-1].jobs[0].priority) == (900.0 + 5 * 2 * FRAME, 2 * FRAME)
    assert next(pictures_of(recording, "7", 10.0, 1e9)).jobs[0].priority == 1, "0 is not stored"
    assert not list(pictures_of(recording, "8", 0.0, 1e9))


@pytest.mark.parametrize("data", [b"no zip", None, "x"])
def test_a_damaged_poll_is_one_line(tmp_path: Path, data: object) -> None:
    recording = written(tmp_path / "x.slog", [Cluster(10.0 * at, jobs=(WAITING,)) for at in range(3)])
    with closing(sqlite3.connect(recording.path)) as db, db:
        db.execute("UPDATE polls SET data = ? WHERE at = 10", (data,))
    with pytest.raises(FileError, match=r"damaged at 10\.0"):
        list(pictures_of(recording, "7", 0.0, 1e9))


def pictures(*dates: float | None, reason: str = "Priority", started: float | None = None) -> Iterator[Cluster]:
    for poll, date in enumerate(dates):
        yield Cluster(60.0 * poll, jobs=(ClusterJob("7", "7", "PENDING", reason=reason, start=date),))
    if started is not None:
        yield Cluster(60.0 * len(dates), jobs=(ClusterJob("7", "7", "RUNNING", start=started),))


def test_only_changes_are_kept() -> None:
    found = expectations(pictures(None, 500, 500.4, 800, 700, started=650), "7")
    assert found.said == (Expectation(60, 500, True), Expectation(180, 800, True), Expectation(240, 700, True))
    assert found.moves == (300, -100)
    assert found.started == 650


def test_a_date_under_a_limit_is_no_plan() -> None:
    assert not expectations(pictures(500, reason="AssocGrpCpuLimit"), "7").said[0].is_plan


def test_another_job_has_nothing() -> None:
    assert expectations(pictures(500), "8") == expectations([], "7")
