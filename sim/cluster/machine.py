"""Conversion of a cluster's nodes and partitions to the format of traces (workload files), so that a recording can be
replayed.
"""

from __future__ import annotations

import json
from dataclasses import replace

from sim.cluster.values import Cluster, Reservation


def machine_in_words(cluster: Cluster) -> str:
    """Return the nodes and partitions of the cluster as JSON text, in the format that `sim/workload/NODES.md` explains.

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
    partitions = [
        {"name": partition.name, "nodes": [numbers[name] for name in partition.nodes if name in numbers]}
        | ({"max_time": partition.max_time} if partition.max_time else {})
        | ({"max_nodes": partition.max_nodes} if partition.max_nodes else {})
        | ({"exclusive": True} if partition.is_exclusive else {})
        for partition in cluster.partitions
    ]
    reservations = [
        {"name": each.name, "start": f"{each.start:.0f}", "end": f"{each.end:.0f}", "users": list(each.users)}
        | {"accounts": list(each.accounts), "nodes": [numbers[name] for name in each.nodes if name in numbers]}
        for each in cluster.reservations
    ]
    machine = {"nodes": nodes, "partitions": partitions} | ({"reservations": reservations} if reservations else {})
    return json.dumps(machine, separators=(",", ":"))


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
