"""Tree of accounts with shares and past usage, and Slurm's Fair Tree, which ranks the users in it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from math import inf

from sim.workload.model import Field, Workload
from sim.workload.shape import ShareEntry

ROOT = "root"
"""Name of the account at the root of Slurm's tree; an account without parent has this parent."""
DEEPEST = 50
"""Greatest depth of an account in the tree; a deeper one counts as if it were below the root."""


class ShareTree:
    """Tree of accounts in which each job belongs to a user; missing accounts and users have one share each."""

    def __init__(self, entries: Iterable[ShareEntry], jobs: Iterable[tuple[str, str]]) -> None:
        known = {(each.account, each.user): each for each in entries}
        leaves = [*jobs]
        for account, user in dict.fromkeys(leaves):
            known.setdefault((account, ""), ShareEntry(account))
            known.setdefault((account, user or "?"), ShareEntry(account, user or "?"))
        for account in {each.account for each in known.values()} - {account for account, user in known if not user}:
            known[account, ""] = ShareEntry(account)
        self.entries: tuple[ShareEntry, ...] = tuple(known.values())
        numbers = {key: at for at, key in enumerate(known)}
        self.leaf: tuple[int, ...] = tuple(numbers[account, user or "?"] for account, user in leaves)
        """For each job by rank: index of its user in `entries`"""
        self._accounts = {account: at for (account, user), at in numbers.items() if not user}

    def copy(self) -> ShareTree:
        return self

    @cached_property
    def _accounts_above(self) -> tuple[tuple[int, ...], ...]:
        """Return for each entry the indices of the accounts above it, the nearest first; the root is left out."""
        return tuple(self._chain(each) for each in self.entries)

    def _chain(self, entry: ShareEntry) -> tuple[int, ...]:
        found, name = list[int](), entry.account if entry.user else entry.parent
        while name and name != ROOT and name in self._accounts:
            found.append(self._accounts[name])
            name = self.entries[found[-1]].parent
            if len(found) > DEEPEST:
                return ()  # too deep, or accounts in a circle
        return tuple(at for at in found if self.entries[at].shares is not None)

    @cached_property
    def _below(self) -> Mapping[int, Sequence[int]]:
        found: dict[int, list[int]] = {-1: []}
        for at, (each, above) in enumerate(zip(self.entries, self._accounts_above, strict=True)):
            if each.user or (each.shares is not None and each.account != ROOT):
                found.setdefault(above[0] if above else -1, []).append(at)
        return found

    def unowned(self) -> dict[int, float]:
        """Return the usage before the trace in processor seconds; of accounts what the entries below do not explain."""
        left = {at: each.usage for at, each in enumerate(self.entries)}
        for parent, children in self._below.items():
            if parent >= 0:
                left[parent] = max(left[parent] - sum(self.entries[at].usage for at in children), 0.0)
        if ROOT in self._accounts:
            at = self._accounts[ROOT]
            left[at] = max(left[at] - sum(self.entries[child].usage for child in self._below[-1]), 0.0)
        return left

    def factors(self, usage: Mapping[int, float]) -> dict[int, float]:
        """Return the fair share factor of each user, by index: the rank from below over the number of users.

        `usage` maps entries to their own usage, without that of the entries below. The level of an entry is its part of
        the shares at its place over its part of the usage there. Entries with the highest level come first with all
        users in them, and so do the entries in each account. Users with the same level have the same rank, and accounts
        with the same level are ranked as one.

        >>> tree = ShareTree([ShareEntry("a", shares=3), ShareEntry("b")], [("a", "ann"), ("a", "bob"), ("b", "cy")])
        >>> names = [entry.user for entry in tree.entries]
        >>> {names[at]: round(factor, 2) for at, factor in tree.factors({2: 20.0, 3: 40.0, 4: 30.0}).items()}
        {'ann': 1.0, 'bob': 0.67, 'cy': 0.33}
        """
        total = [0.0] * len(self.entries)
        root = 0.0
        for at, amount in usage.items():
            root += amount
            total[at] += amount
            for account in self._accounts_above[at]:
                total[account] += amount
        levels = [inf] * len(self.entries)
        for parent, children in self._below.items():
            shares = sum(self.entries[at].shares or 0 for at in children)
            used = total[parent] if parent >= 0 else root
            for at in children:
                levels[at] = _level(self.entries[at].shares, shares, total[at], used)
        found: dict[int, float] = {}
        users = sum(bool(each.user) for each in self.entries)
        self._rank(self._below[-1], levels, found, users, users, is_tied=False)
        return {at: rank / users for at, rank in found.items()}

    def _rank(
        self,
        places: Sequence[int],
        levels: Sequence[float],
        found: dict[int, float],
        rank: int,
        next: int,
        is_tied: bool,
    ) -> tuple[int, int]:
        """Add the ranks of all users at and below these entries to `found`; return the last rank and the next one."""
        order = sorted(places, key=lambda at: (-levels[at], not self.entries[at].user))
        before: float | None = None
        at = 0
        while at < len(order):
            level = levels[order[at]]
            tied = is_tied if at == 0 and is_tied else before == level
            if self.entries[order[at]].user:
                rank = rank if tied else next
                found[order[at]] = rank
                next, at = next - 1, at + 1
            else:
                last = at
                while last < len(order) and levels[order[last]] == level:
                    last += 1
                merged = order[at:last]
                children = [child for one in merged for child in self._below.get(one, ())]
                rank, next = self._rank(children, levels, found, rank, next, tied)
                at = last
            before = level
        return rank, next


def share_trees(workload: Workload) -> Callable[[], ShareTree]:
    """Return a maker of the tree of all jobs' accounts and users; a policy can reach it, so it has no run times."""
    words, numbers = workload.names.get(Field.USER, ()), workload.user
    known, shape = workload.accounts, workload.shape

    def made() -> ShareTree:
        users = [words[of] if 0 <= of < len(words) else str(of) if of >= 0 else "" for of in numbers.tolist()]
        return ShareTree(shape.accounts if shape else (), zip(known or [ROOT] * len(users), users, strict=True))

    return made


def _level(own: int | None, shares: int, usage: float, used: float) -> float:
    """Return the part of the shares over the part of the usage; infinite if nothing was used, 0 without shares."""
    if own is None:
        return inf
    if not own:
        return 0.0
    return own / shares / (usage / used) if usage and used else inf
