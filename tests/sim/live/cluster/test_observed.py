"""History of runs that were observed on a cluster, not simulated."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from sim.live.cluster import observed as module
from sim.live.cluster.observed import Layout, Observed
from sim.live.cluster.values import Cluster, ClusterJob, Cores, Node
from sim.workload.model import Workload
from tests.sim.live.cluster.captures import VERSIONS, series

NODES = (Node("n1", 4), Node("n2", 4))
DAY = 1795392000.0  # a midnight in UTC


def picture(at: float, *jobs: ClusterJob, nodes: tuple[Node, ...] = NODES) -> Cluster:
    return Cluster(at=DAY + at, nodes=nodes, jobs=jobs)


def running(id: str, cpus: int, *nodes: str, start: float = 0, cores: tuple[Cores, ...] = ()) -> ClusterJob:
    return ClusterJob(id, id, "RUNNING", cpus=cpus, nodes=nodes, start=DAY + start, submit=DAY, cores=cores)


def test_the_first_node_is_at_the_top() -> None:
    layout = Layout.of([Node("n1", 4), Node("gpu1", 2)])
    assert [tuple(row) for row in layout.rows] == [("n1", 2, 6), ("gpu1", 0, 2)]
    assert layout.processors(["n1", "elsewhere"]) == 0b111100


def test_known_cores_are_the_rows_of_the_chart() -> None:
    observed = Observed()
    observed.add(picture(60, running("1", 2, "n1", cores=(Cores("n1", 0b0011),))))
    (stretch,) = observed.stretches(60)
    assert (stretch.start, stretch.end, stretch.processors) == (0, None, 0b1100_0000)


def test_unknown_cores_are_free_ones_and_stay() -> None:
    observed = Observed()
    first, second = running("1", 2, "n1"), running("2", 3, "n1", "n2")
    observed.add(picture(60, first))
    observed.add(picture(120, first, second))
    observed.add(picture(180, second))
    held = {stretch.rank: stretch.processors for stretch in observed.stretches(180)}
    assert held == {0: 0b1100_0000, 1: 0b0011_1000}
    assert observed.doubled == 0


def test_cores_known_late_are_those_from_the_start_even_of_a_full_node() -> None:
    observed = Observed()
    observed.add(picture(60, running("1", 3, "n1"), running("2", 2, "n1")))
    observed.add(picture(120, running("1", 3, "n1", cores=(Cores("n1", 0b1110),)), running("2", 2, "n1")))
    assert [(each.rank, each.start) for each in observed.stretches(120)] == [(0, 0), (1, 0)]
    assert observed.doubled > 0


def test_a_job_that_ended_is_solid_until_its_end() -> None:
    observed = Observed()
    job = running("1", 4, "n1", start=10)
    observed.add(picture(60, job))
    observed.add(picture(120, replace(job, state="TIMEOUT", end=DAY + 100)))
    (stretch,) = observed.stretches(120)
    assert (stretch.end, stretch.is_cut) == (100, True)
    (then,) = observed.stretches(60)
    assert (then.end, then.is_cut) == (None, False)


def test_run_of_a_requeued_job_is_interrupted() -> None:
    observed = Observed()
    job = running("1", 4, "n1", start=10)
    observed.add(picture(60, job))
    observed.add(picture(120, replace(job, state="PENDING", nodes=(), restarts=1)))
    assert [stretch.ended_by for stretch in observed.stretches(120)] == ["interrupted"]


def test_a_suspended_job_leaves_its_cores_to_others() -> None:
    observed = Observed()
    job = running("1", 4, "n1")
    observed.add(picture(60, job))
    observed.add(picture(120, replace(job, state="SUSPENDED"), running("2", 4, "n1", start=100)))
    kinds = {(stretch.rank, stretch.kind, stretch.end) for stretch in observed.stretches(120)}
    assert kinds == {(0, "run", 120), (0, "suspended", None), (1, "run", None)}
    assert observed.doubled == 0


def test_two_jobs_on_a_core_are_counted_where_the_scheduler_did_that() -> None:
    observed = Observed()
    both = (running(id, 1, "n1", cores=(Cores("n1", 1),)) for id in "12")
    observed.add(picture(60, *both))
    assert observed.doubled == 1


def test_what_nodes_hold_moves_with_them() -> None:
    observed = Observed()
    job = running("1", 4, "n2")
    observed.add(picture(60, job))
    observed.add(picture(120, job, nodes=(*NODES, Node("n3", 4))))
    assert {stretch.processors for stretch in observed.stretches(120)} == {0b1111_0000}


def test_jobs_of_the_accounting_fill_the_past() -> None:
    observed = Observed()
    observed.add(picture(600, running("9", 4, "n1", start=500)))
    ended = [replace(running(id, 2, "n1", start=at), state="COMPLETED", end=DAY + at + 200) for id, at in
             (("1", 0), ("2", 100), ("3", 250))]  # fmt: skip
    observed.add_past(ended)
    held = {observed.workload.ids[s.rank]: s.processors for s in observed.stretches(600)}
    assert held["1"] == held["3"] == 0b1100_0000
    assert held["2"] == 0b0011_0000


def test_a_date_is_kept_where_it_changes() -> None:
    observed = Observed()
    job = ClusterJob("1", "1", "PENDING", reason="Priority", submit=DAY, start=DAY + 500)
    for at, start in ((60, 500), (120, 500.5), (180, 900)):
        observed.add(picture(at, replace(job, start=DAY + start)))
    assert [tuple(dated) for dated in observed.dates(0, 200)] == [(60, 500), (180, 900)]
    assert len(observed.dates(0, 100)) == 1


def test_equal_jobs_are_one_object_in_all_pictures() -> None:
    observed = Observed()
    observed.add(picture(60, running("1", 2, "n1")))
    observed.add(picture(120, running("1", 2, "n1")))
    before, after = observed.at(0), observed.at(1)
    assert before is not None
    assert after is not None
    assert before.jobs[0] is after.jobs[0]
    assert before.nodes is after.nodes


def test_a_picture_is_found_while_a_thread_adds_another(monkeypatch: pytest.MonkeyPatch) -> None:
    """The thread may add a picture, and drop the oldest one, between any two lines of the search."""
    monkeypatch.setattr("sim.live.cluster.observed.MOST_KEPT", 0)
    observed = Observed()
    for at in range(3):
        observed.add(picture(60.0 * at, running("1", 2, "n1")))

    def add(frame: FrameType, event: str, _: object) -> Any:
        if frame.f_code is not Observed.at.__code__:
            return None
        if event == "line":
            observed.add(picture(60.0 * len(observed.moments), running("1", 2, "n1")))
        return add

    newest, before = observed.last, sys.gettrace()
    sys.settrace(add)
    try:
        found = observed.at(2)
    finally:
        sys.settrace(before)
    assert len(observed.moments) > 3
    assert found in (newest, None)


def test_jobs_that_come_while_the_workload_is_made_are_in_the_next_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def made_slowly(jobs: Sequence[ClusterJob], *given: Any) -> Workload:
        if len(observed.moments) == 1:  # what the other thread does meanwhile
            observed.add(picture(120, running("1", 2, "n1"), running("2", 2, "n2")))
        return make(jobs, *given)

    observed, make = Observed(), module._workload_of
    observed.add(picture(60, running("1", 2, "n1")))
    monkeypatch.setattr(module, "_workload_of", made_slowly)
    assert [observed.workload.ids for _ in range(2)] == [("1",), ("1", "2")]
    assert observed.workload is observed.workload


@pytest.mark.parametrize("version", VERSIONS)
def test_no_moment_gives_a_core_to_two_jobs(shared: Path, version: str) -> None:
    observed = Observed()
    for cluster in series(shared, version):
        observed.add(cluster)
        assert observed.doubled == 0
    for moment in observed.moments:
        busy = 0
        for stretch in observed.stretches(moment):
            if stretch.kind == "run" and stretch.start <= moment and stretch.end is None:
                assert not busy & stretch.processors
                assert stretch.processors < 1 << 32
                busy |= stretch.processors


@pytest.mark.parametrize("version", VERSIONS)
def test_running_jobs_hold_as_many_cores_as_they_have(shared: Path, version: str) -> None:
    observed = Observed()
    for cluster in series(shared, version):
        observed.add(cluster)
        open_now = {s.rank: s.processors for s in observed.stretches(observed.moments[-1]) if s.end is None}
        for job in cluster.running:
            assert open_now[observed.ranks[job.id]].bit_count() == job.cpus


def test_the_workload_has_what_panels_ask_for() -> None:
    observed = Observed()
    observed.add(picture(60, replace(running("6_4", 2, "n1"), user="ann", account="physics", partition="batch")))
    workload = observed.workload
    assert (workload.ids, workload.procs, workload.accounts) == (("6_4",), 8, ("physics",))
    assert workload.jobs[0].procs == 2


def test_a_job_is_forgotten_when_its_end_is_longer_ago_than_the_past() -> None:
    observed = Observed(past=300)
    long, short = running("long", 2, "n1"), running("short", 2, "n2", start=10)
    observed.add(picture(60, long, short))
    for minute in range(2, 6):
        observed.add(picture(60 * minute, long))
    assert {stretch.rank for stretch in observed.stretches(300)} == {0, 1}
    assert observed.first_known == 0
    for minute in range(6, 10):
        observed.add(picture(60 * minute, long))
    assert observed.ranks == {"long": 0}
    assert [(stretch.rank, stretch.start) for stretch in observed.stretches(540)] == [(0, 0)]
    assert observed.moments[observed.first_known] == 240
    assert observed.workload.ids == ("long", "")
    observed.add(picture(600, long, running("new", 2, "n2")))
    assert observed.ranks == {"long": 0, "new": 2}


def test_a_limited_past_has_a_largest_number_of_jobs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sim.live.cluster.observed.MOST_PAST", 3)
    observed = Observed(past=1e6)
    for minute in range(1, 9):
        observed.add(picture(60 * minute, running(str(minute), 2, "n1", start=60 * minute - 10)))
    assert len(observed.ranks) <= 4
    assert "8" in observed.ranks


def test_without_a_limit_no_job_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sim.live.cluster.observed.MOST_PAST", 3)
    observed = Observed()
    for minute in range(1, 9):
        observed.add(picture(60 * minute, running(str(minute), 2, "n1", start=60 * minute - 10)))
    assert len(observed.ranks) == 8
    assert observed.first_known == 0
