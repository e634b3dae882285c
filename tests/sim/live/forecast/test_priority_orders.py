"""Forecasts in which users change places by Slurm's Fair Tree, from the tree of accounts that a recording has."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from sim.live.cluster.values import Cluster, ClusterJob, Share
from sim.live.forecast.forecast import LEARNT, LIMITS, Model, forecast
from sim.live.forecast.past import PastJobs
from sim.live.forecast.priority_orders import entry_of, tree_order
from sim.workload.shape import ShareEntry
from tests.sim.live.forecast.test_forecast import BATCH, NODES_, NOW, WAITS

SETTINGS = "PriorityWeightFairShare=1000\nPriorityCalcPeriod=00:01:00\nPriorityDecayHalfLife=7-0"
TREE = (
    Share("1", "root"),
    Share("2", "physics", "", "root", 1, 5000.0),
    Share("3", "physics", "anna", "physics", 1, 1000.0),
    Share("4", "physics", "bert", "physics", 1, 4000.0),
)


def waiting(number: int, user: str, points: float, first: int) -> ClusterJob:
    """Return a job that needs both nodes; its user has these points of its priority, and its age the others."""
    wide = replace(WAITS, cpus=8, limit=300.0, tres="cpu=8,node=2", account="physics", user=user)
    return replace(wide, id=str(number), number=str(number), priority=int(points) + 50 + first - number)


def told(**more: Any) -> Cluster:
    """Return a picture in which anna's jobs have more points than bert's; each job takes 2,400 core seconds."""
    jobs = (*(waiting(n, "anna", 1000.0, 3) for n in (1, 2, 3)), *(waiting(n, "bert", 500.0, 6) for n in (4, 5, 6)))
    parts = {job.number: {"age": 50.0, "fairshare": 1000.0 if job.user == "anna" else 500.0} for job in jobs}
    known: dict[str, Any] = {"parts": parts, "shares": TREE, "settings": SETTINGS, **more}
    return Cluster(NOW, nodes=NODES_, partitions=(BATCH,), jobs=jobs, **known)


def starts(cluster: Cluster, model: Model = LEARNT) -> str:
    found = forecast(cluster, model, PastJobs())
    return "".join(sorted(found, key=lambda job: found[job]))


def test_a_user_falls_behind_when_the_usage_of_the_tree_says_so() -> None:
    """Anna has used 1,000, bert 4,000. After two of her jobs, of 2,400 each, he comes first."""
    assert starts(told()) == "124356"
    less = (*TREE[:3], replace(TREE[3], usage=1500.0))
    assert starts(told(shares=less)) == "142536"
    assert starts(told(shares=less), LIMITS) == "123456", "with time limits it is one plan, by priority"


@pytest.mark.parametrize(
    "more",
    [{"shares": ()}, {"settings": ""}, {"settings": SETTINGS + "\nPriorityFlags=NO_FAIR_TREE"}, {"settings": "x=1"}],
)
def test_without_a_tree_or_its_weight_the_order_lasts(more: dict[str, Any]) -> None:
    cluster = told(**more)
    assert tree_order(cluster, cluster.queue) is None
    assert starts(cluster) == "123456"


def test_a_job_without_known_parts_of_its_priority_has_the_points_of_its_users_rank() -> None:
    cluster = told(parts={})
    order = tree_order(cluster, cluster.queue)
    assert order is not None
    points = {"anna": 1000.0, "bert": 500.0}
    assert order.own == [job.priority - points[job.user] for job in cluster.queue]
    assert [entry_of(share) for share in TREE[1:3]] == [
        ShareEntry("physics", "", "root", 1, 5000.0), ShareEntry("physics", "anna", "", 1, 1000.0)
    ]  # fmt: skip
