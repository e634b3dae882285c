"""Kettimuthu (2003), figures 3.1, 3.3 and 3.5: what suspending jobs does to each of his sixteen categories, on CTC.

    python tests/benchmarks/findings_k.py ../shared/traces

Estimates are exact and suspending is free, as in his chapter 3. The slowdown is bounded as he bounds it:
1 + idle time / max(run, 10 s). His subset of the log used 51 % of 430 processors under EASY; so do its first
5,000 jobs, whose slowdowns under EASY are his but for the very short. `--jobs 0` takes the whole log, which uses 66 %;
it takes long.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from sim.engine.schedule import Schedule
from sim.metrics.aggregates import Value, aggregates
from sim.metrics.groups import by_category
from sim.workload.categories import CATEGORIES
from sim.workload.transforms import Transforms
from tests.benchmarks.report import CTC, TRACES, load, plain, show, simulate

POLICIES = {
    "NS": "easy",
    "SS 1.5": "selective:sf=1.5",
    "SS 2": "selective:sf=2",
    "SS 5": "selective:sf=5",
    "IS": "immediate",
    "TSS 2": "tunable:sf=2",
}
NS_PUBLISHED = (
    (2.6, 4.76, 13.01, 34.07),
    (1.26, 1.76, 3.04, 7.14),
    (1.13, 1.43, 1.88, 1.63),
    (1.03, 1.05, 1.09, 1.15),
)
"""Table 2.3: mean slowdown without suspension; a row a length, a column a width. All jobs: 3.58."""
SHARE_PUBLISHED = tuple(zip((14, 8, 13, 9), (18, 4, 6, 2), (6, 3, 9, 2), (2, 2, 1, 1), strict=True))
"""Table 2.2: percent of the jobs. The thesis prints it with rows and columns exchanged."""


def by_name(schedules: dict[str, Schedule], metric: str) -> dict[str, list[Value]]:
    """A metric of each category, then of all jobs, under each policy."""
    return {
        name: [*(row.values[metric] for row in by_category(schedule)), aggregates(schedule)[metric]]
        for name, schedule in schedules.items()
    }


def figure_3_1(schedules: dict[str, Schedule]) -> Iterator[list[str]]:
    """A row a category: its share of the jobs and its mean slowdowns, beside the paper's."""
    means = by_name(schedules, "mean_bounded_slowdown")
    rows = by_category(schedules["NS"])
    total = sum(row.jobs for row in rows)
    shares = [f"{share} %" for length in SHARE_PUBLISHED for share in length] + ["100 %"]
    published = [f"{slowdown:.2f}" for length in NS_PUBLISHED for slowdown in length] + ["3.58"]
    counts = [row.jobs for row in rows] + [total]
    for i, label in enumerate([*(kind.label for kind in CATEGORIES), "all"]):
        yield [label, shares[i], f"{counts[i] / total:.0%}", published[i], *(plain(means[name][i]) for name in means)]


def figures_3_3_and_3_5(schedules: dict[str, Schedule]) -> Iterator[list[str]]:
    """A row a category: the slowdown of the job worst off."""
    worst = by_name(schedules, "max_bounded_slowdown")
    for i, label in enumerate([*(kind.label for kind in CATEGORIES), "all"]):
        yield [label, *(plain(worst[name][i]) for name in ("NS", "IS", "SS 2", "TSS 2"))]


def machine(schedules: dict[str, Schedule]) -> Iterator[list[str]]:
    """A row a policy: what it makes of the machine, and how often it suspends."""
    for name, schedule in schedules.items():
        values = aggregates(schedule)
        makespan = plain((values["makespan"] or 0) / 86400, 1)
        suspensions = plain(values["preemptions"], 0)
        yield [f"{name} `{POLICIES[name]}`", plain(values["utilization"]), makespan, suspensions]


def main() -> None:
    """Print the three tables."""
    parser = argparse.ArgumentParser(description="K: selective suspension by category")
    parser.add_argument("traces", nargs="?", type=Path, default=Path(TRACES), help="the folder of the logs")
    parser.add_argument("--jobs", type=int, default=5000, help="only the first so many jobs; 0: all")
    parser.add_argument("--procs", type=int, default=430, help="processors (K: 430)")
    parser.add_argument("--estimates", default="exact", help="as in schedscope run")
    options = parser.parse_args()
    workload = load(
        options.traces / CTC, options.procs, Transforms(jobs=options.jobs or None, estimates=options.estimates)
    )
    schedules = {name: simulate(workload, spec) for name, spec in POLICIES.items()}
    about = f"{len(workload):,} jobs on {workload.procs} processors, estimates {options.estimates}"
    head = ["category", "K jobs", "jobs", "K NS", *schedules]
    show(f"K figure 3.1: mean slowdown, {about}", head, figure_3_1(schedules))
    show(
        "K figures 3.3 and 3.5: worst slowdown",
        ["category", "NS", "IS", "SS 2", "TSS 2"],
        figures_3_3_and_3_5(schedules),
    )
    show("The machine", ["policy", "utilization", "makespan (days)", "suspensions"], machine(schedules))


if __name__ == "__main__":
    main()
