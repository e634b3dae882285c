"""How long simulations take and how much memory, as ratios made in one run. Run by hand:

    python -m tests.benchmarks.speed [FOLDER OF TRACES] [--trace NAME ...] [--policy SPEC ...]

For each trace, a bare loop (no classes, no reasons, no history) computes EASY. The engine, with decisions and full
history, computes the same schedule and then other policies, among them EASY as a user's own file (`schedscope new`).
EASY's times are the best of a few runs, those of other policies single runs; each follows a run of the bare loop.
`SCHEDSCOPE_COMPILED=off` measures the sources. Memory is the peak of a separate process that loads the trace and runs
EASY with full history.
"""

import argparse
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from math import inf
from pathlib import Path
from tempfile import TemporaryDirectory

from sim.compiled import described
from sim.engine.engine import Engine
from sim.policies import parse_policy
from sim.policies.own.consent import Proof
from sim.policies.policy import Policy
from sim.workload.model import Workload
from sim.workload.reading import read
from sim.workload.samples import sample_path
from tests.benchmarks.bare_loop import easy as bare_easy
from tui.authoring.cli.new import texts

TRACES = ("KTH-SP2-1996-2", "CTC-SP2-1996-3.1-cln")
POLICIES = (
    "fcfs", "firstfit", "relaxed", "recorded", "conservative", "conservative:compress=queue", "replan", "multiqueue",
    "multiqueue:speculate=180", "immediate", "selective", "tunable",
)  # fmt: skip

OWN = "a user's own easy"


def best_of(runs: int, action: Callable[[], object]) -> float:
    """Return the shortest processor time of `runs` calls of the action, in seconds."""
    return best_of_each(runs, action)[0]


def best_of_each(runs: int, *actions: Callable[[], object]) -> list[float]:
    """Return the shortest processor time of each action, in seconds; the actions alternate, so that other load affects
    all of them alike."""
    times = [inf] * len(actions)
    for _ in range(runs):
        for index, action in enumerate(actions):
            begin = time.process_time()
            action()
            times[index] = min(times[index], time.process_time() - begin)
    return times


def load(path: Path) -> Workload:
    workload = Workload.of(read(path)).with_overruns()
    assert len(workload.jobs) == len(workload.runtimes)
    return workload


def own_easy() -> Policy:
    """Return EASY as a user's own file."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "own.py")
        path.write_text(texts(path, "easy")[0], encoding="utf-8")
        return parse_policy(str(path), Proof.TYPED)


def run(workload: Workload, policy: str | Policy) -> Engine:
    engine = Engine(workload, policy, curious=False)
    engine.run()
    return engine


def bare(workload: Workload) -> list[float]:
    """Return the starts of the same jobs by the bare loop."""
    jobs = workload.jobs
    return bare_easy(
        workload.procs,
        [job.submit for job in jobs],
        [job.procs for job in jobs],
        workload.runtimes,
        [job.estimate for job in jobs],
    )


def measure(path: Path, policies: tuple[str, ...], runs: int) -> None:
    """Print the table of the trace at `path`: seconds of the bare loop and of the engine."""
    workload = load(path)
    assert bare(workload) == run(workload, "easy").schedule().start.tolist(), "the schedules differ"
    loop = best_of(runs, lambda: bare(workload))
    print(f"\n{path.name}: {len(workload):,} jobs on {workload.procs} processors; seconds, times the bare loop")
    print(f"  {'bare loop, EASY':<28}{loop:9.3f}")
    print(f"  {'loading':<28}{best_of(runs, lambda: load(path)):9.3f}")
    print(f"  the engine: {described()}")
    for spec in ("easy", OWN, *policies):
        policy, many = own_easy() if spec == OWN else parse_policy(spec), runs if spec in ("easy", OWN) else 1
        loop, took = best_of_each(many, partial(bare, workload), partial(run, workload, policy))
        print(f"  {spec:<28}{took:9.3f} {took / loop:8.2f}", flush=True)
    print(f"  {'memory, easy':<28}{memory(path):9.0f} MB at its peak")


def memory(path: Path) -> float:
    command = [sys.executable, "-m", "tests.benchmarks.speed", "--memory", str(path)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", default="../shared/traces", type=Path)
    parser.add_argument("--trace", action="append", help="a log without .swf.gz, or a sample; default KTH and CTC")
    parser.add_argument("--policy", action="append", help="beside easy")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--memory", type=Path, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.memory:
        run(load(chosen.memory), chosen.policy[0] if chosen.policy else "easy")
        # not getrusage: its peak includes the parent's
        status = Path("/proc/self/status").read_text(encoding="ascii")
        print(int(status.partition("VmHWM:")[2].split()[0]) / 1024)
        return
    policies = tuple(chosen.policy or POLICIES)
    for name in chosen.trace or TRACES:
        path = chosen.folder / f"{name}.swf.gz"
        measure(path if path.exists() else sample_path(name), policies, chosen.runs)


if __name__ == "__main__":
    main()
