"""Limits of users, accounts, qualities of service and arrays on what their jobs may hold at the same time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sim.support.errors import TraceError
from sim.workload.limit_rules import EACH, SUBMITTED
from sim.workload.shape import Request, Shape

OWNERS = ("user", "account", "qos")
MOST_BOUNDS = 2**20
MOST_DEMANDS = 2**22
MOST_CHECKS = 2**26
"""Largest product of limits and jobs, because each job is compared with each limit."""


@dataclass(frozen=True, slots=True)
class Owned:
    """Owners of a job (user, account and quality of service), and the job array that it belongs to; "" for none."""

    user: str = ""
    account: str = ""
    qos: str = ""
    array: str = ""
    at_once: int = 0
    """Largest number of tasks of the array that may run at the same time; 0 for any number."""


@dataclass(frozen=True, slots=True)
class Bound:
    """Most of the resource `unit` that certain jobs (see `owner`) may hold together while they run."""

    reason: str
    most: int
    unit: str
    owner: str
    """Owner whose jobs count, as text, such as "user ann"; "all jobs" if the limit is for all."""


@dataclass(frozen=True)
class Limits:
    """All limits of a workload, and for each job the amounts that it takes of these limits."""

    bounds: tuple[Bound, ...]
    demands: tuple[tuple[tuple[int, int], ...], ...]
    """For each job by rank: pairs (index of the limit in `bounds`, amount that the job takes of it)."""
    submits: tuple[tuple[int, ...], ...] = ()
    """For each job by rank: indices of the limits on submitted jobs that count it; empty if there are none."""

    def take(self, index: Iterable[int]) -> Limits:
        jobs = list(index)
        submits = tuple(self.submits[job] for job in jobs) if self.submits else ()
        return Limits(self.bounds, tuple(self.demands[job] for job in jobs), submits)

    def with_unlimited(self, jobs: int) -> Limits:
        """Return the limits with further jobs at the end, to which none of them applies."""
        none: tuple[tuple[()], ...] = ((),) * jobs
        return Limits(self.bounds, self.demands + none, self.submits + none if self.submits else ())

    def never(self) -> Mapping[str, NDArray[np.bool_]]:
        """Return the reason of a limit -> True for each job that alone exceeds it, and so can never start.

        >>> wide = Limits((Bound("AssocGrpCpuLimit", 4, "cores", "account a"),), (((0, 5),), ((0, 4),)))
        >>> {why: where.tolist() for why, where in wide.never().items()}
        {'exceeds a limit alone (AssocGrpCpuLimit)': [True, False]}
        """
        found: dict[str, NDArray[np.bool_]] = {}
        for job, demands in enumerate(self.demands):
            for number, amount in demands:
                if amount > self.bounds[number].most:
                    why = f"exceeds a limit alone ({self.bounds[number].reason})"
                    found.setdefault(why, np.zeros(len(self.demands), np.bool_))[job] = True
                    break
        return found


def limits_of(shape: Shape, jobs: Sequence[Owned]) -> Limits | None:
    """Return the limits of a machine for these jobs; None if no limit applies to any job."""
    bounds: list[Bound] = []
    demands: list[tuple[tuple[int, int], ...]] = []
    numbers: dict[object, int] = {}
    submits: list[tuple[int, ...]] = []
    resources = {*shape.kinds, "jobs", "nodes", SUBMITTED}
    rules = [(at, rule) for at, rule in enumerate(shape.limits) if rule.resource in resources]

    if len(rules) * len(jobs) > MOST_CHECKS:
        raise TraceError(f"has {len(rules):,} limits for {len(jobs):,} jobs, too many to compare; name fewer limits")
    total = 0

    def number(key: object, bound: Bound) -> int:
        if key not in numbers:
            if len(bounds) == MOST_BOUNDS:
                raise TraceError(f"has more than {MOST_BOUNDS:,} limits; name fewer users in [[limit]]")
            numbers[key] = len(bounds)
            bounds.append(bound)
        return numbers[key]

    for job, request in zip(jobs, shape.requests, strict=True):
        own: list[tuple[int, int]] = []
        counted: list[int] = []
        for at, rule in rules:
            names = tuple(getattr(job, kind) for kind, _ in rule.owners)
            pairs = [*zip(names, rule.owners, strict=True)]
            if not all(name and wanted in (EACH, name) for name, (_, wanted) in pairs):
                continue
            owner = " of ".join(f"{kind} {name}" for name, (kind, _) in pairs)
            bound = Bound(rule.reason, rule.most, rule.resource, owner or "all jobs")
            if rule.resource == SUBMITTED:
                counted.append(number((at, names), bound))
            elif amount := _amount(rule.resource, request, shape):
                own.append((number((at, names), bound), amount))
        if job.array and job.at_once:
            bound = Bound("JobArrayTaskLimit", job.at_once, "jobs", f"array {job.array}")
            own.append((number(job.array, bound), 1))
        total += len(own) + len(counted)
        if total > MOST_DEMANDS:
            raise TraceError(f"its jobs meet limits more than {MOST_DEMANDS:,} times; name fewer limits")
        demands.append(tuple(own))
        submits.append(tuple(counted))
    return Limits(tuple(bounds), tuple(demands), tuple(submits) if any(submits) else ()) if bounds else None


def _amount(resource: str, request: Request, shape: Shape) -> int:
    nodes = request.nodes if request.nodes is not None else request.least
    if resource in ("jobs", "nodes"):
        return 1 if resource == "jobs" else nodes
    kind = shape.kinds.index(resource)
    once = request.per_node[kind] if request.per_node else 0
    return request.each[kind] * (request.tasks or request.nodes or 0) + once * nodes


class LimitUse:
    """Amounts of the limited resources that the running jobs hold now, counted for each limit."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.used: dict[int, int] = defaultdict(int)
        """Mapping from the index of a limit in `limits.bounds` to the amount that running jobs hold"""
        self.submitted: dict[int, int] = defaultdict(int)
        """Mapping from the index of a limit to the number of waiting and running jobs that count against it"""

    def copy(self) -> LimitUse:
        twin = LimitUse(self.limits)
        twin.used.update(self.used)
        twin.submitted.update(self.submitted)
        return twin

    def submit(self, rank: int) -> str:
        """Count the job as submitted. If a limit on submitted jobs forbids that, return text on this limit instead."""
        numbers = self.limits.submits[rank] if self.limits.submits else ()
        for number in numbers:
            bound = self.limits.bounds[number]
            if self.submitted[number] >= bound.most:
                return f"{bound.reason}: {bound.owner} has {self.submitted[number]:,} of {bound.most:,} jobs submitted"
        self._count(numbers, 1)
        return ""

    def leave(self, rank: int) -> None:
        self._count(self.limits.submits[rank] if self.limits.submits else (), -1)

    def _count(self, numbers: Iterable[int], sign: int) -> None:
        for number in numbers:
            self.submitted[number] += sign

    def add(self, rank: int, sign: int = 1) -> bool:
        """Count the job as started or, with `sign=-1`, as ended. Return True if any limit applies to the job."""
        for number, amount in self.limits.demands[rank]:
            self.used[number] += sign * amount
        return bool(self.limits.demands[rank])

    def over(self, rank: int) -> tuple[Bound, int, int] | None:
        """Return (limit, in use, taken by the job) of the first limit that its start would exceed, or None."""
        for number, amount in self.limits.demands[rank]:
            bound = self.limits.bounds[number]
            if self.used[number] + amount > bound.most:
                return bound, self.used[number], amount
        return None
