"""Fair share ahead: which of an account's users come first while their usage grows.

Slurm ranks users by their past usage anew every few minutes. A user who waits overtakes another whose jobs run, so the
order of the queue does not last.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from math import exp2, inf
from typing import TYPE_CHECKING

from sim.live.cluster.values import Cluster, ClusterJob
from sim.live.forecast.in_partitions import ByPriority, without
from sim.policies.orders import Order
from sim.workload.model import Job

if TYPE_CHECKING:
    from sim.engine.moment import Moment

HALF_LIFE = 7 * 86400.0
"""Seconds after which usage counts half. It is Slurm's default, because recordings do not have the value of a site."""
PERIOD = 60.0
"""Seconds after which a forecast ranks users anew."""
NAME = "fairshare"
"""Name of the part of a priority that fair share contributes."""

User = tuple[str, str]
"""Account and name of a user."""


class FairShares:
    """Usage of each user, as far as pictures (polled states) of a cluster show it. Pictures must be added in order of
    time.

    The usage before the first picture is not known, and so it is not known by how much one user is ahead of another.
    Only users who were seen to overtake another one, or to have equal points, change their places in forecasts: at that
    moment both had used the same.
    """

    def __init__(self) -> None:
        self._usage: dict[User, float] = {}
        """For each user: core seconds used, of which older ones count less."""
        self._points: dict[User, float] = {}
        """For each user who had waiting jobs: points that fair share gave to these jobs when they were last seen."""
        self._moving: frozenset[User] = frozenset()
        """Users that two pictures showed overtaking each other, or that had equal points."""
        self._at = -inf

    def see(self, cluster: Cluster) -> None:
        """Add the next picture."""
        kept = exp2((self._at - cluster.at) / HALF_LIFE)
        usage = {user: left for user, used in self._usage.items() if (left := used * kept) >= 1}
        for job in cluster.jobs:
            if job.start is None or not (job.is_running or job.has_ended):
                continue
            until = cluster.at if job.is_running or job.end is None else min(job.end, cluster.at)
            if (since := until - max(job.start, self._at)) > 0:
                usage[_user(job)] = usage.get(_user(job), 0.0) + since * job.cpus
        now = _points_of(cluster)
        for users in _by_account(now):
            self._compare(sorted(users, key=lambda user: (-now[user], usage.get(user, 0.0))), now, usage)
        self._points |= now
        self._usage, self._at = usage, cluster.at

    def _compare(self, users: Sequence[User], now: Mapping[User, float], usage: dict[User, float]) -> None:
        """Correct the usage of an account's users; the users with the most points come first. Each has used at least as
        much as the users before. If two have just overtaken each other for the first time, they have used the
        same.
        """
        for better, worse in pairwise(users):
            was = self._points.get(better, inf) - self._points.get(worse, -inf)
            if was < 0 or now[better] == now[worse]:
                is_new = not self._moving.issuperset((better, worse))
                self._moving |= {better, worse}
                if is_new:
                    usage[worse] = usage.get(better, 0.0)
            usage[worse] = max(usage.get(worse, 0.0), usage.get(better, 0.0))

    def order(
        self, cluster: Cluster, jobs: Sequence[ClusterJob], best: Sequence[float] = (), weight: float = 0.0
    ) -> Order | None:
        """Return the order of these jobs for a simulation that begins at the picture `cluster`, in which their indices
        are their ranks; None if the order of the priorities lasts, as far as is known. `best` and `weight` are those of
        `ByPriority`.
        """
        points = _points_of(cluster)
        if all(len(self._moving.intersection(users)) < 2 for users in _by_account(points)):
            return None
        users = [_user(job) for job in jobs]
        own = [job.priority - points.get(user, 0.0) for job, user in zip(jobs, users, strict=True)]
        cores = [job.cpus for job in jobs]
        return _ByShares(own, best, weight, users, cores, self._usage, points, self._moving)


@dataclass(frozen=True)
class _ByShares(ByPriority):
    """The greatest priority first, while points of fair share change hands as the usage of an account's users grows.

    The priorities in `own` lack the points of the jobs' users.
    """

    users: Sequence[User] = field(default=(), repr=False, compare=False)
    cores: Sequence[int] = field(default=(), repr=False, compare=False)
    usage: Mapping[User, float] = field(default_factory=dict, repr=False, compare=False)
    """For each user: core seconds used before the simulation begins."""
    points: Mapping[User, float] = field(default_factory=dict, repr=False, compare=False)
    moving: frozenset[User] = field(default=frozenset(), repr=False, compare=False)

    def seeing(self, view: Moment) -> Order:
        """Return the order with the points that users have by their usage up to now."""
        usage: dict[User, float] = view.notes.setdefault("usage", {**self.usage})
        clock: dict[str, float] = view.notes.setdefault("clock", {"at": view.now, "due": view.now + PERIOD})
        since, clock["at"] = view.now - clock["at"], view.now
        for job in (*(run.job for run in view.running.values()), *view.completed):
            user = self.users[job.rank]
            usage[user] = usage.get(user, 0.0) + since * self.cores[job.rank]
        if clock["due"] <= view.now:
            clock["due"] = view.now + PERIOD
            view.notes["points"] = {**self.points, **_dealt(usage, self.points, self.moving)}
        return replace(self, points=view.notes.get("points", self.points))

    def key(self, job: Job, now: float) -> float:
        return -(self.own[job.rank] + self.points.get(self.users[job.rank], 0.0))


def _points_of(cluster: Cluster) -> dict[User, float]:
    """Return the points that fair share gives to each waiting user: what the other parts leave of a priority."""
    found = dict[User, float]()
    for job in cluster.queue:
        if job.priority and (parts := cluster.parts.get(job.number)):
            found[_user(job)] = round(
                job.priority - without(parts, NAME), -1
            )  # the age of the parts is of another minute
    return found


def _dealt(usage: Mapping[User, float], points: Mapping[User, float], moving: Iterable[User]) -> dict[User, float]:
    """Return the points of the moving users of each account dealt out anew: the most to the user who used least.

    >>> a, b, c = (("physics", name) for name in ("anna", "bert", "cleo"))
    >>> _dealt({a: 10, b: 20, c: 5}, {a: 1.0, b: 2.0, c: 3.0}, (a, b))
    {('physics', 'bert'): 1.0, ('physics', 'anna'): 2.0}
    """
    dealt = dict[User, float]()
    for users in _by_account(user for user in points if user in moving):
        users.sort(key=lambda user: (-usage.get(user, 0.0), points[user]))
        dealt |= zip(users, sorted(points[user] for user in users), strict=True)
    return dealt


def _by_account(users: Iterable[User]) -> Iterable[list[User]]:
    found = defaultdict[str, list[User]](list)
    for user in users:
        found[user[0]].append(user)
    return found.values()


def _user(job: ClusterJob) -> User:
    return job.account, job.user
