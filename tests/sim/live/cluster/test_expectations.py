"""Changes of a waiting job's expected start."""

from __future__ import annotations

from collections.abc import Iterator

from sim.live.cluster.expectations import Expectation, expectations
from sim.live.cluster.values import Cluster, ClusterJob


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
