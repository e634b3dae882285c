"""Time of the forecasts for one picture of a made-up full cluster. Run by hand:

    python -m tests.benchmarks.forecasts [--nodes N] [--jobs N]

A picture gets four forecasts: one with time limits and three with learnt run times. The time is that of a core.
"""

import argparse
import random
from dataclasses import replace
from time import process_time

from sim.live.cluster.values import Cluster, ClusterJob, Node, Partition
from sim.live.forecast.board import Board

CORES = 32
MB = 3000
"""Memory of each core, and of each core that a job asks for."""
NOW = 1e9
LIMITS = tuple(3600.0 * hours for hours in (1, 2, 4, 12, 24))
USERS = 17


def job(number: int, cores: int, nodes: int, limit: float) -> ClusterJob:
    """Return a waiting job with a low number first in the queue."""
    return ClusterJob(
        str(number), str(number), "PENDING", reason="Priority", user=f"u{number % USERS}", account="a",
        partition="batch", cpus=cores, nodes_wanted=nodes, memory=cores // nodes * MB, limit=limit,
        priority=100_000 - number, submit=NOW - 100, tres=f"cpu={cores},mem={cores * MB}M,node={nodes}",
    )  # fmt: skip


def full(nodes: int, waiting: int) -> Cluster:
    """Return a cluster on whose nodes all cores are taken, by jobs of up to one node, and with these waiting jobs."""
    random_, jobs = random.Random(1), list[ClusterJob]()
    names = tuple(f"n{at}" for at in range(nodes))
    for name in names:
        free = CORES
        while free:
            cores, limit = min(random_.choice((1, 2, 4, 8, 16, 32)), free), random_.choice(LIMITS)
            free -= cores
            start = NOW - random_.random() * limit * 0.9
            made = job(len(jobs), cores, 1, limit)
            jobs.append(replace(made, state="RUNNING", start=start, end=start + limit, nodes=(name,)))
    for number in range(len(jobs), len(jobs) + waiting):
        cores = random_.choice((1, 2, 4, 8, 16, 32, 64, 128, 256))
        jobs.append(job(number, cores, max(1, cores // CORES), random_.choice(LIMITS)))
    machine = tuple(Node(name, CORES, CORES * MB * 4 // 3) for name in names)
    return Cluster(NOW, "full", nodes=machine, partitions=(Partition("batch", names),), jobs=tuple(jobs))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=500, help="waiting jobs")
    asked = parser.parse_args()
    cluster, random_ = full(asked.nodes, asked.jobs), random.Random(2)
    ended = (
        replace(one, id=f"e{at}", state="COMPLETED", start=NOW - 90_000 - at, end=NOW - 90_000 - at + one.limit * share)
        for at, one in enumerate(cluster.running[:600])
        if one.limit and (share := random_.random())
    )
    board = Board(ended)
    began = process_time()
    found = board.add(cluster)
    took = process_time() - began
    running = len(cluster.running)
    print(f"{asked.nodes} nodes, {running} running, {len(found.starts)} of {asked.jobs} waiting forecast: {took:.2f} s")


if __name__ == "__main__":
    main()
