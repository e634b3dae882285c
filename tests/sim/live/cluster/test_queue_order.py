"""Jobs ahead of a waiting job, in Slurm's order of tiers and priorities."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sim.live.cluster.queue_order import ahead, behind
from sim.live.cluster.values import Cluster, ClusterJob, Node, Partition

VIP, BATCH = Partition("vip", ("n1",), tier=10), Partition("batch", ("n1", "n2"), tier=1)
SCAVENGE, FAR = Partition("scavenge", ("n1", "n2"), tier=0), Partition("far", ("n3",), tier=20)
JOB = ClusterJob("1", "1", "PENDING", reason="Priority", partition="scavenge", priority=90, submit=5.0)


def cluster(*others: ClusterJob) -> Cluster:
    nodes = tuple(Node(f"n{number}", 4) for number in (1, 2, 3))
    return Cluster(9.0, nodes=nodes, partitions=(BATCH, VIP, SCAVENGE, FAR), jobs=(JOB, *others))


def other(id: str, **more: Any) -> ClusterJob:
    return replace(JOB, id=id, number=id, **more)


def test_jobs_of_higher_tiers_that_share_nodes_are_ahead() -> None:
    seen = cluster(
        other("2", partition="batch", priority=5), other("3", partition="vip", priority=1), other("4", partition="far")
    )
    assert [each.id for each in ahead(seen, JOB)] == ["3", "2"]
    assert behind(seen, JOB) == "behind 2 jobs for nodes of scavenge: J3 is in vip, of tier 10 > 0"
    assert ahead(seen, seen.job_of["3"]) == []


def test_a_job_counts_with_the_highest_tier_of_its_partitions() -> None:
    both = other("2", partition="scavenge,batch", priority=1)
    assert [each.id for each in ahead(cluster(both), JOB)] == ["2"]
    assert ahead(cluster(both), both) == []
    assert ahead(cluster(other("3", partition="scavenge,far", priority=1)), JOB) == []


def test_other_parts_of_a_job_are_not_ahead() -> None:
    first, second = other("20+0", priority=99), other("20+1", priority=95)
    assert [each.id for each in ahead(cluster(first, second), second)] == []
    assert [each.id for each in ahead(cluster(first, second), JOB)] == ["20+0", "20+1"]


def test_jobs_whose_nodes_slurm_keeps_for_others_are_counted() -> None:
    kept = "Nodes required for job are DOWN, DRAINED or reserved for jobs in higher priority partitions"
    seen = cluster(other("2", reason=kept, priority=99), other("3", reason="JobHeldUser", priority=99))
    assert [each.id for each in ahead(seen, JOB)] == ["2"]


def test_equal_priorities_are_told_by_submission_or_number() -> None:
    assert behind(cluster(other("0", submit=4.0)), JOB).endswith(": J0 has the same priority and was submitted earlier")
    assert behind(cluster(other("0")), JOB).endswith(": J0 has the same priority and a lower number")
