"""Pseudonyms for the names of users, accounts and jobs in a recording, made with a secret."""

from __future__ import annotations

import hmac
from dataclasses import replace

from sim.live.cluster.values import Cluster, ClusterJob, Limit


def anonymous(cluster: Cluster, secret: bytes) -> Cluster:
    """Return the picture with pseudonyms for users and accounts, and without any other text that people wrote."""
    said = _Pseudonyms(secret)
    return replace(
        cluster,
        me=said.of("user", cluster.me),
        jobs=tuple(pseudonymous(job, secret) for job in cluster.jobs),
        nodes=tuple(replace(node, reason="") for node in cluster.nodes),
        partitions=tuple(
            replace(each, allowed_accounts=said.all("account", each.allowed_accounts)) for each in cluster.partitions
        ),
        reservations=tuple(
            replace(each, users=said.all("user", each.users), accounts=said.all("account", each.accounts))
            for each in cluster.reservations
        ),
        limits=tuple(replace(limit, name=said.limited(limit)) for limit in cluster.limits),
        shares=tuple(
            replace(
                each,
                account=said.of("account", each.account),
                user=said.of("user", each.user),
                parent=said.of("account", each.parent),
            )
            for each in cluster.shares
        ),
    )


def pseudonymous(job: ClusterJob, secret: bytes) -> ClusterJob:
    """Return the job with pseudonyms for its user, account, name and folder."""
    said = _Pseudonyms(secret)
    return replace(
        job,
        user=said.of("user", job.user),
        account=said.of("account", job.account),
        name=said.of("job", job.name),
        workdir=said.of("folder", job.workdir),
    )


class _Pseudonyms:
    """Pseudonyms made with a secret. A name always gets the same pseudonym; only with the secret can it be found out
    which name a pseudonym stands for.
    """

    def __init__(self, secret: bytes) -> None:
        self._secret = secret

    def of(self, kind: str, name: str) -> str:
        if not name:
            return ""
        return f"{kind}-{hmac.digest(self._secret, f'{kind} {name}'.encode(errors='replace'), 'sha256').hex()[:8]}"

    def all(self, kind: str, names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(self.of(kind, name) for name in names)

    def limited(self, limit: Limit) -> str:
        """Return the owner of a limit, such as `anna of physics`, with pseudonyms in place of names."""
        name, of, account = limit.name.partition(" of ")
        if limit.kind == "user":
            return f"{self.of('user', name)}{of}{self.of('account', account)}"
        if limit.kind == "account":
            return self.of("account", limit.name)
        name, within, qos = limit.name.partition(" in ")
        if limit.kind in ("qos of a user", "qos of an account"):
            return f"{self.of(limit.kind.split()[-1], name)}{within}{qos}"
        return limit.name
