"""Room on nodes for a waiting job: what too few nodes have, and which are kept for jobs ahead."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest

from sim.live.cluster.dates import date
from sim.live.cluster.reasons import paragraph, say
from sim.live.cluster.room import Amounts, _least, free_on, kept, share_of, shortage
from sim.live.cluster.values import Cluster, ClusterJob, Node, Partition

LOT = random.Random(2)
NOW = 1_795_469_000.0
NODES = tuple(Node(f"n{at}", 4, 1000, gpus=2 * (at > 2), partitions=("batch",)) for at in range(1, 5))
BATCH = Partition("batch", tuple(node.name for node in NODES))
JOB = ClusterJob(
    "9", "9", "PENDING", reason="Resources", partition="batch", cpus=2, limit=3600.0, submit=NOW, priority=5
)
AHEAD = replace(JOB, id="8", number="8", priority=9, start=NOW + 600, planned_nodes=("n1", "n2", "n3"))


def running(*cores: int) -> tuple[ClusterJob, ...]:
    """Return running jobs with that many cores on n1, n2 and so on."""
    run = replace(JOB, state="RUNNING", start=NOW - 60, end=NOW + 900)
    return tuple(
        replace(run, id=f"r{at}", number=f"r{at}", cpus=many, nodes=(f"n{at}",))
        for at, many in enumerate(cores, 1)
        if many
    )


def cluster(*jobs: ClusterJob, nodes: tuple[Node, ...] = NODES) -> Cluster:
    return Cluster(NOW, nodes=nodes, partitions=(BATCH,), jobs=jobs)


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"gpus": 2}, "8 cores are free on 4 nodes, none with 2 GPUs"),
        ({"cpus": 3}, "8 cores are free on 4 nodes, none with 3 free cores"),
        ({"memory": 900}, "8 cores are free on 4 nodes, none with 900 MB of memory"),
        ({"memory": 600, "nodes_wanted": 3}, "8 cores are free on 4 nodes, 2 of 3 needed with 600 MB of memory"),
        ({}, ""),
    ],
)
def test_resource_that_too_few_nodes_have_is_named(asked: dict[str, int], words: str) -> None:
    memory = (900, 900, 300, 300)
    nodes = tuple(
        replace(node, memory_taken=taken, gpus_taken=node.gpus // 2) for node, taken in zip(NODES, memory, strict=True)
    )
    job = replace(JOB, **asked)  # type: ignore[arg-type]
    assert shortage(cluster(*running(2, 2, 2, 2), job, nodes=nodes), job, nodes) == words


def test_fitting_nodes_kept_for_a_job_ahead_are_counted() -> None:
    seen = cluster(AHEAD, JOB)
    wide = replace(JOB, nodes_wanted=2)
    at = date(NOW + 600, NOW)
    assert kept(seen, wide, NODES, [AHEAD]) == f"3 of 4 fitting nodes are kept for J8 from {at}"
    assert kept(seen, JOB, NODES, [AHEAD]) == "", "n4 stays free"
    assert kept(seen, replace(wide, limit=600.0), NODES, [AHEAD]) == "", "it ends before J8 starts"
    one = cluster(*running(4, 4, 2, 4), AHEAD, JOB)
    assert kept(one, JOB, NODES, [AHEAD]) == f"the only fitting node is kept for J8 from {at}"
    other = replace(AHEAD, id="7", planned_nodes=("n4", "n3"))
    assert kept(seen, JOB, NODES, [AHEAD, other]) == f"all 4 fitting nodes are kept for J8 from {at} and 1 other job"
    assert kept(seen, wide, NODES, [replace(AHEAD, reason="BeginTime")]) == "", "that is no plan"


def test_kept_nodes_stand_in_the_reason_and_in_the_paragraph() -> None:
    wide = replace(JOB, nodes_wanted=2)
    told = f"3 of 4 fitting nodes are kept for J8 from {date(NOW + 600, NOW)}"
    assert told in say(cluster(AHEAD, wide), wide)
    behind = replace(wide, reason="Priority")
    assert f"{told}." in paragraph(cluster(AHEAD, behind), behind)
    gpus = replace(behind, gpus=3, nodes_wanted=1)
    assert "16 cores are free on 4 nodes, none with 3 GPUs." in paragraph(cluster(AHEAD, gpus), gpus)


def test_nodes_without_a_free_core_are_told_so() -> None:
    assert shortage(cluster(*running(4, 4, 4, 4), JOB), JOB, NODES) == "no core is free on its nodes"


def test_unknown_memory_of_a_node_holds_every_share() -> None:
    node = replace(NODES[0], memory=0)
    assert free_on(cluster(nodes=(node,)), node).holds(share_of(replace(JOB, memory=10**9)))


@pytest.mark.parametrize("most", [2, 5, 30])
def test_a_share_counts_if_no_other_is_as_small_in_everything(most: int) -> None:
    shares = {Amounts(*(LOT.randrange(most) for _ in range(3))) for _ in range(200)}
    smallest = {one for one in shares if not any(other != one and one.holds(other) for other in shares)}
    found = _least(shares)
    assert (set(found), len(found)) == (smallest, len(smallest))


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({}, ""),
        ({"memory": 200, "tres": "cpu=6,mem=1200M,node=1"}, "8 cores are free on 4 nodes, 3 of them with the memory"),
        ({"memory": 950, "tres": "cpu=6,mem=950M,node=1"}, "8 cores are free on 4 nodes, none of them with the memory"),
        ({"most_nodes": 1}, "8 cores are free on 4 nodes, none with 6 free cores"),
        ({"gpus": 2, "cpus": 2}, "8 cores are free on 4 nodes, none with 2 GPUs"),
    ],
)
def test_a_job_that_may_spread_needs_no_node_with_all_its_cores(asked: dict[str, Any], words: str) -> None:
    """`sbatch -n 6` gets cores on as many nodes as it takes, unless it says how many."""
    memory = (900, 900, 800, 600)
    nodes = tuple(replace(node, memory_taken=taken, gpus_taken=1) for node, taken in zip(NODES, memory, strict=True))
    nodes = tuple(replace(node, gpus=2) for node in nodes)
    job = replace(JOB, **{"cpus": 6, "most_nodes": 0, **asked})
    found = shortage(cluster(*running(2, 2, 2, 2), job, nodes=nodes), job, nodes)
    assert found.startswith(words)
    assert bool(found) == bool(words)


def test_cores_kept_for_a_job_of_a_higher_tier_are_counted() -> None:
    """Slurm plans the jobs of partitions of higher tiers first, whatever their priorities."""
    job = replace(JOB, cpus=4, most_nodes=0)
    urgent = replace(AHEAD, partition="urgent", priority=1, planned_nodes=("n3", "n4"))
    seen = cluster(*running(3, 3, 2, 2), job, urgent)
    at = date(NOW + 600, NOW)
    for tier, is_ahead in ((2, True), (1, False)):
        parts = (BATCH, replace(BATCH, name="urgent", tier=tier))
        text = say(replace(seen, partitions=parts), job)
        assert (f"4 of 6 free cores that it could use are kept for J8 from {at}" in text) == is_ahead
        next_pass = "6 cores are free on 4 usable nodes of batch, so Slurm may start it at its next pass"
        assert (next_pass in text) == (not is_ahead)
    one = replace(job, cpus=1)
    full = cluster(*running(4, 4, 3, 4), one, replace(urgent, partition="batch", priority=9))
    assert f"the only free core that it could use is kept for J8 from {at}" in say(full, one)
