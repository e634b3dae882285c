"""Jobs that do not exist yet, on two nodes of 4 cores."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sim.live.cluster.values import Cluster, ClusterJob, Node, Partition
from sim.live.forecast.expected import expected
from sim.live.forecast.new_job import fit_lines, fits_now, ghost_of, new_job, new_lines, start_of
from sim.live.forecast.past import PastJobs
from sim.support.errors import NotThereError, ParameterError
from tests.sim.live.cluster.busy import busy
from tests.sim.live.forecast.test_forecast import NOW

NODES = tuple(Node(f"n{at}", 4, 16000, gpus=2 * (at == 3), partitions=("batch",)) for at in (1, 2, 3))
BATCH = Partition("batch", ("n1", "n2", "n3"), 7200.0, is_default=True)
PARTITIONS = (BATCH, Partition("gpu", ("n3",), 36000.0), Partition("off", ("n1",), state="DOWN"))
RUNS = ClusterJob("1", "1", "RUNNING", user="bob", partition="batch", cpus=4, nodes=("n1",), start=NOW - 60,
                  end=NOW + 600, limit=660.0, tres="cpu=4,node=1")  # fmt: skip
WAITS = ClusterJob("2", "2", "PENDING", reason="Resources", user="ann", account="chem", partition="batch", cpus=12,
                   nodes_wanted=3, priority=50, limit=1200.0, tres="cpu=12,node=3", submit=NOW - 60)  # fmt: skip

PART = "4 cores and 16,000 MB of one node"


def cluster(*jobs: ClusterJob) -> Cluster:
    parts = {"2": {"age": 20.0, "fairshare": 30.0}}
    return Cluster(NOW, nodes=NODES, partitions=PARTITIONS, jobs=jobs, me="ann", parts=parts)


def told(now: Cluster, text: str) -> str:
    job = new_job(now, text)
    before = expected(now, PastJobs())
    there, answer = start_of(now, job, PastJobs(), before)
    return "\n".join(new_lines(there, job, answer, PastJobs(), before))


def test_request_has_the_users_account_and_the_order_of_words_does_not_matter() -> None:
    now = cluster(RUNS, WAITS)
    job = new_job(now, "mem=4g time=30m nodes=2")
    assert job == new_job(now, "nodes=2 mem=4g time=30m")
    assert (job.account, job.partition, job.cpus, job.nodes_wanted, job.most_nodes) == ("chem", "batch", 2, 2, 2)
    assert (job.memory, job.tres, job.priority) == (4096, "mem=8192M,node=2,cpu=1", 30)
    assert new_job(now, "cpus=6 partition=gpu").limit == 36000
    assert new_job(now, "cpus=6").nodes_wanted == 2
    assert new_job(cluster(RUNS, replace(WAITS, user="eve")), "cpus=1").priority == 49


@pytest.mark.parametrize(
    ("text", "why"),
    [("n=2", "--new takes time, .* got 'n=2'"), ("partition=nope", "no partition 'nope'; there are batch, gpu and off"),
     ("time=soon", "soon"), ("nodes=0", "nodes must be"), (" ", "--new asks for")],
)  # fmt: skip
def test_request_that_is_none_is_refused(text: str, why: str) -> None:
    with pytest.raises(ParameterError, match=why):
        new_job(cluster(RUNS), text)


def test_new_job_starts_in_a_hole_or_behind_those_that_wait() -> None:
    now = cluster(RUNS, WAITS)
    assert "would start now" in told(now, "nodes=2 time=10m")
    late = told(now, "nodes=2 time=11m")
    assert "would start at" in late
    assert "behind 1 waiting job" in late
    assert "3h00 > 2h00, the limit of partition batch" in told(now, "time=3h")


def test_ghost_moves_to_times_at_which_it_fits() -> None:
    now = cluster(RUNS, WAITS)
    ghost = ghost_of(now, new_job(now, "nodes=1 cpus=4 time=5m"))
    assert (ghost.start, ghost.nodes) == (NOW, ("n2",))
    later = ghost.moved(NOW + 60)
    assert (later.start, later.end, later.frame.nodes) == (NOW + 60, NOW + 360, ("n2",))
    behind = later.moved(NOW + 400)
    assert 1800 <= behind.start - NOW < 1860, "until then J2 has all nodes"
    assert behind.earlier(60).start < NOW + 400
    assert later.earlier(600).start == NOW
    with pytest.raises(NotThereError, match="does not fit"):
        ghost_of(now, new_job(now, "gpus=3 partition=gpu"))


def test_what_fits_now_ends_where_a_waiting_job_starts_or_at_the_limit() -> None:
    lines = list(fit_lines(cluster(RUNS, WAITS), fits_now(cluster(RUNS, WAITS))))
    assert lines[1:] == [
        f"batch: 2 nodes for 10m00, {PART} for 10m00, 1 core, 2 GPUs and 16,000 MB of one node for 10m00",
        f"gpu: 1 node for 10m00, {PART} for 10m00, 1 core, 2 GPUs and 16,000 MB of one node for 10m00",
        "off: nothing: it is down",
    ]
    short = replace(RUNS, id="3", number="3", nodes=("n2",), cpus=2, end=NOW + 300, tres="cpu=2,node=1")
    free = [fit._replace(gpus=0) for fit in fits_now(cluster(RUNS, short)) if fit.partition == "batch" and fit.nodes]
    assert [(fit.nodes, fit.seconds) for fit in free] == [(1, 7200.0)]
    hidden = replace(cluster(RUNS), is_private=True)
    assert "hidden" in next(fit_lines(hidden, fits_now(hidden)))


def test_part_of_a_node_that_fits_has_memory() -> None:
    heavy = replace(RUNS, id="3", number="3", nodes=("n2",), cpus=1, tres="cpu=1,mem=16000M,node=1")
    light = replace(heavy, id="4", number="4", nodes=("n3",), cpus=2, end=NOW + 300, tres="cpu=2,mem=7000M,node=1")
    taken = {"n2": 16000, "n3": 7000}
    nodes = tuple(replace(node, memory_taken=taken.get(node.name, 0)) for node in NODES)
    now = replace(cluster(RUNS, heavy, light), nodes=nodes)
    assert list(fit_lines(now, fits_now(now)))[1:] == [
        "batch: 2 cores and 9,000 MB of one node for 2h00 (its limit), "
        "1 core, 2 GPUs and 9,000 MB of one node for 2h00 (its limit)",
        "gpu: 2 cores and 9,000 MB of one node for 10h00 (its limit), "
        "1 core, 2 GPUs and 9,000 MB of one node for 10h00 (its limit)",
        "off: nothing: it is down",
    ], "n2 has 3 free cores, but no memory"
    unknown = replace(now, nodes=tuple(replace(node, memory=0) for node in NODES))
    assert [(fit.cpus, fit.memory) for fit in fits_now(unknown) if fit.partition == "batch"] == [(3, 0), (1, 0)]


def test_what_fits_on_a_busy_cluster_can_start_now() -> None:
    now = next(busy(1, queued=20))
    fits = fits_now(now)
    assert [fit.nodes for fit in fits] == [19, 0]
    for fit in fits:
        job = new_job(
            now, f"nodes={max(fit.nodes, 1)} time={int(fit.seconds)} exclusive={'yes' if fit.nodes else 'no'}"
        )
        assert ghost_of(now, replace(job, priority=-1)).start == now.at
