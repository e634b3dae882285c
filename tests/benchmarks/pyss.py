"""pyss, a simulator in Python by others (A. Nissimov, D. Feitelson), on the same jobs: a checkout is not part of this.

It runs in a process of its own, without its assertions, as its makers advise (one of them looks through all events at
each event). Like ours, its time is that of the simulation alone, without reading and statistics.
"""

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from sim.workload.model import Workload

SCHEDULERS = {
    "easy": "easy_scheduler.EasyBackfillScheduler",
    "conservative:compress=queue": "conservative_scheduler.ConservativeScheduler",
}
"""For each of our policy specs: the scheduler of pyss with the same rules, except that pyss decides after each event
and not once an instant"""
PROGRAM = "run_simulator.py"
DRIVER = """
import os, sys
from base.prototype import _job_inputs_to_jobs
from base.workload_parser import parse_lines
from schedulers.{module} import {scheduler}
from schedulers.simulator import Simulator
with open(sys.argv[1]) as lines:
    jobs = list(_job_inputs_to_jobs(parse_lines(lines), {procs}))
before = os.times()
Simulator(jobs, {procs}, {scheduler}({procs})).run()
after = os.times()
print(after[0] + after[1] - before[0] - before[1])
for job in jobs:
    print(job.start_to_run_at_time)
"""


class NoPyssError(Exception):
    """Error in one line: what is missing, or the message of pyss."""


class Ran(NamedTuple):
    """Result of pyss: seconds of a core used, and the start of each job."""

    seconds: float
    starts: list[float]


def found(folder: Path) -> Path:
    """Return the path of the program of pyss in `folder`, a checkout of pyss."""
    for program in (folder / PROGRAM, folder / "src" / PROGRAM):
        if program.is_file():
            return program
    raise NoPyssError(f"{folder}: no {PROGRAM} there, nor in src: a checkout of pyss is expected")


def python_for(program: Path) -> str:
    """Return the command of the Python that can run the program: this Python, or `python2` if the program's syntax is
    Python 2."""
    try:
        compile(program.read_text(encoding="utf-8"), PROGRAM, "exec", dont_inherit=True)
    except SyntaxError:
        return "python2"
    return sys.executable


def lines(workload: Workload) -> Iterator[str]:
    for rank, (job, run) in enumerate(zip(workload.jobs, workload.runtimes, strict=True), start=1):
        wide = f"{job.procs} -1 -1 {job.procs}"
        yield f"{rank} {job.submit:.0f} -1 {run:.0f} {wide} {job.estimate:.0f} -1 1 1 1 1 1 1 -1 -1\n"


def run(folder: Path, workload: Workload, spec: str) -> Ran:
    """Run pyss on these jobs with the scheduler for our policy `spec`; return its result. `folder` is the checkout of
    pyss."""
    program = found(folder).resolve()
    module, _, scheduler = SCHEDULERS[spec].partition(".")
    driver = DRIVER.format(module=module, scheduler=scheduler, procs=workload.procs)
    with tempfile.TemporaryDirectory() as empty:
        trace = Path(empty) / "jobs.swf"
        trace.write_text("".join(lines(workload)), encoding="ascii")
        command = [python_for(program), "-O", "-c", driver, str(trace)]
        try:
            ran = subprocess.run(command, cwd=program.parent, capture_output=True, text=True)
        except OSError as error:
            raise NoPyssError(f"pyss wants {command[0]}: {error.strerror}") from None
    if ran.returncode:
        raise NoPyssError(f"pyss failed: {(ran.stderr.strip().splitlines() or ['it does not say why'])[-1][:200]}")
    seconds, *starts = map(float, ran.stdout.split())
    return Ran(seconds, starts)
