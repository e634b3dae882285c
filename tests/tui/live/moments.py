"""States of a cluster for tests of what is drawn of them: recorded ones, and small ones made up."""

from pathlib import Path

from sim.live.cluster.observed import Observed
from sim.live.cluster.values import Cluster, ClusterJob, Node, Reservation
from tests.sim.live.cluster.captures import series

DAY = 1795392000.0  # a midnight in UTC
NODES = (Node("n1", 4, memory=16000, memory_taken=8000), Node("n2", 4, memory=16000, gpus=2, gpus_taken=1))


def recorded(shared: Path, version: str, pictures: int = 20) -> Observed:
    """Return the first `pictures` states of a recorded run, as observed."""
    observed = Observed()
    for cluster, _ in zip(series(shared, version), range(pictures), strict=False):
        observed.add(cluster)
    return observed


def runs(id: str, cpus: int, *nodes: str, start: float = 0.0, end: float = 600.0) -> ClusterJob:
    """Return a running job with `cpus` cores on these nodes; times are seconds since midnight."""
    return ClusterJob(id, id, "RUNNING", cpus=cpus, nodes=nodes, start=DAY + start, end=DAY + end, submit=DAY + start,
                      limit=end - start, user="ann")  # fmt: skip


def waits(id: str, cpus: int, start: float | None = None, reason: str = "Priority", *nodes: str) -> ClusterJob:
    """Return a waiting job that wants `cpus` cores; Slurm plans it for `start` (None: no date) on these nodes."""
    return ClusterJob(id, id, "PENDING", cpus=cpus, reason=reason, submit=DAY, limit=300.0, user="bob", nodes_wanted=1,
                      start=None if start is None else DAY + start, planned_nodes=nodes)  # fmt: skip


def observed_of(*jobs: ClusterJob, at: float = 60.0, nodes: tuple[Node, ...] = NODES,
                reservations: tuple[Reservation, ...] = ()) -> Observed:  # fmt: skip
    """Return what is observed in a single state of a made-up cluster with these jobs, at `at` seconds since
    midnight."""
    observed = Observed()
    observed.add(Cluster(at=DAY + at, name="testbed", nodes=nodes, jobs=jobs, reservations=reservations))
    return observed
