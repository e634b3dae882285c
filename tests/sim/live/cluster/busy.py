"""A made-up busy cluster: about 2,000 jobs in the queue, polled once a minute, with all that changes between two
polls.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace

from sim.live.cluster.values import Cluster, ClusterJob, Cores, Limit, Node, Partition

NODES, CPUS = 200, 64
QUEUED = 2000
FIRST = 400
"""Number of jobs that run at the first poll."""
PLANNED = 300
"""Number of waiting jobs that backfilling gives an expected start, which changes at nearly every poll."""
STARTS = 4
"""Mean number of jobs that start, end and arrive between two polls."""
MINUTE = 60.0
BEGIN = 1_795_000_000.0


def busy(
    looks: int, seed: int = 1, queued: int = QUEUED, starts: int = STARTS, begin: float = BEGIN
) -> Iterator[Cluster]:
    """Yield the state of the cluster at each of `looks` polls. `queued`: waiting jobs; `starts`: mean number of starts
    between two polls; `begin`: Unix time of the first poll.
    """
    random_ = random.Random(seed)
    number = 1_000_000
    nodes = tuple(
        Node(f"n{at}", CPUS, 256_000, states=frozenset({"MIXED"}), partitions=("batch",)) for at in range(NODES)
    )
    partitions = (Partition("batch", tuple(node.name for node in nodes), 2 * 86400.0, is_default=True),)
    waiting: list[ClusterJob] = []
    running: list[ClusterJob] = []
    parts: dict[str, dict[str, float]] = {}
    for look in range(looks):
        now = begin + look * MINUTE
        arrivals = queued + FIRST if look == 0 else random_.randint(0, 2 * starts)
        if look and len(waiting) < queued:  # a random walk would empty the queue within a week
            arrivals += starts
        for _ in range(arrivals):
            number += 1
            waiting.append(_arrival(random_, number, now))
        for _ in range(random_.randint(0, 2 * starts) if look else FIRST):
            job = waiting.pop(random_.randrange(len(waiting) // 4 + 1))
            running.append(_started(random_, job, now))
        if look % 5 == 0:  # Slurm works priorities out anew every five minutes
            waiting = [replace(job, priority=job.priority + random_.randint(3, 4)) for job in waiting]
            parts = {
                job.number: {"age": 1 + (now - job.submit) // 60, "fairshare": float(1 + int(job.number) % 997)}
                for job in waiting
            }
            nodes = tuple(replace(node, cpus_taken=random_.randint(0, CPUS)) for node in nodes)
        for at in range(min(PLANNED, len(waiting))):
            if random_.random() < 0.9:
                start = now + at * 60 + random_.randint(0, 3000)
                planned = (f"n{random_.randrange(NODES)}",) if at < 100 else ()
                waiting[at] = replace(
                    waiting[at], start=start, reason="Priority" if at else "Resources", planned_nodes=planned
                )
        running = [job for job in running if (job.end or 0) > now]
        limits = tuple(Limit("account", f"a{at}", "GrpTRES=cpu", 4000, random_.randrange(4000)) for at in range(20))
        yield Cluster(
            now, "busy", "Slurm 24.11.5", nodes, partitions, (), (*running, *waiting), limits, dict(parts), cost=0.2
        )


def _arrival(random_: random.Random, number: int, now: float) -> ClusterJob:
    user, name = f"user{random_.randrange(150)}", random_.choice(("md", "train", "cfd", "fit"))
    return ClusterJob(
        str(number), str(number), "PENDING", f"{name}{random_.randrange(10_000)}",
        "Priority", user, f"a{random_.randrange(20)}", "batch", "normal", random_.choice((1, 4, 16, 64, 128)), 1, 4000,
        limit=3600.0 * random_.choice((1, 4, 12, 24)), submit=now, priority=random_.randrange(10_000, 90_000),
    )  # fmt: skip


def _started(random_: random.Random, job: ClusterJob, now: float) -> ClusterJob:
    hold = [random_.randrange(NODES) for _ in range(max(job.cpus // CPUS, 1))]
    each = min(job.cpus, CPUS)
    cores = tuple(Cores(f"n{at}", ((1 << each) - 1) << random_.randrange(CPUS - each + 1)) for at in hold)
    end = now + (job.limit or 0) * random_.choice((0.05, 0.3, 0.6, 1))
    return replace(
        job, state="RUNNING", reason="", start=now, end=end, nodes=tuple(held.node for held in cores), planned_nodes=(),
        cores=cores,
    )  # fmt: skip
