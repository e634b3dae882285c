"""Priorities that combine several factors, as in Slurm: a job's wait, its user's past usage, and its width."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from math import exp2, log
from typing import TYPE_CHECKING, ClassVar, Literal

from sim.policies.columns import Column
from sim.policies.orders import Order
from sim.policies.parameters import parameter
from sim.workload.model import Job
from sim.workload.share_tree import ShareTree

if TYPE_CHECKING:
    from sim.engine.moment import Moment

WEEK = 7 * 86400.0
MOST_HALVES = 500
"""Number of half-lives after which sums of usage are written anew, so that no number becomes too large."""


@dataclass(frozen=True)
class Multifactor(Order):
    """Greatest weighted sum of factors first, each from 0 to 1 (Slurm's multifactor priority).

    age: the wait over maxage, at most 1. fairshare: 2 to the power of -u/s; u is the user's share of all usage, s an
    equal share for each user seen so far. Usage counts half after each halflife. size: the job's share of the available
    machine, or with favour=small the rest. On nodes it is the mean of two shares, as in Slurm: of the cores, and of the
    nodes, where the least number that the job asks for counts.

    partition: the factor of the job's partition on a machine of nodes (PriorityJobFactor), as a share of the greatest.

    qos: the priority of the job's QOS (`[[qos]]` in the file of the machine), as a share of the greatest.

    With shares=accounts, accounts have equal shares, and the users of an account equal parts of its share; a trace
    without accounts has only users. The usage that counts is the user's own, and an equal part of what others in the
    account used (Slurm without Fair Tree).

    With shares=tree, users are ranked by Slurm's Fair Tree, which is its default: the factor is the user's rank from
    below over the number of users. The users of the account that used least for its shares come first, and so it goes
    on in each account. The machine's file or the recording has the accounts, their shares and past usage
    (`[[account]]`); what it lacks has one share. Usage is summed up every `period` seconds.

    Otherwise all users have equal shares, and usage is exact at every pass. Maui weighs targets of usage in place of
    fair shares, and expansion factors.
    """

    age: float = parameter(1000.0, "weight of the wait", low=0.0)
    fairshare: float = parameter(10000.0, "weight of the user's low past usage", low=0.0)
    size: float = parameter(1000.0, "weight of the processors that the job wants", low=0.0)
    maxage: float = parameter(WEEK, "a wait that counts fully, like 7d or in seconds", low=1.0, is_time=True)
    halflife: float = parameter(WEEK, "half-life of past usage, like 7d", low=1.0, is_time=True)
    favour: Literal["large", "small"] = parameter(
        "large", "whether wide or narrow jobs gain", choices=("large", "small")
    )
    partition: float = parameter(0.0, "weight of the partition's factor, on a machine of nodes", low=0.0)
    qos: float = parameter(0.0, "weight of the priority of the job's QOS, on a machine of nodes", low=0.0)
    shares: Literal["users", "accounts", "tree"] = parameter(
        "users",
        "equal shares of all users, of accounts and the users in each, or those of Slurm's tree of accounts",
        choices=("users", "accounts", "tree"),
    )
    period: float = parameter(300.0, "seconds between two sums of usage, with shares=tree", low=0.0, is_time=True)
    usage: Mapping[int, float] = field(default_factory=dict, repr=False, compare=False)
    """For each user: processor-hours used until now; older usage counts less"""
    total: float = field(default=0.0, repr=False, compare=False)
    procs: int = field(default=1, repr=False, compare=False)
    factors: Sequence[float] = field(default=(), repr=False, compare=False)
    """Factors of the jobs' partitions, indexed by rank; empty if all are equal"""
    qos_factors: Sequence[float] = field(default=(), repr=False, compare=False)
    """Priorities of the jobs' QOS as shares of the greatest, indexed by rank; empty if all are equal"""
    node_parts: Sequence[float] = field(default=(), repr=False, compare=False)
    """Least numbers of nodes that the jobs ask for, as shares of all, indexed by rank; empty on equal processors"""
    accounts: Sequence[str] = field(default=(), repr=False, compare=False)
    ratios: Mapping[tuple[str, int], float] = field(default_factory=dict, repr=False, compare=False)
    """For each (account, user): usage as a multiple of the user's share; empty unless shares=accounts"""
    ranks: Mapping[int, float] = field(default_factory=dict, repr=False, compare=False)
    """For each user in the tree of accounts: factor of the user's rank; empty unless shares=tree"""
    leaf: Sequence[int] = field(default=(), repr=False, compare=False)
    """Number of each job's user in `ranks`, indexed by the job's rank; empty unless shares=tree"""
    name: ClassVar[str] = "multifactor"
    columns: ClassVar[tuple[Column, ...]] = (Column("usage", "decayed processor-hours used by the user", of="user"),)

    def seeing(self, view: Moment) -> Order:
        """Return a copy of this order with the users' usage up to now. Between two passes each running job's usage
        grows evenly.
        """
        notes = view.notes
        since = view.now - notes.get("usage_at", {}).get(0, view.now)
        kept = exp2(-since / self.halflife)
        notes["usage"] = usage = {user: used * kept for user, used in notes.get("usage", {}).items()}
        gained = (1 - kept) * self.halflife / log(2) / 3600
        for job in (*[run.job for run in view.running.values()], *view.completed, *view.ousted):
            usage[job.user] = usage.get(job.user, 0.0) + job.procs * gained
        for job in view.arrived:
            usage.setdefault(job.user, 0.0)
        notes["usage_at"] = {0: view.now}
        accounts = view.accounts if self.shares == "accounts" else ()
        tree = notes.get("share_tree") or view.share_tree() if self.shares == "tree" else None
        seen = copy(self)  # faster than `replace`, which is felt at every pass
        vars(seen).update(
            usage=usage,
            total=sum(usage.values()),
            procs=max(1, view.procs),
            factors=view.factors,
            qos_factors=view.qos_factors,
            node_parts=view.node_parts,
            accounts=accounts,
            ratios=_ratios(self._in_tree(view, accounts, kept, gained)) if accounts else {},
            ranks=self._ranks(view, tree) if tree else {},
            leaf=tree.leaf if tree else (),
        )
        return seen

    def _ranks(self, view: Moment, tree: ShareTree) -> Mapping[int, float]:
        """Return the factor of each user's rank in the tree at the last sum of usage.

        Only ratios of usage matter, so nothing decays in the notes: what is used later counts more. The notes have the
        usage of each entry in such seconds, the times of the last pass and of the next sum, and the factors.
        """
        notes = view.notes
        if "share_tree" not in notes:
            notes["share_tree"], notes["tree_usage"] = tree, tree.unowned()
            notes["tree_summed"] = {"from": view.now, "at": view.now, "due": view.now}
            notes["tree_ranks"] = {}
        used, clock = notes["tree_usage"], notes["tree_summed"]
        if (view.now - clock["from"]) / self.halflife > MOST_HALVES:
            worth = exp2((clock["from"] - view.now) / self.halflife)
            notes["tree_usage"] = used = {at: amount * worth for at, amount in used.items()}
            clock["from"] = view.now
        begin, end = (exp2((time - clock["from"]) / self.halflife) for time in (clock["at"], view.now))
        gained = (end - begin) * self.halflife / log(2)
        for job in (*(run.job for run in view.running.values()), *view.completed, *view.ousted):
            used[tree.leaf[job.rank]] += job.procs * gained
        clock["at"] = view.now
        if view.now >= clock["due"]:
            clock["due"] = view.now + self.period
            notes["tree_ranks"] = tree.factors(used)
        ranks: Mapping[int, float] = notes["tree_ranks"]
        return ranks

    def _in_tree(
        self, view: Moment, accounts: Sequence[str], kept: float, gained: float
    ) -> dict[tuple[str, int], float]:
        """Return the usage of each user in each account up to now, as a mapping from (account, user) to
        processor-hours.

        `accounts` has the account of each job, by rank. `kept` is the factor by which earlier usage has decayed since
        the last pass; `gained` is the usage that one busy processor adds in this time.
        """
        usage: dict[tuple[str, int], float] = view.notes.setdefault("tree", {})
        for pair in usage:
            usage[pair] *= kept
        for job in (*(run.job for run in view.running.values()), *view.completed, *view.ousted):
            pair = accounts[job.rank], job.user
            usage[pair] = usage.get(pair, 0.0) + job.procs * gained
        for job in view.arrived:
            usage.setdefault((accounts[job.rank], job.user), 0.0)
        return usage

    def in_partition(self, job: Job, factor: float) -> float:
        return self.partition * (self.factors[job.rank] - factor) if self.factors else 0.0

    def key(self, job: Job, now: float) -> float:
        age = min((now - job.submit) / self.maxage, 1.0)
        if self.leaf:
            fair = self.ranks.get(self.leaf[job.rank], 0.0)
        elif self.accounts:
            fair = exp2(-self.ratios.get((self.accounts[job.rank], job.user), 0.0))
        else:
            fair = exp2(-self.usage.get(job.user, 0.0) / self.total * len(self.usage)) if self.total else 1.0
        size = min(1, job.procs / self.procs)
        size = (size + self.node_parts[job.rank]) / 2 if self.node_parts else size
        size = size if self.favour == "large" else 1 - size
        others = self.partition * self.factors[job.rank] if self.factors else 0.0
        others += self.qos * self.qos_factors[job.rank] if self.qos_factors else 0.0
        return -(self.age * age + self.fairshare * fair + self.size * size + others)


def _ratios(usage: Mapping[tuple[str, int], float]) -> Mapping[tuple[str, int], float]:
    """Return the effective usage of each user in each account as a multiple of the user's share (Slurm's formula).

    >>> {pair: round(ratio, 2) for pair, ratio in _ratios({("a", 1): 3.0, ("a", 2): 0.0, ("b", 3): 1.0}).items()}
    {('a', 1): 3.0, ('a', 2): 1.5, ('b', 3): 0.5}
    """
    total, users, used = sum(usage.values()), Counter[str](), defaultdict[str, float](float)
    for (account, _), amount in usage.items():
        users[account] += 1
        used[account] += amount
    return {
        (account, user): (amount + (used[account] - amount) / users[account]) / total * len(users) * users[account]
        if total
        else 0.0
        for (account, user), amount in usage.items()
    }
