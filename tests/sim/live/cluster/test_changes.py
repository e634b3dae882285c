"""Events found by comparing two polled states of a cluster."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from sim.live.cluster.changes import changes
from sim.live.cluster.values import Cluster, ClusterJob, Node
from tests.sim.live.cluster.captures import VERSIONS, series

WAITS = ClusterJob("1", "1", "PENDING", submit=5.0, start=100.0)
RUNS = replace(WAITS, state="RUNNING", start=20.0, nodes=("n1",))
ENDED = replace(RUNS, state="FAILED", end=40.0)


def pictures(*jobs: ClusterJob | None) -> list[Cluster]:
    return [Cluster(at=10.0 * at, jobs=() if job is None else (job,)) for at, job in enumerate(jobs)]


def test_a_job_arrives_starts_and_ends() -> None:
    none, waits, runs, ended, gone = pictures(None, WAITS, RUNS, ENDED, None)
    assert changes(None, waits) == ()
    assert [(e.kind, e.at) for e in changes(none, waits)] == [("arrival", 5.0)]
    assert [(e.kind, e.at) for e in changes(waits, runs)] == [("start", 20.0)]
    assert [(e.kind, e.after) for e in changes(runs, ended)] == [("completion", "FAILED")]
    assert changes(ended, gone) == ()
    assert [(e.kind, e.after) for e in changes(runs, gone)] == [("completion", "gone")]


def test_a_job_that_is_requeued_is_no_completion() -> None:
    runs, again = pictures(RUNS, replace(WAITS, submit=7.0, restarts=1))
    assert [(e.kind, e.at, e.before, e.after) for e in changes(runs, again)] == [("requeue", 7.0, "RUNNING", "PENDING")]


def test_a_job_that_came_and_went_between_two_pictures_has_all_its_events() -> None:
    none, ended = pictures(None, ENDED)
    assert [e.kind for e in changes(none, ended)] == ["arrival", "start", "completion"]


def test_a_date_that_moves_is_told_in_seconds() -> None:
    before, after = pictures(WAITS, replace(WAITS, start=160.0))
    (event,) = changes(before, after)
    assert (event.kind, event.by) == ("moved", 60.0)
    assert changes(before, pictures(None, replace(WAITS, start=100.5))[1]) == ()


def test_a_node_that_is_drained_is_told_with_its_reason() -> None:
    before = Cluster(at=0, nodes=(Node("n1", 4, states=frozenset({"IDLE"})),))
    after = Cluster(at=9, nodes=(Node("n1", 4, states=frozenset({"IDLE", "DRAIN"}), reason="disk"),))
    (event,) = changes(before, after)
    assert (event.kind, event.subject, event.after) == ("node", "n1", "DRAIN+IDLE disk")


@pytest.mark.parametrize("version", VERSIONS)
def test_the_events_of_a_recorded_run_lie_between_their_pictures(shared: Path, version: str) -> None:
    before, kinds = None, set[str]()
    for cluster in series(shared, version):
        for event in changes(before, cluster):
            assert before is not None
            assert before.at <= event.at <= cluster.at
            kinds.add(event.kind)
        before = cluster
    assert kinds >= {"arrival", "start", "completion", "moved", "node", "reservation"}
