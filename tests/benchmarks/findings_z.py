"""Zhang, Franke, Moreira & Sivasubramaniam (2000), figures 9 and 12 and table 1: gang scheduling under nine loads.

    python tests/benchmarks/findings_z.py ../shared/traces

Their workload was fitted to a log that is not public: 10,000 jobs of up to 256 of 320 nodes, 30 % of them wider than
32 with more than 80 % of the work. Here the same model is fitted to SDSC's SP2 with every job 2.5 times as wide, which
makes 128 processors 320: 30 % of the jobs are then wider than 32 and do 86 % of the work. Times between arrivals are
scaled so that the work that arrives is 0.55 of the machine, as in their first workload; the nine workloads multiply run
times by 1.0 to 1.8. A fifth of the jobs ends at its estimate (phi = 0.2). The slowdown is bounded as Z bounds it.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter

import numpy as np

from sim.metrics.aggregates import Value, aggregates
from sim.workload.model import Workload
from sim.workload.models.hyper_erlang import Model, fit
from sim.workload.transforms import Transforms
from tests.benchmarks.report import SDSC_SP2, TRACES, load, plain, show, simulate

NODES = 320
WIDER = 2.5
BASE_LOAD = 0.55
FACTORS = [1 + step / 10 for step in range(9)]
SLOWDOWN, USE, LOSS = "mean_bounded_slowdown_z", "utilization", "loss_with_overhead"
MIGRATING = "cost=0,q=100000"
"""Table 1 is the best case: migration for nothing, of as many tasks as there are."""
TABLE_1 = {
    "BGS": "gang-backfill:mpl=5",
    "MBGS": f"gang-migrate-backfill:mpl=5,{MIGRATING}",
    "GS": "gang:mpl=5",
    "MGS": f"gang-migrate:mpl=5,{MIGRATING}",
}
PUBLISHED = {
    "BGS": (2.5, 3.2, 3.8, 6.5, 8.0, 11.9, 22.4, 34.9, 67.9),
    "MBGS": (2.1, 2.5, 2.9, 3.7, 5.1, 7.6, 11.0, 20.9, 56.8),
    "GS": (3.9, 7.0, 18.8, 44.8, 125.6, 405.6, 1738.0, 4147.7, 5941.5),
    "MGS": (2.6, 4.0, 6.9, 13.5, 29.4, 54.4, 134.2, 399.3, 1609.9),
}
"""The slowdowns of table 1, a workload after the other."""
BETTER = {
    "MBGS": (19.2, 23.9, 24.8, 43.1, 36.6, 36.2, 50.8, 40.2, 16.4),
    "MGS": (33.7, 42.5, 63.4, 69.9, 76.6, 86.6, 92.3, 90.4, 72.9),
}
"""By how much migration makes them smaller, in percent."""
LIMITS = {"BGS": 0.96, "MBGS": 0.98, "GS": 0.86, "MGS": 0.97}
"""The greatest utilization of table 1."""
LEVELS = (2, 3, 5)
FIGURE_9 = {
    "BF": "easy",
    **{f"GS-{mpl}": f"gang:mpl={mpl}" for mpl in LEVELS},
    **{f"BGS-{mpl}": f"gang-backfill:mpl={mpl}" for mpl in LEVELS},
}

Values = dict[str, Value]


@dataclass
class Loads:
    """The nine workloads, and what each policy makes of them; what was simulated once is not again."""

    workloads: list[Workload]
    done: dict[tuple[str, int], Values]

    @classmethod
    def of(cls, model: Model, jobs: int, seed: int) -> Loads:
        """Jobs that arrive at the same times in each, and run longer from one to the next."""
        arrival = BASE_LOAD / offered(Workload.of(model.generate(jobs, seed)))
        transforms = Transforms(estimates="phi:0.2", seed=seed)
        traces = (model.generate(jobs, seed, arrival, factor) for factor in FACTORS)
        return cls([transforms.apply(Workload.of(trace)) for trace in traces], {})

    def run(self, spec: str, number: int) -> Values:
        """The numbers of a policy on a workload."""
        if (spec, number) not in self.done:
            self.done[spec, number] = aggregates(simulate(self.workloads[number], spec))
        return self.done[spec, number]

    def rows(self, specs: Sequence[str], metric: str, digits: int) -> Iterator[list[str]]:
        """A row a workload, a column a policy."""
        for number, workload in enumerate(self.workloads):
            cells = [plain(self.run(spec, number)[metric], digits) for spec in specs]
            yield [str(number), plain(offered(workload)), *cells]

    def table_1(self) -> Iterator[list[str]]:
        """A row a workload: utilization and slowdown of the four, each beside the paper's slowdown."""
        for number in range(len(self.workloads)):
            row = [str(number)]
            for plainly, migrating in (("BGS", "MBGS"), ("GS", "MGS")):
                values = [self.run(TABLE_1[name], number) for name in (plainly, migrating)]
                for name, found in zip((plainly, migrating), values, strict=True):
                    row += [plain(found[USE]), plain(found[SLOWDOWN], 1), plain(PUBLISHED[name][number], 1)]
                row.append(f"{better(*(found[SLOWDOWN] for found in values)):.0%}")
                row.append(f"{BETTER[migrating][number]:.0f}%")
            yield row

    def limits(self) -> Iterator[list[str]]:
        """The greatest utilization under each policy."""
        for name, spec in TABLE_1.items():
            best = max(self.run(spec, number)[USE] or 0 for number in range(len(self.workloads)))
            yield [f"{name} `{spec}`", plain(LIMITS[name]), plain(best)]


def offered(workload: Workload) -> float:
    """The work that arrives, as a share of what the machine can do until the last arrival."""
    return float((workload.width * workload.runtime).sum() / (workload.procs * np.ptp(workload.submit)))


def better(without: Value, with_it: Value) -> float:
    """By which share a slowdown is smaller."""
    return 1 - (with_it or 0) / (without or 1)


def fitted(traces: Path) -> Model:
    """The model of SDSC's SP2, its jobs 2.5 times as wide."""
    log = load(traces / SDSC_SP2, None, Transforms())
    return fit(replace(log, width=np.ceil(log.width * WIDER).astype(np.int64), procs=NODES))


def main() -> None:
    """Print table 1, its limits, and figures 9 and 12 for as many overheads as asked for."""
    parser = argparse.ArgumentParser(description="Z: gang scheduling with backfilling and migration")
    parser.add_argument("traces", nargs="?", type=Path, default=Path(TRACES), help="the folder of the logs")
    parser.add_argument("--jobs", type=int, default=10000, help="in each workload (Z: 10,000)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--cs", type=float, nargs="*", default=[0.0], help="overheads for figures 9 and 12")
    options = parser.parse_args()
    loads = Loads.of(fitted(options.traces), options.jobs, options.seed)
    begin = perf_counter()
    head = ["load"]
    for pair in (("BGS", "MBGS"), ("GS", "MGS")):
        head += [title for name in pair for title in (f"{name} ρ", f"{name} s", "Z")] + ["better", "Z"]
    show(
        f"Z table 1, {options.jobs:,} jobs: utilization ρ and slowdown s, mpl=5, migration free", head, loads.table_1()
    )
    show("Z table 1: greatest utilization", ["policy", "Z", "here"], loads.limits())
    for cs in options.cs:
        specs = [f"{spec},cs={cs:g}" if cs and name != "BF" else spec for name, spec in FIGURE_9.items()]
        head = ["load", "offered", *FIGURE_9]
        show(f"Z figure 9, overhead {cs:g}: mean bounded slowdown", head, loads.rows(specs, SLOWDOWN, 1))
        show(f"Z figure 12, overhead {cs:g}: loss of capacity", head, loads.rows(specs, LOSS, 3))
        show(f"Utilization, overhead {cs:g}", head, loads.rows(specs, USE, 3))
    print(f"\n{len(loads.done)} runs in {perf_counter() - begin:.0f} s")


if __name__ == "__main__":
    main()
