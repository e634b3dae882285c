"""Time of runs on a machine of nodes, as a multiple of the same jobs on equal processors. Run by hand:

    python -m tests.benchmarks.on_nodes [--jobs N] [--nodes NODES] [--load F] [--widest CORES] [--policy SPEC ...]
    python -m tests.benchmarks.on_nodes --log FILE ... [--whole] [--nodes NODES] [--policy SPEC ...]
    python -m tests.benchmarks.on_nodes --command [--jobs N] [--nodes NODES] [--load F] [--policy SPEC ...]

The jobs are made here, by Lublin and Feitelson's model, or they are those of real logs. They get random requests of
memory, GPUs and whole nodes. Only the simulation is measured, in seconds of a core, with both machines in turn; with
`--command` it is the whole command `schedscope run`, which also reads the file and computes the metrics.
"""

import argparse
import json
import resource
import subprocess
import sysconfig
import tempfile
from functools import partial
from math import inf
from pathlib import Path

import numpy as np

from sim.compiled import described
from sim.engine.engine import Engine
from sim.policies import parse_policy
from sim.policies.policy import Policy
from sim.workload.model import Field, Trace, Workload
from sim.workload.models import lublin
from sim.workload.models.node_requests import as_json, cores_of, parse_nodes
from sim.workload.reading import read
from tests.benchmarks.speed import best_of_each

PROGRAM = Path(sysconfig.get_path("scripts")) / "schedscope"


def made(jobs: int, nodes: str, load: float, widest: int | None, folder: Path) -> Trace:
    """Return the jobs, with their requests of nodes; with `widest` they come from a machine of so many cores, as many
    at a time as the whole machine has work for."""
    machine = parse_nodes(nodes)
    cores = cores_of(machine)
    trace = lublin.generate(jobs, widest or cores, 5, load=load)
    if widest:
        crowd(trace, cores / widest)
    return written(as_json(trace, machine, 5), folder)


def of_log(log: Path, nodes: str, is_whole: bool, folder: Path) -> Trace:
    """Return the jobs of a log, as many at a time as the whole machine has work for. A processor of the log is a core,
    or a whole node if `is_whole`."""
    machine = parse_nodes(nodes)
    trace = read(log)
    asked, used = trace.table[:, Field.PROCS_ASKED], trace.table[:, Field.PROCS_USED]
    trace.table[:, Field.PROCS_ASKED] = np.where(asked > 0, asked, np.maximum(used, 1))
    size = sum(entry["count"] for entry in machine) if is_whole else cores_of(machine)
    crowd(trace, size / Workload.of(trace).procs)
    content = json.loads(as_json(trace, machine, 5))
    if is_whole:
        for job, width in zip(content["jobs"], trace.table[:, Field.PROCS_ASKED], strict=True):
            job.pop("tasks", None)
            job |= {"nodes": int(width), "cores": machine[0]["cores"], "mem": 0, "gpu": 0, "exclusive": True}
    return written(json.dumps(content), folder)


def crowd(trace: Trace, factor: float) -> None:
    trace.table[:, Field.SUBMIT] = np.round(trace.table[:, Field.SUBMIT] / factor)


def written(text: str, folder: Path) -> Trace:
    path = folder / "nodes.json"
    path.write_text(text, encoding="utf-8")
    return read(path)


def run(jobs: Workload, policy: Policy) -> None:
    Engine(jobs, policy, curious=False).run()


def commands(given: argparse.Namespace, folder: Path) -> None:
    """Measure `schedscope run` on a machine of nodes and on as many equal processors."""
    files, machine = (folder / "equal.swf", folder / "nodes.json"), parse_nodes(given.nodes)
    about = ["--jobs", str(given.jobs), "--load", str(given.load), "--seed", "5"]
    for file, on in zip(files, (["--procs", str(cores_of(machine))], ["--nodes", given.nodes]), strict=True):
        subprocess.run([PROGRAM, "generate", *on, *about, "-o", file], check=True, stderr=subprocess.DEVNULL)
    for spec in given.policy or ["easy"]:
        took = [inf, inf]
        for _ in range(given.runs):
            for at, file in enumerate(files):
                began = children_times()
                subprocess.run([PROGRAM, "run", file, "--policy", spec], check=True, stdout=subprocess.DEVNULL)
                took[at] = min(took[at], children_times() - began)
        print(
            f"schedscope run --policy {spec}: equal processors {took[0]:.2f} s, nodes {took[1]:.2f} s: "
            f"{took[1] / took[0]:.1f}"
        )


def children_times() -> float:
    """Return the seconds of a core that ended child processes have used."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=100_000)
    parser.add_argument("--nodes", default="1000x64c,256g,4gpu")
    parser.add_argument("--load", type=float, default=0.7)
    parser.add_argument("--widest", type=int, help="most cores of a job; default: of the machine")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--policy", action="append", help="default: fcfs, firstfit and easy")
    parser.add_argument("--log", type=Path, nargs="+", help="measure the jobs of these logs instead")
    parser.add_argument("--whole", action="store_true", help="a processor of a log is a whole node (default: a core)")
    parser.add_argument("--command", action="store_true", help="measure the whole command `schedscope run`")
    given = parser.parse_args()
    if given.command:
        with tempfile.TemporaryDirectory() as folder:
            commands(given, Path(folder))
        return
    for log in given.log or [None]:
        with tempfile.TemporaryDirectory() as folder:
            if log is None:
                trace = made(given.jobs, given.nodes, given.load, given.widest, Path(folder))
            else:
                trace = of_log(log, given.nodes, given.whole, Path(folder))
        measure(trace, f"at load {given.load}" if log is None else f"from {log.name}", given)


def measure(trace: Trace, source: str, given: argparse.Namespace) -> None:
    on_nodes = Workload.of(trace).with_overruns()
    equal = Workload.of(trace, procs=on_nodes.procs).with_overruns()
    print(f"{len(on_nodes):,} jobs {source} on {given.nodes}; {described()}")
    for spec in given.policy or ["fcfs", "firstfit", "easy"]:
        policy = parse_policy(spec)
        runs = (partial(run, jobs, policy) for jobs in (equal, on_nodes))
        took = best_of_each(given.runs, *runs)
        print(
            f"{spec:<14} equal processors {took[0]:6.2f} s, nodes {took[1]:6.2f} s: {took[1] / took[0]:.1f}", flush=True
        )


if __name__ == "__main__":
    main()
