"""Pseudonyms for the names of users, accounts and jobs in a recording, made with a secret.

A name always gets the same pseudonym; only with the secret can it be found out which name a pseudonym stands for.
"""

from __future__ import annotations

import hmac
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from sim.live.cluster.values import Cluster, ClusterJob, Limit, Partition, Reservation, Share

T = TypeVar("T", ClusterJob, Partition, Reservation, Share)
_NAMES: Mapping[type, Mapping[str, str]] = {
    ClusterJob: {"user": "user", "account": "account", "name": "job", "workdir": "folder"},
    Partition: {"allowed_accounts": "account"},
    Reservation: {"users": "user", "accounts": "account"},
    Share: {"account": "account", "user": "user", "parent": "account"},
}
"""For each kind of item: its fields with names that people chose, and what these are names of"""


def anonymous(cluster: Cluster, secret: bytes) -> Cluster:
    """Return the picture with pseudonyms for users and accounts, and without any other text that people wrote."""

    def every(items: Iterable[T]) -> tuple[T, ...]:
        return tuple(pseudonymous(item, secret) for item in items)

    return replace(
        cluster,
        me=_pseudonym(secret, "user", cluster.me),
        jobs=every(cluster.jobs),
        nodes=tuple(replace(node, reason="") for node in cluster.nodes),
        partitions=every(cluster.partitions),
        reservations=every(cluster.reservations),
        limits=tuple(replace(limit, name=_owner(secret, limit)) for limit in cluster.limits),
        shares=every(cluster.shares),
    )


def pseudonymous(item: T, secret: bytes) -> T:
    """Return the item with pseudonyms; a job also for its name and folder."""
    found: dict[str, Any] = {}
    for field, kind in _NAMES[type(item)].items():
        names = getattr(item, field)
        is_one = isinstance(names, str)
        told = tuple(_pseudonym(secret, kind, name) for name in ([names] if is_one else names))
        found[field] = told[0] if is_one else told
    return replace(item, **found)


def _pseudonym(secret: bytes, kind: str, name: str) -> str:
    if not name:
        return ""
    return f"{kind}-{hmac.digest(secret, f'{kind} {name}'.encode(errors='replace'), 'sha256').hex()[:8]}"


def _owner(secret: bytes, limit: Limit) -> str:
    """Return the owner of a limit, such as `anna of physics`, with pseudonyms in place of names."""
    name, of, account = limit.name.partition(" of ")
    if limit.kind == "user":
        return f"{_pseudonym(secret, 'user', name)}{of}{_pseudonym(secret, 'account', account)}"
    if limit.kind == "account":
        return _pseudonym(secret, "account", limit.name)
    name, within, qos = limit.name.partition(" in ")
    if limit.kind in ("qos of a user", "qos of an account"):
        return f"{_pseudonym(secret, limit.kind.split()[-1], name)}{within}{qos}"
    return limit.name
