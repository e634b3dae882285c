"""Conversion of a cluster's nodes and partitions to the format of traces, so that a recording can be replayed."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from sim.live.cluster.codec import DamagedError, number, text, texts, whole
from sim.live.cluster.values import Cluster, Partition, Reservation, Share

NOTHING: Mapping[str, int] = MappingProxyType({})
MOST_QOS = 1000
"""Largest number of qualities of service whose priorities are noted."""
MOST_SHARES = 20_000
"""Largest number of accounts and users whose shares a recording keeps."""
DRAIN = "a drain"
"""Name of drains among the reservations of a recording."""
MOST_DRAINS = 2_000
"""Largest number of times at which nodes left or came back that a recording keeps; later ones are left out."""


class Drains:
    """Times at which nodes took no jobs, because they were drained or down, from pictures in order of time."""

    def __init__(self) -> None:
        self._since: dict[str, float] = {}
        """For each node that takes no jobs in the last picture: time of the first picture that showed it so"""
        self._over: dict[tuple[float, float], list[str]] = {}
        """For each (first time, time of the picture in which they took jobs again): names of the nodes"""

    def remember(self, start: float, end: float | None, names: list[str]) -> None:
        """Add nodes that took no jobs from `start` to `end`, before the first picture; None if they still do not."""
        if end is None:
            self._since |= dict.fromkeys(names, start)
        elif len(self._over) < MOST_DRAINS:
            self._over[start, end] = names

    def add(self, cluster: Cluster) -> None:
        gone = {node.name for node in cluster.nodes if node.is_gone}
        for name in [name for name in self._since if name not in gone]:
            span = self._since.pop(name), cluster.at
            if span in self._over or len(self._over) < MOST_DRAINS:
                self._over.setdefault(span, []).append(name)
        self._since |= dict.fromkeys(sorted(gone - self._since.keys()), cluster.at)

    def spans(self, end: float | None = None) -> list[tuple[float, float | None, list[str]]]:
        """Return (first time, end, names of nodes) in order of time; `end` is that of drains without one."""
        lasting: dict[float, list[str]] = {}
        for name, start in self._since.items():
            lasting.setdefault(start, []).append(name)
        over = [(start, until, names) for (start, until), names in self._over.items()]
        return sorted([*over, *((start, end, names) for start, names in lasting.items())], key=lambda span: span[0])


def machine_in_words(cluster: Cluster, qos: Mapping[str, int] = NOTHING, drains: Drains | None = None) -> str:
    """Return the nodes and partitions of the cluster as JSON text, in the format that `sim/workload/NODES.md` explains.
    `qos` maps the name of each quality of service to its priority. In `drains`, nodes that are away have no end yet.

    >>> from sim.live.cluster.values import Node, Partition
    >>> machine_in_words(Cluster(0, nodes=(Node("n1", 4, 16000, 2),), partitions=(Partition("gpu", ("n1",), 60.0),)))
    '{"nodes":[{"name":"n1","cores":4,"mem":16000,"gpu":2}],"partitions":[{"name":"gpu","nodes":[0],"max_time":60.0}]}'
    """
    numbers = {node.name: at for at, node in enumerate(cluster.nodes)}
    nodes = [
        {"name": node.name, "cores": node.cpus}
        | _given(mem=node.memory, gpu=node.gpus, features=list(filter(None, node.features)))
        for node in cluster.nodes
    ]
    has_tiers = any(partition.tier != 1 for partition in cluster.partitions)
    partitions = [
        {"name": each.name, "nodes": [numbers[name] for name in each.nodes if name in numbers]}
        | _given(max_time=each.max_time, max_nodes=each.max_nodes, exclusive=each.is_exclusive)
        | ({"priority": each.tier} if has_tiers else {})
        | ({"factor": each.factor} if each.factor != 1 else {})
        for each in cluster.partitions
    ]
    reservations = [
        {"name": each.name, "start": f"{each.start:.0f}", "end": f"{each.end:.0f}", "users": list(each.users)}
        | {"accounts": list(each.accounts), "nodes": [numbers[name] for name in each.nodes if name in numbers]}
        for each in cluster.reservations
    ]
    reservations += [
        {"name": DRAIN, "drained": True, "start": f"{start:.0f}", "nodes": own}
        | ({} if end is None else {"end": f"{end:.0f}"})
        for start, end, names in (drains.spans() if drains else ())
        if (own := [numbers[name] for name in names if name in numbers])  # a drained node may leave for ever
    ]
    machine = {"nodes": nodes, "partitions": partitions} | _given(reservations=reservations)
    if any(qos.values()):
        machine["qos"] = [{"name": name, "priority": priority} for name, priority in sorted(qos.items())]
    if cluster.shares:
        machine["accounts"] = [
            {"account": each.account, "shares": "parent" if each.shares is None else each.shares}
            | _given(user=each.user, parent="" if each.user else each.parent, usage=each.usage)
            for each in cluster.shares[:MOST_SHARES]
        ]
    return json.dumps(machine, separators=(",", ":"))


def _given(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value}


def with_partitions(cluster: Cluster) -> Cluster:
    """Return the cluster with the partitions that nodes and jobs name, if it has no list; the latter have all nodes."""
    if cluster.partitions:
        return cluster
    named = {name: None for node in cluster.nodes for name in node.partitions}
    named |= {name: None for job in cluster.jobs for name in job.partition.split(",")}
    every = tuple(node.name for node in cluster.nodes)
    own = {name: tuple(node.name for node in cluster.nodes if name in node.partitions) for name in named}
    return replace(cluster, partitions=tuple(Partition(name, nodes or every) for name, nodes in own.items()))


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


def with_first(cluster: Cluster, first: dict[tuple[str, str], Share]) -> Cluster:
    """Return the cluster with the shares and usage that each account and user had when it was first seen, because a
    replay begins then. `first` maps (account, user) to these and is updated.
    """
    for each in cluster.shares if len(first) < MOST_SHARES else ():
        first.setdefault((each.account, each.user), each)
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


@dataclass
class EarlierMachine:
    """Facts about a machine that pictures (polled states of a cluster) lose when they are over."""

    drains: Drains = field(default_factory=Drains)
    reserved: dict[tuple[str, float], Reservation] = field(default_factory=dict)
    """Reservations of nodes so far, by (name, start)."""
    shares: dict[tuple[str, str], Share] = field(default_factory=dict)
    """Shares and usage of each (account, user) when it was first seen."""
    qos: dict[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, words: str) -> EarlierMachine:
        """Return the facts in a text that `machine_in_words` made; none if the text is damaged."""
        made = cls()
        try:
            machine = json.loads(words)
            names = [text(node["name"]) for node in machine["nodes"]]
            for each in machine.get("reservations", ()):
                own = [names[whole(at)] for at in each["nodes"]]
                start, end = float(each["start"]), float(each["end"]) if "end" in each else None
                if each.get("drained") is True:
                    made.drains.remember(start, end, own)
                elif end is not None:
                    users, accounts = texts(each.get("users", [])), texts(each.get("accounts", []))
                    key = text(each["name"]), start
                    made.reserved[key] = Reservation(*key, end, tuple(own), users, accounts)
            made.shares = {(each.account, each.user): each for each in _shares(machine)}
            made.qos = {text(each["name"]): whole(each["priority"]) for each in machine.get("qos", ())[:MOST_QOS]}
        except (DamagedError, ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError):
            return cls()
        return made


def _shares(machine: dict[str, Any]) -> Iterator[Share]:
    for at, each in enumerate(machine.get("accounts", ())[:MOST_SHARES]):
        shares = None if each["shares"] == "parent" else whole(each["shares"])
        account, user, parent = (text(each.get(name, "")) for name in ("account", "user", "parent"))
        yield Share(str(at), account, user, account if user else parent, shares, number(each.get("usage", 0.0)))
