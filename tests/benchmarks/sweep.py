"""A plan of 400 runs: both cores' use, what the sweep costs beside its runs, and asking again.

    python -m tests.benchmarks.sweep ../shared/traces

`--runs 40 --jobs 2000` is short.

The bare runs are those of the plan, one after another in one process that reads the trace once and makes each workload
once. They are timed alone, and in as many processes at once as a sweep has, because each of two at once takes more of a
core than one alone. They are timed before and after the sweep, because the pace of a machine changes.
"""

import argparse
import resource
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from sim.lab.measured import measured
from sim.lab.plan import SweepPlan
from sim.lab.pool import LocalPool, cores
from sim.lab.sweep import Progress, sweep
from sim.lab.work import Outcome
from sim.timeline.scenario import run as simulate
from sim.workload.model import Workload
from sim.workload.reading import read
from tests.benchmarks.logs import KTH, TRACES

POLICIES = ("easy", "easy:order=sjf")
LOADS = "{0.8,0.9,1.0,1.1}"


def plan_of(trace: Path, runs: int, jobs: int) -> SweepPlan:
    """Return two policies, four loads, and as many seeds as the number of runs needs."""
    seeds = max(1, runs // (len(POLICIES) * 4))
    factors = {
        "trace": [str(trace)], "policy": list(POLICIES), "load": [LOADS], "estimates": ["random:2"],
        "seed": [f"{{0..{seeds - 1}}}"],
    }  # fmt: skip
    return SweepPlan.of(factors | ({"jobs": [str(jobs)]} if jobs else {}))


def cpu() -> float:
    """Return the processor seconds that this process and its ended children used."""
    spent = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(of.ru_utime + of.ru_stime for of in spent)


def bare(plan: SweepPlan, trace: Path) -> tuple[float, float]:
    """Make the runs of the plan in this process, without a sweep; return (seconds elapsed, processor seconds)."""
    start, begun = time.perf_counter(), time.process_time()
    whole, workload, made = Workload.of(read(trace)), None, None
    for run in plan.runs():
        if run.options != made:
            workload, made = run.source.transforms.apply(whole), run.options
        assert workload is not None
        measured(simulate(workload, run.policy))
    return time.perf_counter() - start, time.process_time() - begun


def side_by_side(plan: SweepPlan, trace: Path) -> float:
    """Make the plan's runs in as many processes at once as there are cores, all of them in each; return the mean
    processor seconds of a process."""
    with LocalPool(cores()) as pool:
        spent = [pool.submit(bare, plan, trace) for _ in range(cores())]
        return sum(each.result()[1] for each in spent) / cores()


def main() -> None:
    """Print each measurement in a line."""
    parser = argparse.ArgumentParser(description="a sweep")
    parser.add_argument("traces", nargs="?", type=Path, default=Path(TRACES), help="the folder of the logs")
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument("--jobs", type=int, default=0, help="only the first so many jobs; 0: all")
    options = parser.parse_args()
    trace = options.traces / KTH
    plan = plan_of(trace, options.runs, options.jobs)
    words = [str(trace), *(word for policy in POLICIES for word in ("--policy", policy)), "--load", LOADS]
    words += ["--estimates", "random:2", "--seeds", str(len(plan.values["seed"]))]
    words += ["--jobs", str(options.jobs)] if options.jobs else []
    with TemporaryDirectory() as folder:
        path = Path(folder) / "undisturbed.sqlite"
        before = side_by_side(plan, trace)
        inside = 0.0

        def count(_: Progress, outcomes: list[Outcome]) -> None:
            nonlocal inside
            inside += sum(outcome.cpu for outcome in outcomes)

        spent, start = cpu(), time.perf_counter()
        progress = sweep(plan, path, told=count)
        wall, spent = time.perf_counter() - start, cpu() - spent
        after = side_by_side(plan, trace)
        print(f"{progress.made} runs in {wall:.1f} s: {spent / wall / cores():.0%} of {cores()} cores")
        start = time.perf_counter()
        subprocess.run([sys.executable, "-m", "tui.cli.main", "sweep", *words, "-o", str(path)], check=True)
        print(f"asking again: {time.perf_counter() - start:.2f} s")
        row, alone = bare(plan, trace)
        print(f"the bare runs one after another: {row:.1f} s ({alone:.1f} s of a core), {row / wall:.1f} times as long")
        print(f"CPU: {spent:.1f} s, of it outside of the runs {spent - inside:.1f} s ({(spent - inside) / spent:.1%})")
        print(f"bare runs in {cores()} processes at once: {before:.1f} s before, {after:.1f} s after, ", end="")
        print(f"{2 * spent / (before + after) - 1:+.1%}")


if __name__ == "__main__":
    main()
