"""Constraints of jobs: the nodes that they leave, and their words; licenses with their holders."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from sim.live.cluster.constraints import allowed, gone
from sim.live.cluster.dates import date
from sim.live.cluster.reasons import paragraph, say
from sim.live.cluster.values import Cluster, ClusterJob, Limit, Node, Partition

NOW = 1_795_469_000.0
NODES = (
    Node("n1", 4, features=("fast", "avx")), Node("n2", 4, features=("fast",)),
    Node("n3", 4, features=("slow",), states=frozenset({"DOWN"})),
)  # fmt: skip
JOB = ClusterJob("1", "1", "PENDING", reason="Resources", partition="batch", cpus=9, limit=60.0)
HOLDS = replace(JOB, id="2", number="2", state="RUNNING", cpus=1, nodes=("n1",), end=NOW + 60, licenses="matlab:2")


def cluster(*jobs: ClusterJob, limits: tuple[Limit, ...] = ()) -> Cluster:
    return Cluster(NOW, nodes=NODES, partitions=(Partition("batch", ("n1", "n2", "n3")),), jobs=jobs, limits=limits)


@pytest.mark.parametrize(
    ("asked", "expected", "words"),
    [
        ({}, "n1 n2 n3", "> 7 free on 2 usable nodes of batch"),
        ({"features": "fast&avx"}, "n1", "> 3 free on 1 usable node of batch with features fast&avx"),
        ({"features": "avx|slow"}, "n1 n3", "> 3 free on 1 usable node of batch with features avx|slow"),
        ({"required": ("n2",)}, "n2", "> 4 free on 1 usable node of batch with nodes n2"),
        ({"excluded": ("n1", "n3")}, "n2", "> 4 free on 1 usable node of batch without n1 and n3"),
        ({"required": ("n2",), "nodes_wanted": 2}, "n1 n2 n3", "> 7 free on 2 usable nodes of batch with nodes n2"),
    ],
)
def test_a_job_waits_for_nodes_that_it_may_use(asked: dict[str, Any], expected: str, words: str) -> None:
    job = replace(JOB, **asked)
    seen = cluster(HOLDS, job)
    assert " ".join(node.name for node in allowed(seen, job)) == expected
    assert words in say(seen, job)


def test_nodes_that_a_job_must_get_and_that_are_down_are_found() -> None:
    assert [node.name for node in gone(cluster(), replace(JOB, required=("n1", "n3")))] == ["n3"]


@pytest.mark.parametrize(
    ("asked", "used", "expected"),
    [
        (
            "matlab:2",
            2,
            f"needs 2 of license matlab > 1 free of 3; J2 holds 2 of it until {date(NOW + 60, NOW)} at most",
        ),
        (
            "matlab:2",
            0,
            f"needs 2 of license matlab > 1 free of 3; J2 holds 2 of it until {date(NOW + 60, NOW)} at most",
        ),
        (
            "ansys:1,matlab",
            2,
            "at Slurm's last pass too few licenses were free; by now there are enough (ansys:1,matlab)",
        ),
        ("other", 2, "too few of the licenses that it asks for are free (other)"),
    ],
)
def test_a_license_is_named_with_its_number_and_holder(asked: str, used: float, expected: str) -> None:
    job = replace(JOB, reason="Licenses", licenses=asked)
    limits = (Limit("license", "matlab", "license", 3, used), Limit("license", "ansys", "license", 1, 0))
    assert say(cluster(HOLDS, job, limits=limits), job) == f"waits: {expected}"


@pytest.mark.parametrize("reason", ["Priority", "Resources", "ReqNodeNotAvail, UnavailableNodes:n3"])
def test_a_lacking_license_is_named_for_any_wait_for_nodes(reason: str) -> None:
    job = replace(JOB, reason=reason, licenses="matlab:2", cpus=1, most_nodes=0)
    told = say(cluster(HOLDS, job, limits=(Limit("license", "matlab", "license", 3, 2),)), job)
    holder = f"J2 holds 2 of it until {date(NOW + 60, NOW)} at most"
    assert told.endswith(f"; it also needs 2 of license matlab > 1 free of 3; {holder}")
    assert "may start" not in told


def test_one_of_several_licenses_is_not_taken_for_all_of_them() -> None:
    job = replace(JOB, reason="Licenses", licenses="matlab:2|ansys:1")
    told = say(cluster(HOLDS, job, limits=(Limit("license", "matlab", "license", 3, 2),)), job)
    assert told == "waits: too few of the licenses that it asks for are free (matlab:2|ansys:1)"


def test_a_paragraph_names_all_constraints() -> None:
    job = replace(JOB, features="fast", required=("n1",), excluded=("n2",), licenses="matlab:1", deadline=NOW + 90)
    told = "in batch with features fast with nodes n1 without n2, licenses matlab:1, to end by "
    assert told + date(NOW + 90, NOW) in paragraph(cluster(job), job)[1]
