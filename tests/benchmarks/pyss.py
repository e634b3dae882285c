"""pyss, a simulator in Python by others (A. Nissimov, D. Feitelson), on the same jobs: a checkout is not part of this.

It is run as a process of its own; its time is that of the whole, reading the trace included, as ours beside it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from sim.workload.model import Workload

SCHEDULERS = {"easy": "EasyBackfillScheduler", "conservative:compress=queue": "ConservativeScheduler"}
"""Whose schedules are made by the same rules"""
PROGRAM = "run_simulator.py"


class NoPyssError(Exception):
    """In a line: what is missing, or what it said."""


def found(folder: Path) -> Path:
    """Its program in a checkout."""
    for program in (folder / PROGRAM, folder / "src" / PROGRAM):
        if program.is_file():
            return program
    raise NoPyssError(f"{folder}: no {PROGRAM} there, nor in src: a checkout of pyss is expected")


def python_for(program: Path) -> str:
    """What it is written for: this Python, or the one before."""
    try:
        compile(program.read_text(encoding="utf-8"), PROGRAM, "exec", dont_inherit=True)
    except SyntaxError:
        return "python2"
    return sys.executable


def lines(workload: Workload) -> Iterator[str]:
    """The jobs as a trace, as they are simulated here."""
    for rank, (job, run) in enumerate(zip(workload.jobs, workload.runtimes, strict=True), start=1):
        wide = f"{job.procs} -1 -1 {job.procs}"
        yield f"{rank} {job.submit:.0f} -1 {run:.0f} {wide} {job.estimate:.0f} -1 1 1 1 1 1 1 -1 -1\n"


def seconds(folder: Path, workload: Workload, spec: str) -> float:
    """How long a core works on these jobs."""
    program = found(folder).resolve()
    with tempfile.TemporaryDirectory() as empty:
        trace = Path(empty) / "jobs.swf"
        trace.write_text("".join(lines(workload)), encoding="ascii")
        command = [python_for(program), PROGRAM, f"--num-processors={workload.procs}", f"--input-file={trace}"]
        before = os.times()
        try:
            ran = subprocess.run(
                [*command, f"--scheduler={SCHEDULERS[spec]}"], cwd=program.parent, capture_output=True, text=True
            )
        except OSError as error:
            raise NoPyssError(f"pyss wants {command[0]}: {error.strerror}") from None
    after = os.times()
    if ran.returncode:
        raise NoPyssError(f"pyss failed: {(ran.stderr.strip().splitlines() or ['it does not say why'])[-1][:200]}")
    return after.children_user + after.children_system - before.children_user - before.children_system
