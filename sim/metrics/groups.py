"""Statistics of groups of jobs, as the papers form them; each group has a row of metrics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from sim.metrics.aggregates import Value, guarantee_ratios, reservation_delays, statistics
from sim.metrics.finished_jobs import FinishedJobs
from sim.support.errors import ParameterError
from sim.workload.categories import CATEGORIES, COARSE, Category, category, coarse_category
from sim.workload.model import Bools, Field, Ints

LS_CLASSES = (
    Category("short", "estimate < 1000 s"),
    Category("medium", "1000 s <= estimate < 10000 s"),
    Category("long", "estimate >= 10000 s"),
)
SMALL = 32
BATCH = 1000
PERIOD = 30 * 86400
"""Length in seconds of the periods that replace months if the calendar is unknown."""


@dataclass(frozen=True)
class GroupRow:
    """Statistics of one group: its label, its meaning in words, and the metrics of its jobs by name."""

    label: str
    meaning: str
    values: dict[str, Value]
    members: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64), compare=False, repr=False)
    """Ranks of the group's jobs, in an array because millions of them would need much more memory in a tuple."""

    @property
    def jobs(self) -> int:
        return int(self.values["jobs"] or 0)

    def without_members(self) -> GroupRow:
        """Return the row without `members`, which for a dozen groupings would need more memory than the jobs."""
        return GroupRow(self.label, self.meaning, self.values)

    def as_dict(self) -> dict[str, str | Value]:
        return {"label": self.label, "meaning": self.meaning, **self.values}


def by_category(jobs: FinishedJobs) -> list[GroupRow]:
    """Return a row for each of Kettimuthu's sixteen categories, by run time and processors."""
    return _rows(jobs, category(jobs.run, jobs.width), CATEGORIES)


def by_coarse_category(jobs: FinishedJobs) -> list[GroupRow]:
    return _rows(jobs, coarse_category(jobs.run, jobs.width), COARSE)


def by_class(jobs: FinishedJobs) -> list[GroupRow]:
    """Return a row for each class of estimates of Lawson & Smirni."""
    return _rows(jobs, np.searchsorted((1000, 10000), jobs.estimate, side="right"), LS_CLASSES)


def by_width_class(jobs: FinishedJobs) -> list[GroupRow]:
    """Return a row for small jobs, of at most `SMALL` processors, and one for large jobs (Zhang et al. 2000)."""
    names = (Category("small", f"<= {SMALL} processors"), Category("large", f"> {SMALL} processors"))
    return _rows(jobs, _numbered(jobs.width > SMALL), names)


def well_estimated(jobs: FinishedJobs) -> Bools:
    """Return True for each job whose estimate is at most twice its run time, after Kettimuthu."""
    return jobs.estimate <= 2 * jobs.run


def by_estimate_quality(jobs: FinishedJobs) -> list[GroupRow]:
    names = (Category("well", "estimate <= 2 run times"), Category("poorly", "estimate > 2 run times"))
    return _rows(jobs, _numbered(~well_estimated(jobs)), names)


def by_estimator(jobs: FinishedJobs) -> list[GroupRow]:
    """Return a row for each tenth of the ratio of run time to estimate; the worst estimates come first."""
    index = np.clip(np.ceil(10 * jobs.run / jobs.estimate).astype(np.int64) - 1, 0, 9)
    shares = [(f"{10 * i}-{10 * i + 10} %", f"{10 * i} % < run time / estimate <= {10 * i + 10} %") for i in range(10)]
    return _rows(jobs, index, [Category(*share) for share in shares])


def by_priority(jobs: FinishedJobs) -> list[GroupRow]:
    names = (Category("high", "high priority"), Category("low", "low priority"))
    return _rows(jobs, _numbered(~jobs.column(jobs.workload.high)), names)


def by_queue(jobs: FinishedJobs) -> list[GroupRow]:
    numbers, index = np.unique(jobs.column(jobs.workload.queue), return_inverse=True)
    words, titles = jobs.workload.names.get(Field.QUEUE, ()), jobs.workload.header.queues
    names = []
    for number in numbers.tolist():
        word = words[number] if 0 <= number < len(words) else titles.get(number, "")
        names.append(Category(word or (f"queue {number}" if number >= 0 else "none"), f"queue {number}"))
    return _rows(jobs, index, names)


def by_account(jobs: FinishedJobs) -> list[GroupRow]:
    accounts = np.array(jobs.workload.accounts or [""] * len(jobs.workload), dtype=object)
    names, index = np.unique(jobs.column(accounts), return_inverse=True)
    rows = _rows(jobs, index, [Category(name or "none", f"account {name}") for name in names.tolist()])
    return sorted(rows, key=lambda row: -row.jobs)


def by_party(field: Field, jobs: FinishedJobs) -> list[GroupRow]:
    """Return a row for each user, or for each group of users, the one with most jobs first."""
    of = jobs.workload
    numbers, index = np.unique(jobs.column(of.user if field is Field.USER else of.group), return_inverse=True)
    kind = field.name.lower()
    names = [Category(of.called(field, number) or "none", f"{kind} {number}") for number in numbers.tolist()]
    return sorted(_rows(jobs, index, names), key=lambda row: -row.jobs)


def by_month(jobs: FinishedJobs) -> list[GroupRow]:
    """Return a row for each calendar month (UTC) of submission, or each 30 days if the trace has no date."""
    begin = jobs.workload.header.unix_start
    if begin is not None:
        stamps = np.floor(jobs.submit + begin).astype("datetime64[s]").astype("datetime64[M]")
        months, index = np.unique(stamps, return_inverse=True)
        return _rows(jobs, index, [Category(str(month), f"submitted in {month}") for month in months])
    first = jobs.workload.submit.min(initial=np.inf)
    periods, index = np.unique(((jobs.submit - first) // PERIOD).astype(np.int64), return_inverse=True)
    names = [f"days {30 * p}-{30 * (p + 1)}" for p in periods.tolist()]
    return _rows(jobs, index, [Category(name, f"submitted in {name}") for name in names])


def by_batch(jobs: FinishedJobs, size: int = BATCH) -> list[GroupRow]:
    """Return a row for each batch of `size` successive submissions; only its finished jobs count."""
    if size < 1:
        raise ParameterError(f"a batch has at least 1 job, got {size}")
    names = []
    for first in range(0, len(jobs.workload), size):
        label = f"{first + 1}-{min(first + size, len(jobs.workload))}"
        names.append(Category(label, f"submissions {label}"))
    return _rows(jobs, jobs.ranks // size, names)


PERCENTS = (50, 75, 90, 95, 99, 99.9)


def by_tail(jobs: FinishedJobs) -> list[GroupRow]:
    """Return a row for each percentile p, with the values that p percent of the jobs do not exceed."""
    columns = {
        "wait": jobs.wait,
        "turnaround": jobs.turnaround,
        "bounded_slowdown": jobs.bounded_slowdown,
        "reservation_delay": reservation_delays(jobs.schedule),
        "guarantee_ratio": guarantee_ratios(jobs.schedule),
    }
    found = {
        name: np.percentile(column, PERCENTS).tolist() if len(column) else None for name, column in columns.items()
    }
    return [
        GroupRow(f"{percent:g} %", f"{percent:g} % of the jobs have less, or as much",
            {"jobs": len(jobs), **{name: values and values[place] for name, values in found.items()}})
        for place, percent in enumerate(PERCENTS)
    ]  # fmt: skip


def crossed(first: Sequence[GroupRow], second: Sequence[GroupRow], jobs: FinishedJobs) -> list[GroupRow]:
    """Return a row for each pair of a group of `first` and a group of `second`, with the jobs that are in both."""
    rows = []
    for one in first:
        for other in second:
            members = np.intersect1d(one.members, other.members, assume_unique=True)
            found = statistics(FinishedJobs(jobs.schedule, members, jobs.tau))
            label, meaning = f"{one.label}, {other.label}", f"{one.meaning}; {other.meaning}"
            rows.append(GroupRow(label, meaning, found, members))
    return rows


def _rows(jobs: FinishedJobs, index: Ints, names: Sequence[Category]) -> list[GroupRow]:
    """Return a row for each of the groups `names`, even without jobs; `index` has each job's group from 0."""
    order = np.argsort(index, kind="stable")
    cuts = np.searchsorted(index[order], np.arange(len(names) + 1))
    rows = []
    for i, name in enumerate(names):
        members = np.sort(jobs.ranks[order[cuts[i] : cuts[i + 1]]])
        found = statistics(jobs if len(members) == len(jobs) else FinishedJobs(jobs.schedule, members, jobs.tau))
        rows.append(GroupRow(name.label, name.meaning, found, members))
    return rows


def _numbered(second: Bools) -> Ints:
    return second.astype(np.int64)
