"""Conversion of a cluster's nodes and partitions to the format of traces (workload files), so that a recording can be
replayed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from sim.cluster.values import Cluster, Reservation, Share

NOTHING: Mapping[str, int] = MappingProxyType({})
MOST_QOS = 1000
"""Largest number of qualities of service whose priorities are noted."""


MOST_SHARES = 20_000
"""Largest number of accounts and users whose shares a recording keeps."""


def machine_in_words(cluster: Cluster, qos: Mapping[str, int] = NOTHING) -> str:
    """Return the nodes and partitions of the cluster as JSON text, in the format that `sim/workload/NODES.md` explains.
    `qos` maps the name of each quality of service to its priority.

    >>> from sim.cluster.values import Node, Partition
    >>> machine_in_words(Cluster(0, nodes=(Node("n1", 4, 16000, 2),), partitions=(Partition("gpu", ("n1",), 60.0),)))
    '{"nodes":[{"name":"n1","cores":4,"mem":16000,"gpu":2}],"partitions":[{"name":"gpu","nodes":[0],"max_time":60.0}]}'
    """
    numbers = {node.name: at for at, node in enumerate(cluster.nodes)}
    nodes = [
        {"name": node.name, "cores": node.cpus}
        | ({"mem": node.memory} if node.memory else {})
        | ({"gpu": node.gpus} if node.gpus else {})
        | ({"features": list(filter(None, node.features))} if any(node.features) else {})
        for node in cluster.nodes
    ]
    has_tiers = any(partition.tier != 1 for partition in cluster.partitions)
    partitions = [
        {"name": partition.name, "nodes": [numbers[name] for name in partition.nodes if name in numbers]}
        | ({"max_time": partition.max_time} if partition.max_time else {})
        | ({"max_nodes": partition.max_nodes} if partition.max_nodes else {})
        | ({"exclusive": True} if partition.is_exclusive else {})
        | ({"priority": partition.tier} if has_tiers else {})
        | ({"factor": partition.factor} if partition.factor != 1 else {})
        for partition in cluster.partitions
    ]
    reservations = [
        {"name": each.name, "start": f"{each.start:.0f}", "end": f"{each.end:.0f}", "users": list(each.users)}
        | {"accounts": list(each.accounts), "nodes": [numbers[name] for name in each.nodes if name in numbers]}
        for each in cluster.reservations
    ]
    machine = {"nodes": nodes, "partitions": partitions} | ({"reservations": reservations} if reservations else {})
    if any(qos.values()):
        machine["qos"] = [{"name": name, "priority": priority} for name, priority in sorted(qos.items())]
    if cluster.shares:
        machine["accounts"] = [
            {"account": each.account, "shares": "parent" if each.shares is None else each.shares}
            | ({"user": each.user} if each.user else {"parent": each.parent} if each.parent else {})
            | ({"usage": each.usage} if each.usage else {})
            for each in cluster.shares[:MOST_SHARES]
        ]
    return json.dumps(machine, separators=(",", ":"))


def is_changed(before: Cluster | None, now: Cluster, qos: dict[str, int]) -> bool:
    """Return True if the machine is another one than in the picture `before`, and add to `qos` the priorities that its
    jobs show.

    The points of a job's priority that come from its quality of service stand for the priority of this QOS: only their
    ratios matter.
    """
    told = ((job.qos, now.parts[job.number]) for job in now.jobs if job.qos and job.number in now.parts)
    found = {name: int(parts.get("qos", 0)) for name, parts in told}
    is_new = any(qos.get(name) != points for name, points in found.items()) and len(qos | found) <= MOST_QOS
    if is_new:
        qos |= found
    return is_new or before is None or (now.nodes, now.reservations) != (before.nodes, before.reservations)


def with_first(cluster: Cluster, first: dict[str, Share]) -> Cluster:
    """Return the cluster with the shares and usage that each account and user had when it was first seen, because a
    replay begins then. `first` maps the ids to these and is updated.
    """
    for each in cluster.shares if len(first) < MOST_SHARES else ():
        first.setdefault(each.id, each)
    return replace(cluster, shares=tuple(first.values()))


def with_earlier(cluster: Cluster, earlier: dict[tuple[str, float], Reservation]) -> Cluster:
    """Return the cluster with all its reservations so far, past ones included. `earlier` maps (name, start) to a
    reservation and is updated. A reservation that is missing in the cluster's list ends now at the latest. It is
    dropped if it had not begun, because Slurm can move the start of a reservation with each answer.
    """
    listed = {(each.name, each.start): each for each in cluster.reservations}
    for key, each in list(earlier.items()):
        if key not in listed and each.end > cluster.at:
            if each.start < cluster.at:
                earlier[key] = replace(each, end=cluster.at)
            else:
                del earlier[key]
    earlier |= listed
    return replace(cluster, reservations=tuple(earlier.values()))
