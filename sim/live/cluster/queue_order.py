"""Order in which Slurm considers waiting jobs: by the tier of their partitions, then by priority."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection
from itertools import chain

from sim.live.cluster.constraints import partitions_of
from sim.live.cluster.values import Cluster, ClusterJob
from sim.support.formatting import count, listed


def ahead(cluster: Cluster, job: ClusterJob) -> list[ClusterJob]:
    """Return the waiting jobs, in Slurm's order, that precede `job` and could take nodes of its partitions."""
    return [cluster.queue[place] for place in _places_ahead(cluster, job)]


def _places_ahead(cluster: Cluster, job: ClusterJob) -> Collection[int]:
    own, tier, found = cluster.place_of.get(job.id, len(cluster.queue)), tier_of(cluster, job), dict[int, list[int]]()
    for partition in job.partition.split(","):
        for theirs, places in cluster.considered.get(partition, {}).items():
            if theirs >= tier:
                found.setdefault(theirs, []).extend(places if theirs > tier else places[: bisect_left(places, own)])
    if "," in job.partition:
        found = {theirs: sorted(places) for theirs, places in found.items()}
    ordered = dict.fromkeys(chain.from_iterable(found[theirs] for theirs in sorted(found, reverse=True)))
    base, is_part, _ = job.id.partition("+")  # parts of one job start together
    return [place for place in ordered if cluster.queue[place].id.partition("+")[0] != base] if is_part else ordered


def tier_of(cluster: Cluster, job: ClusterJob) -> int:
    return max((each.tier for each in partitions_of(cluster, job)), default=0)


def behind(cluster: Cluster, job: ClusterJob) -> str:
    """Return text on the number of jobs ahead of `job` and on the first of them; "" if no job is ahead."""
    before = _places_ahead(cluster, job)
    if not before:
        return ""
    first = cluster.queue[next(iter(before))]
    return f"behind {count(len(before), 'job')} for nodes of {job.partition}: {compared(cluster, first, job)}"


def compared(cluster: Cluster, other: ClusterJob, job: ClusterJob) -> str:
    """Return text on why the job `other` is ahead of `job`: its tier, or the parts in which their priorities differ."""
    near = {name for partition in job.partition.split(",") for name in cluster.sharing.get(partition, ())}
    tier, name = max(
        ((each.tier, each.name) for each in partitions_of(cluster, other) if each.name in near), default=(0, "")
    )
    if tier > (own_tier := tier_of(cluster, job)):
        return f"J{other.id} is in {name}, of tier {tier:,} > {own_tier:,}"
    if other.priority == job.priority:
        how = "was submitted earlier" if other.submit < job.submit else "a lower number"
        return f"J{other.id} has the same priority and {how}"
    text = f"J{other.id} has priority {other.priority:,} > {job.priority:,}"
    theirs, own = cluster.parts.get(other.number, {}), cluster.parts.get(job.number, {})
    if not theirs or not own:
        return text
    parts = {name: (theirs.get(name, 0), own.get(name, 0)) for name in (*theirs, *own)}
    apart = sorted((their - its, name) for name, (their, its) in parts.items() if their > its)
    said = [f"{name} {parts[name][0]:,.0f} > {parts[name][1]:,.0f}" for _, name in reversed(apart)]
    return f"{text} ({listed(said)})" if said else text
