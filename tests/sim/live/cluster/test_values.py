"""The state of a cluster at one time, as a value."""

from __future__ import annotations

import pytest

from sim.live.cluster.values import Cluster, ClusterJob


def test_the_queue_is_by_priority_then_submission_then_number() -> None:
    jobs = [("9", 5, 2.0), ("10", 5, 2.0), ("3", 5, 9.0), ("4", 70, 9.0)]
    cluster = Cluster(at=0, jobs=tuple(ClusterJob(id, id, "PENDING", priority=p, submit=at) for id, p, at in jobs))
    assert [job.id for job in cluster.queue] == ["4", "9", "10", "3"]


def test_a_job_is_waiting_running_suspended_or_ended() -> None:
    states = {state: ClusterJob("1", "1", state) for state in ("PENDING", "COMPLETING", "SUSPENDED", "NODE_FAIL")}
    assert [job.is_waiting for job in states.values()] == [True, False, False, False]
    assert [job.is_running for job in states.values()] == [False, True, False, False]
    assert [job.has_ended for job in states.values()] == [False, False, False, True]


def test_only_dates_of_jobs_that_wait_for_room_are_a_plan() -> None:
    planned = [ClusterJob("1", "1", "PENDING", reason=why, start=9.0) for why in ("Priority", "Resources", "BeginTime")]
    assert [job.is_planned for job in planned] == [True, True, False]
    assert not ClusterJob("1", "1", "PENDING", reason="Priority").is_planned


def test_a_job_is_found_by_what_a_person_types() -> None:
    cluster = Cluster(at=0, jobs=(ClusterJob("6_4", "11", "RUNNING"), ClusterJob("7", "7", "PENDING")))
    assert [found.id for word in ("6_4", "11", "J7", " 7 ") if (found := cluster.find(word))] == [
        "6_4",
        "6_4",
        "7",
        "7",
    ]
    assert cluster.find("8") is None


@pytest.mark.parametrize(
    ("word", "found"),
    [("7", "7_3"), ("J7_[3-9%2]", "7_3"), ("7_2", "7_2"), ("8_[1-4]", "8_1"), ("7_9", None), ("_[", None)],
)
def test_an_array_is_found_as_squeue_writes_it(word: str, found: str | None) -> None:
    tasks = [("7_2", "RUNNING"), ("7_3", "PENDING"), ("7_4", "PENDING"), ("8_1", "RUNNING")]
    jobs = tuple(ClusterJob(id, f"{at}", state, array=id[:1]) for at, (id, state) in enumerate(tasks, 90))
    job = Cluster(0.0, jobs=jobs).find(word)
    assert (job and job.id) == found
