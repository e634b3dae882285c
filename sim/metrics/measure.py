"""All metrics of a schedule together, for `run --format json` and for the screens."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from sim.engine.schedule import Schedule
from sim.metrics import groups
from sim.metrics.aggregates import Value, aggregates, fragmentation
from sim.metrics.finished_jobs import FinishedJobs
from sim.metrics.groups import GroupRow
from sim.workload.categories import TAU
from sim.workload.model import Field


class Group(NamedTuple):
    """Way to group jobs: a name, a title, and a function that returns a row for each group."""

    name: str
    title: str
    rows: Callable[[FinishedJobs], list[GroupRow]]


GROUPS = (
    Group("category", "Kettimuthu's 16 categories: run time and width", groups.by_category),
    Group("coarse_category", "Kettimuthu's 4 categories: short/long, narrow/wide", groups.by_coarse_category),
    Group("class", "Lawson and Smirni's classes by estimate", groups.by_class),
    Group("width_class", "Zhang's small and large jobs", groups.by_width_class),
    Group("estimate_quality", "well and poorly estimated jobs", groups.by_estimate_quality),
    Group("estimator", "Zhang's classes of estimators: run time over estimate", groups.by_estimator),
    Group("priority", "priority", groups.by_priority),
    Group("queue", "queue", groups.by_queue),
    Group("month", "month of submission", groups.by_month),
    Group("batch", "batches of 1,000 submissions", groups.by_batch),
)

PARTIES = (
    Group("user", "user", partial(groups.by_party, Field.USER)),
    Group("group", "group of users", partial(groups.by_party, Field.GROUP)),
    Group("account", "account", groups.by_account),
)
TAIL = Group("tail", "tails: so many percent of the jobs have less", groups.by_tail)
"""Grouping by percentiles, which is computed only on request."""


def group_of(name: str) -> Group | None:
    """Return a grouping or a combination of two, such as "class,priority"; None if unknown, or if two do not fit."""
    known = {group.name: group for group in (*GROUPS, *PARTIES, TAIL)}
    first, comma, second = (part.strip() for part in name.partition(","))
    if not comma:
        return known.get(first)
    one, other = known.get(first), known.get(second)
    if one is None or other is None or TAIL in (one, other) or one is other:
        return None

    def rows(jobs: FinishedJobs) -> list[GroupRow]:
        return groups.crossed(one.rows(jobs), other.rows(jobs), jobs)

    return Group(name, f"{one.title}, and {other.title}", rows)


@dataclass(frozen=True)
class Metrics:
    """Metrics of one schedule as plain values, ready for JSON and CSV."""

    policy: str
    values: dict[str, Value]
    groups: dict[str, list[GroupRow]]

    def __repr__(self) -> str:
        return f"<Metrics {self.policy}: {len(self.values)} numbers, {len(self.groups)} ways to group jobs>"

    def as_dict(self) -> dict[str, Any]:
        """Return the metrics as `{"policy": ..., "metrics": {name: value}, "groups": {name: [row, ...]}}`."""
        rows = {name: [row.as_dict() for row in found] for name, found in self.groups.items()}
        return {"policy": self.policy, "metrics": dict(self.values), "groups": rows}


def measure(schedule: Schedule, killed: bool = True, tau: float = TAU, also: Iterable[Group] = ()) -> Metrics:
    """Return all metrics of a schedule and its groups; `tau` is the least run time in bounded slowdowns."""
    jobs = FinishedJobs.of(schedule, killed, tau)
    values = {**aggregates(jobs), **fragmentation(schedule)}
    found = {group.name: [row.without_members() for row in group.rows(jobs)] for group in (*GROUPS, *also)}
    return Metrics(schedule.policy, values, found)
