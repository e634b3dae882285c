"""The state of a cluster at one time, as a value."""

from __future__ import annotations

from sim.cluster.values import Cluster, ClusterJob


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
