"""Queue orders computed by their formulas, and each user's past usage for Slurm's priority."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import exp2, inf, log, log2, log10
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from tests.truth.world import Work, World

Key: TypeAlias = "Callable[[World, Work, float], float]"
WEEK = 604800.0


def key(world: World, job: Work) -> float:
    return KEYS[world.rules.get("order", "fcfs")](world, job, world.now - job.submit)


def power(base: float, exponent: float) -> float:
    return inf if not base and exponent < 0 else base**exponent


def ward(world: World, job: Work, wait: float) -> float:
    given = (float(world.rules.get(name, usual)) for name, usual in (("alpha", 1), ("beta", -1), ("gamma", 1)))
    alpha, beta, gamma = given
    return -(power(wait / 3600, alpha) * power(job.estimate / 3600, beta) * power(job.procs / 32, gamma))


def multifactor(world: World, job: Work, wait: float) -> float:
    age, fairshare, size, maxage = (
        float(world.rules.get(name, usual))
        for name, usual in (("age", 1000), ("fairshare", 10000), ("size", 1000), ("maxage", WEEK))
    )
    width = min(1, job.procs / max(1, world.size()))
    width = 1 - width if world.rules.get("favour", "large") == "small" else width
    return -(age * min(wait / maxage, 1) + fairshare * exp2(-world.usage.share(job.user)) + size * width)


KEYS: Mapping[str, Key] = {
    "fcfs": lambda world, job, wait: job.submit,
    "sjf": lambda world, job, wait: job.estimate,
    "ljf": lambda world, job, wait: -job.estimate,
    "saf": lambda world, job, wait: job.estimate * job.procs,
    "narrow": lambda world, job, wait: job.procs,
    "wide": lambda world, job, wait: -job.procs,
    "xfactor": lambda world, job, wait: -(wait + job.estimate) / job.estimate,
    "delay": lambda world, job, wait: -(1 / job.estimate + float(world.rules.get("weight", 0.001)) * wait),
    "ward": ward,
    "wfp3": lambda world, job, wait: -((wait / job.estimate) ** 3 * job.procs),
    "unicef": lambda world, job, wait: -(wait / (max(1, log2(job.procs)) * job.estimate)),
    "f1": lambda world, job, wait: log10(max(job.estimate, 1)) * job.procs + 870 * log10(max(job.submit, 1)),
    "multifactor": multifactor,
}


class Usage:
    """Each user's processor hours since the policy took over, decayed with a half-life."""

    def __init__(self) -> None:
        self.of: dict[int, float] = {}
        self.at = -inf

    def grow(self, world: World, now: float) -> None:
        """Let past usage decay until now, and add that of the running jobs."""
        halflife = float(world.rules.get("halflife", WEEK))
        kept = 1.0 if self.at == -inf else exp2(-(now - self.at) / halflife)
        gained = (1 - kept) * halflife / log(2) / 3600
        self.at, self.of = now, {user: hours * kept for user, hours in self.of.items()}
        for rank in world.running:
            self.see(world.jobs[rank].user, world.jobs[rank].procs * gained)

    def see(self, user: int, more: float = 0.0) -> None:
        self.of[user] = self.of.get(user, 0.0) + more

    def share(self, user: int) -> float:
        total = sum(self.of.values())
        return self.of.get(user, 0.0) / total * len(self.of) if total else 0.0
