"""Millions of jobs on 100,000 processors under EASY: time and memory of reading, running and measuring. Run by hand:

    python -m tests.benchmarks.many_jobs [--jobs N,N] [--folder FOLDER]

Each part is measured in a process of its own, in seconds of a core and in MB at its peak. The jobs are made here, by
Lublin and Feitelson's model, and written as SWF and (with pyarrow) as Parquet.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from importlib import import_module
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path

from sim.metrics.measure import measure
from sim.timeline.scenario import run
from sim.workload.formats import swf
from sim.workload.model import Field, Trace, Workload
from sim.workload.models import lublin
from sim.workload.reading import read

PROCS, LOAD = 100_000, 0.7


def write(jobs: int, folder: Path) -> list[Path]:
    """Generate a trace of `jobs` jobs; write it as SWF and, if pyarrow is installed, as Parquet; return the paths."""
    trace = lublin.generate(jobs, PROCS, 5, load=LOAD)
    paths = [folder / f"{jobs}.swf"]
    with paths[0].open("w", encoding="utf-8") as file:
        swf.write(trace, file)
    if find_spec("pyarrow") is not None:
        paths.append(folder / f"{jobs}.parquet")
        fields = {"submit": Field.SUBMIT, "procs": Field.PROCS_ASKED, "runtime": Field.RUN, "estimate": Field.ESTIMATE}
        table = import_module("pyarrow").table({name: trace.column(field) for name, field in fields.items()})
        import_module("pyarrow.parquet").write_table(table, paths[1])
    return paths


def peak() -> float:
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def measured(path: Path, much: str) -> None:
    """Read the trace and, if `much` is "run", also simulate and measure it; print the seconds of each part and the peak
    memory of this process.
    """
    laps = [time.process_time()]
    trace: Trace | None = read(path)
    laps.append(time.process_time())
    if much == "run":
        assert trace is not None
        workload = Workload.of(trace, PROCS).with_overruns()
        trace = None
        laps.append(time.process_time())
        schedule = run(workload, "easy")
        laps.append(time.process_time())
        measure(schedule)
        laps.append(time.process_time())
    took = " ".join(f"{after - before:7.1f}" for before, after in pairwise(laps))
    print(f"{much} {path.name:<18} {took} s  {peak():7,.0f} MB", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description="time and memory of millions of jobs")
    parser.add_argument("--jobs", default="1000000,3000000")
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--part", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.part:
        measured(Path(given.part[0]), given.part[1])
        return
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        print("read: read; run: read, prepare, run, measure", flush=True)
        for jobs in map(int, given.jobs.split(",")):
            for path in write(jobs, Path(folder)):
                for much in ("read", "run"):
                    part = [sys.executable, "-m", "tests.benchmarks.many_jobs", "--part", str(path), much]
                    subprocess.run(part, check=True)
                path.unlink()


if __name__ == "__main__":
    main()
