"""Jobs that will still arrive, on two nodes of 4 cores."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sim.live.cluster.values import Cluster, ClusterJob
from sim.live.forecast.expected import expected
from sim.live.forecast.forecast import ARRIVALS, LEARNT, LIMITS, Foresight
from sim.live.forecast.past import PastJobs
from tests.sim.live.forecast.test_forecast import BATCH, NODES_, NOW, RUNS, SHORT, WAITS

FULL = replace(RUNS, cpus=8, nodes=("n1", "n2"), end=NOW + 540, tres="cpu=8,node=2")
HALF = [replace(RUNS, id=f"e{at}", state="COMPLETED", submit=0, end=NOW - 60, priority=0) for at in range(5)]
"""Ended jobs that ran for 240 of 600 s: J1, which has run for 60 s, is expected to end in 180 s."""
CAME = replace(WAITS, id="7", number="7", state="RUNNING", priority=90, submit=NOW - 500, start=NOW - 490, cpus=5)


def seen(*came: ClusterJob, since: float = 1000.0) -> PastJobs:
    """Return the past of a cluster with three pictures, the first `since` seconds ago. `came` are in the second one."""
    past = PastJobs(HALF)
    for at, jobs in ((NOW - since, ()), (NOW - 480, came), (NOW - 60, ())):
        past.see(Cluster(at, nodes=NODES_, partitions=(BATCH, SHORT), jobs=jobs))
    return past


def ahead(past: PastJobs, *waiting: ClusterJob) -> Foresight:
    runs = replace(FULL, start=NOW - 60)
    return Foresight(Cluster(NOW, nodes=NODES_, partitions=(BATCH, SHORT), jobs=(runs, *waiting)), past)


def start(past: PastJobs, job: ClusterJob = WAITS) -> float:
    return ahead(past, job).starts(ARRIVALS)[job.id] - NOW


def test_later_arrivals_take_their_share_of_what_early_ends_leave() -> None:
    found = ahead(seen(CAME), WAITS)
    assert found.starts(LEARNT) == {"2": NOW + 180}
    assert found.starts(LIMITS) == {"2": NOW + 540}
    # 5 cores for 240 s of 8 cores for 1,000 s are 0.15 of what is left from 180 to 540 s
    assert found.starts(ARRIVALS) == {"2": pytest.approx(NOW + 180 + 0.15 * 360)}
    assert expected(found.cluster, found.past)["2"].middle == found.starts(ARRIVALS)["2"]
    assert found.spans(ARRIVALS, 0.8) == found.spans(LEARNT, 0.8) == {"2": (NOW + 160, NOW + 180)}
    many = seen(*(replace(CAME, id=f"7_{at}") for at in range(20)))
    assert start(many) == 540, "more than all of it"
    found._made[replace(LIMITS, name="")] = {"2": NOW}
    assert found.starts(replace(ARRIVALS, quantile=0.4)) == {"2": NOW + 180}, "no arrival makes a start earlier"


@pytest.mark.parametrize(
    "other",
    [{"priority": 50}, {"priority": 0}, {"submit": NOW - 1001}, {"partition": "other"}],
    ids=["not before it", "priority unknown", "before the first picture", "on other nodes"],
)
def test_jobs_that_do_not_overtake_leave_the_forecast_as_it_is(other: dict[str, object]) -> None:
    assert start(seen(replace(CAME, **other))) == 180  # type: ignore[arg-type]


def test_a_higher_tier_overtakes_and_its_nodes_count() -> None:
    tiers = (BATCH, replace(SHORT, tier=2))
    past = seen(replace(CAME, partition="short", priority=1))
    found = replace(ahead(past, WAITS, replace(WAITS, id="3", partition="short")).cluster, partitions=tiers)
    share = past.arrivals.overtaking(found, lambda job: 240.0)
    assert share == {"2": pytest.approx(0.15), "3": 0}
    up = replace(found, jobs=tuple(replace(job, priority=0) for job in found.jobs))
    assert past.arrivals.overtaking(up, lambda job: 240.0)["3"] == pytest.approx(0.3), "short has 4 of the 8 cores"


def test_arrivals_count_for_an_hour_and_for_no_less_than_five_minutes() -> None:
    past = PastJobs(HALF)
    cluster = ahead(past, WAITS).cluster
    past.see(replace(cluster, at=NOW - 60))
    past.see(replace(cluster, jobs=(*cluster.jobs, replace(CAME, submit=NOW - 30))))
    assert past.arrivals.overtaking(cluster, lambda job: 240.0)["2"] == pytest.approx(0.5), (
        "1,200 of 2,400 core seconds"
    )
    past.see(replace(cluster, at=NOW + 3600))
    assert past.arrivals.overtaking(cluster, lambda job: 240.0) == {"2": 0}
