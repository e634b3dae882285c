"""The cost of reaching any step of a run again, and of a fork at its end. Run by hand:

    python -m tests.benchmarks.seeking TRACES [--policy SPEC ...] [--seeks N]

TRACES is a trace, or a folder that contains CTC's. For each policy: the whole run alone and as a timeline with
checkpoints; then seeks to random steps (with a snapshot), as shares of the run alone, and one and two steps back after
each. Also the memory of the checkpoints, and the cost of a fork at the end.
"""

import argparse
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from random import Random

from sim.engine.engine import Engine
from sim.policies import parse_policy
from sim.timeline.timeline import Timeline
from sim.workload.model import Workload
from tests.benchmarks.speed import load

TRACE = "CTC-SP2-1996-3.1-cln.swf.gz"
POLICIES = ("easy", "conservative", "multiqueue")


def seconds(action: Callable[[], object]) -> float:
    begin = time.perf_counter()
    action()
    return time.perf_counter() - begin


def measure(workload: Workload, spec: str, seeks: int) -> None:
    alone = seconds(Engine(workload, parse_policy(spec), curious=False).run)
    timeline = Timeline(workload, spec)
    whole = seconds(timeline.compute_all)
    random, steps = Random(1), timeline.computed

    def go(step: int) -> None:
        timeline.seek(step)
        timeline.snapshot()

    ways: dict[str, list[float]] = {"seek": [], "step back": [], "again": []}
    for _ in range(seeks):
        ways["seek"].append(seconds(lambda: go(random.randrange(steps + 1))))
        for back in ("step back", "again"):
            ways[back].append(seconds(lambda: go(timeline.step - 1)))
    print(f"{spec}: {steps:,} steps")
    print(f"  whole run              {alone:8.2f} s, as a timeline {whole:.2f} s")
    for way, costs in ways.items():
        costs.sort()
        for name, cost in (("median", costs[seeks // 2]), ("95 %", costs[seeks * 95 // 100]), ("worst", costs[-1])):
            print(f"  {way + ', ' + name:23}{cost * 1000:8.1f} ms    1/{alone / cost:.0f} of the run")
    print(f"  step on                {seconds(lambda: go(timeline.step + 1)) * 1000:8.1f} ms")
    count, size = len(timeline.branch.checkpoints), timeline.memory
    print(f"  checkpoints            {size / 2**20:8.1f} MB by estimate, {count} of {size / count / 1024:.0f} kB")
    go(steps)
    cost = seconds(timeline.fork)
    tracemalloc.start()
    timeline.fork()
    print(f"  fork at the end        {cost * 1000:8.1f} ms, {tracemalloc.get_traced_memory()[0] / 2**20:.1f} MB")
    tracemalloc.stop()


def main() -> None:
    parser = argparse.ArgumentParser(description="what it costs to reach any step again")
    parser.add_argument("traces", type=Path)
    parser.add_argument("--policy", action="append")
    parser.add_argument("--seeks", type=int, default=200)
    asked = parser.parse_args()
    path = asked.traces / TRACE if asked.traces.is_dir() else asked.traces
    workload = load(path)
    print(f"{path.name}: {len(workload):,} jobs on {workload.procs} processors\n")
    for spec in asked.policy or POLICIES:
        measure(workload, spec, asked.seeks)


if __name__ == "__main__":
    main()
