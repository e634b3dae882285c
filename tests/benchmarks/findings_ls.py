"""Lawson & Smirni (2002), figures 3 and 10 and table 2: three queues against one, on the logs they used.

    python tests/benchmarks/findings_ls.py ../shared/traces

Both policies try jobs of at least 1000 s for 180 s. The slowdown of a job is 1 + (end - submit - run) / run; R is
(s1 - sm) / min(s1, sm) of the means with one queue and with three: above 0, three are better. A job that runs for a
second weighs a thousand times what one of a quarter of an hour does, so the second table leaves the shortest out.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from sim.engine.schedule import Schedule
from sim.metrics.aggregates import aggregates, ratio, statistics
from sim.metrics.finished_jobs import FinishedJobs
from sim.metrics.groups import by_class
from sim.workload.transforms import Transforms
from tests.benchmarks.report import CTC, KTH, SDSC_PAR, SDSC_SP2, TRACES, load, plain, show, signed, simulate


class Log(NamedTuple):
    """A log on the machine of the paper; `published` is table 2: asked for, missed with one queue and with three."""

    file: str
    procs: int
    published: tuple[tuple[int, int, int], ...]


LOGS = {
    "CTC": Log(CTC, 512, ((761, 19, 13), (3908, 90, 90), (19897, 1396, 1441))),
    "KTH": Log(KTH, 100, ((273, 9, 12), (1421, 45, 38), (7178, 567, 546))),
    "PAR": Log(SDSC_PAR, 416, ((374, 5, 1), (1873, 7, 9), (9543, 138, 119))),
    "SP2": Log(SDSC_SP2, 128, ((652, 54, 46), (3349, 294, 250), (16968, 4051, 3983))),
}
PROPORTIONS = (0.01, 0.05, 0.25)


def queues(log: Log, options: argparse.Namespace, reserve: float = 0.0) -> tuple[Schedule, Schedule]:
    """The log with one queue and with three."""
    transforms = Transforms(reserve=reserve, lead=options.lead, seed=options.seed)
    workload = load(options.traces / log.file, log.procs, transforms)
    speculate = f"speculate={options.speculate:g}"
    one = simulate(workload, f"multiqueue:classes=none,{speculate}")
    return one, simulate(workload, f"multiqueue:{speculate}")


def figure_3(pairs: dict[str, tuple[Schedule, Schedule]], longer: float) -> Iterator[list[str]]:
    """A row a log: slowdowns of the jobs that run longer than so many seconds, R of all of them and of each class."""
    for name, pair in pairs.items():
        one, three = (FinishedJobs.of(schedule) for schedule in pair)
        one, three = one.where(one.run > longer), three.where(three.run > longer)
        s1, sm = (statistics(jobs)["mean_slowdown"] for jobs in (one, three))
        classes = [
            signed(ratio(a.values["mean_slowdown"], b.values["mean_slowdown"]))
            for a, b in zip(by_class(one), by_class(three), strict=True)
        ]
        yield [name, str(LOGS[name].procs), f"{len(one):,}", plain(s1), plain(sm), signed(ratio(s1, sm)), *classes]


def table_2(options: argparse.Namespace) -> Iterator[list[str]]:
    """A row a log and proportion: how many reservations were missed, beside the paper's, and R (figure 10).

    R is of aggregate slowdowns, 1 + mean delay / mean run time: a job's delay begins with the start it asked for.
    """
    for name in options.logs:
        for proportion, (asked, once, thrice) in zip(PROPORTIONS, LOGS[name].published, strict=True):
            one, three = (aggregates(schedule) for schedule in queues(LOGS[name], options, proportion))
            count = int(one["reservations"] or 0)
            missed = [int(values["missed_reservations"] or 0) for values in (one, three)]
            ours = [f"{number:,} ({number / count:.1%})" for number in missed]
            theirs = [f"{number:,} ({number / asked:.1%})" for number in (once, thrice)]
            gain = signed(ratio(one["aggregate_slowdown"], three["aggregate_slowdown"]))
            yield [f"{name} {proportion:.2f}", f"{asked:,}", *theirs, f"{count:,}", *ours, gain]


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description="LS: three queues against one")
    parser.add_argument("traces", nargs="?", type=Path, default=Path(TRACES), help="the folder of the logs")
    parser.add_argument("--logs", nargs="+", choices=LOGS, default=list(LOGS), help="which logs")
    parser.add_argument("--speculate", type=float, default=180, help="how many seconds a job is tried for; 0: never")
    parser.add_argument("--lead", type=float, default=86400, help="reservations are for up to so many seconds ahead")
    parser.add_argument("--seed", type=int, default=0, help="for which jobs ask for reservations")
    options = parser.parse_args()
    head = ["log", "procs", "jobs", "one queue", "three", "R", "R short", "R medium", "R long"]
    pairs = {name: queues(LOGS[name], options) for name in options.logs}
    show("LS figure 3: mean slowdown with one queue and with three", head, figure_3(pairs, 0))
    show("The same without jobs that run up to 180 s", head, figure_3(pairs, 180))
    head = ["log, share", "LS asked", "LS one queue", "LS three", "asked", "one queue", "three", "R"]
    show("LS table 2 and figure 10: missed reservations", head, table_2(options))


if __name__ == "__main__":
    main()
