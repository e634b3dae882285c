"""A plan of 400 runs: both cores' use, what the sweep costs beside its runs, asking again, and kills at random.

    python -m tests.benchmarks.sweep ../shared/traces

`--runs 40 --jobs 2000 --kills 3` is short. With `--cluster`, two workers of Dask on the loopback make the same plan,
and one of them is killed in the middle. `--many` makes ten thousand runs of a hundred jobs instead.

The bare runs are those of the plan, one after another in one process that reads the trace once and makes each workload
once. They are timed alone, and in as many processes at once as a sweep has, because each of two at once takes more of a
core than one alone. They are timed before and after the sweep, because the pace of a machine changes.
"""

import argparse
import random
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from sim.lab.measured import measured
from sim.lab.pivot import PivotQuery, pivot
from sim.lab.plan import SweepPlan
from sim.lab.pool import LocalPool, cores
from sim.lab.results import Results, dump
from sim.lab.sweep import Progress, sweep
from sim.lab.work import Outcome
from sim.timeline.scenario import run as simulate
from sim.workload.model import Workload
from sim.workload.reading import read
from tests.benchmarks.logs import KTH, TRACES
from tests.tui.lab.cli.test_cluster import loopback
from tui.lab.cli.cluster import cluster

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


def begun(plan_words: list[str], path: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "tui.cli.main", "sweep", *plan_words, "-o", str(path)]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL)


def killed(plan_words: list[str], path: Path, kills: int, seconds: float, rng: random.Random) -> int:
    """Start the sweep and kill it, `kills` times after random delays, then let it end; return how many kills came
    before its end."""
    hit = 0
    for _ in range(kills):
        process = begun(plan_words, path)
        try:
            process.wait(rng.uniform(0.2, 2 * seconds / kills))
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
            hit += 1
    assert begun(plan_words, path).wait() == 0
    return hit


def by_cluster(plan: SweepPlan, path: Path) -> Progress:
    """Run the same plan by two workers of Dask, one of which is killed when half is done."""
    with loopback(path.parent) as (address, workers), cluster(address, None) as (executor, many):

        def kill(progress: Progress, _: list[Outcome]) -> None:
            if 2 * progress.made >= progress.asked:
                workers[0].kill()

        return sweep(plan, path, executor=executor, workers=many, told=kill)


def many_small(path: Path) -> None:
    """Make ten thousand runs of a hundred jobs; print this process's memory meanwhile, and query the file."""
    factors = {"policy": ["easy", "fcfs", "conservative", "firstfit"], "load": ["{0.5..1.4..0.1}"], "jobs": ["100"]}
    plan = SweepPlan.of({"trace": ["lublin-128"], "estimates": ["random:2"], "seed": ["{0..249}"], **factors})
    held: dict[int, float] = {}

    def look(progress: Progress, _: list[Outcome]) -> None:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
        held[10 * progress.made // progress.asked] = pages * resource.getpagesize() / 1e6

    done = sweep(plan, path, told=look)
    print(f"{done.made:,} runs: {done.elapsed:.0f} s, memory {', '.join(f'{of:.0f}' for of in held.values())} MB")
    start = time.process_time()
    with Results(path) as results:
        pivot(results, PivotQuery("policy", "load", "mean_wait"))
    print(f"asked for means: {time.process_time() - start:.2f} s of a core")


def main() -> None:
    """Print each measurement in a line."""
    parser = argparse.ArgumentParser(description="a sweep")
    parser.add_argument("traces", nargs="?", type=Path, default=Path(TRACES), help="the folder of the logs")
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument("--jobs", type=int, default=0, help="only the first so many jobs; 0: all")
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--many", action="store_true", help="only ten thousand small runs")
    parser.add_argument("--cluster", action="store_true", help="also by workers of Dask")
    parser.add_argument("--seed", type=int, default=0, help="for when it is killed")
    options = parser.parse_args()
    if options.many:
        with TemporaryDirectory() as folder:
            many_small(Path(folder) / "many.sqlite")
        return
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
        assert begun(words, path).wait() == 0
        print(f"asking again: {time.perf_counter() - start:.2f} s")
        if options.cluster:
            done = by_cluster(plan, clustered := Path(folder) / "clustered.sqlite")
            told = "the same, bit by bit" if dump(path) == dump(clustered) else "DIFFER"
            print(f"by a cluster, one of two workers killed: {done.made} runs in {done.elapsed:.1f} s, results {told}")
        row, alone = bare(plan, trace)
        print(f"the bare runs one after another: {row:.1f} s ({alone:.1f} s of a core), {row / wall:.1f} times as long")
        print(f"CPU: {spent:.1f} s, of it outside of the runs {spent - inside:.1f} s ({(spent - inside) / spent:.1%})")
        print(f"bare runs in {cores()} processes at once: {before:.1f} s before, {after:.1f} s after, ", end="")
        print(f"{2 * spent / (before + after) - 1:+.1%}")
        hit = killed(words, Path(folder) / "killed.sqlite", options.kills, wall, random.Random(options.seed))
        same = dump(path) == dump(Path(folder) / "killed.sqlite")
        print(f"killed {hit} times of {options.kills}: results {'the same, bit by bit' if same else 'DIFFER'}")


if __name__ == "__main__":
    main()
