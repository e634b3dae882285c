"""What a worker does: makes runs of traces that were parsed once, and measures them."""

from __future__ import annotations

import os
import pickle
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from time import perf_counter, thread_time
from typing import NamedTuple

from sim.deadline import NoAnswerError
from sim.errors import SchedscopeError
from sim.experiments.measured import Measured, measured
from sim.experiments.plan import Run
from sim.policies import parse_policy
from sim.timeline.scenario import run as simulate
from sim.words import printable, shortened
from sim.workload.model import Trace, Workload
from sim.workload.reading import read
from sim.workload.source import Source, find

LONGEST_ERROR = 500


class Task(NamedTuple):
    """A run that is to be made."""

    run: Run
    copy: str
    """The trace as it was parsed, in a file of our own."""
    groups: tuple[str, ...] = ()


class Outcome(NamedTuple):
    """What has come of a run."""

    run: Run
    measured: Measured | None
    """None: it failed."""
    cpu: float = 0.0
    """Seconds of a core."""
    error: str = ""
    groups: tuple[str, ...] = ()
    """That were asked for."""


def work(tasks: Sequence[Task], patience: float) -> list[Outcome]:
    """Make runs, one after the other, until so many seconds have passed; at least the first is made."""
    begun = perf_counter()
    made: list[Outcome] = []
    for task in tasks:
        made.append(_made(task))
        if perf_counter() - begun > patience:
            break
    return made


def _made(task: Task) -> Outcome:
    begun = thread_time()
    try:
        found = _run(task)
    except (Exception, SystemExit, NoAnswerError) as error:
        kind = "" if isinstance(error, SchedscopeError) else f"{type(error).__name__}: "
        told = shortened(printable(kind + " ".join(str(error).split("\n"))), LONGEST_ERROR)
        return Outcome(task.run, None, thread_time() - begun, told or "it failed", task.groups)
    return Outcome(task.run, found, thread_time() - begun, groups=task.groups)


def _run(task: Task) -> Measured:
    run = task.run
    policy = parse_policy(run.policy)
    if policy.code and policy.code.sha256 != run.code:
        raise SchedscopeError(f"{policy.code.name} has changed since the sweep began")
    workload = _workload(task.copy, run.options)
    if not len(workload):
        raise SchedscopeError("nothing to simulate: no job is left")
    return measured(simulate(workload, policy), task.groups, run.cut)


@lru_cache(maxsize=2)
def _workload(copy: str, options: tuple[tuple[str, object], ...]) -> Workload:
    source = Source.of_options("", dict(options))
    return source.transforms.apply(_whole(copy, source.procs))


@lru_cache(maxsize=2)
def _whole(copy: str, procs: int | None) -> Workload:
    with open(copy, "rb") as file:
        trace: Trace = pickle.load(file)  # our own: nobody else may write into that folder
    return Workload.of(trace, procs)


def size_of(copy: str, run: Run) -> int:
    """How many jobs a run has."""
    return len(_workload(copy, run.options))


def copies(runs: Iterable[Run], folder: Path) -> dict[tuple[str, str, str], str]:
    """Every trace parsed once, as a file that workers read quickly; by trace, and the options of reading it."""
    made: dict[tuple[str, str, str], str] = {}
    for run in runs:
        if (reading := reading_of(run)) not in made:
            _, count, held = reading
            trace = read(find(run.trace), count=count, held=held)  # type: ignore[arg-type]
            path = os.fspath(folder / f"{len(made)}.trace")
            with open(path, "wb") as file:
                pickle.dump(trace, file, protocol=pickle.HIGHEST_PROTOCOL)
            made[reading] = path
    return made


def reading_of(run: Run) -> tuple[str, str, str]:
    """What determines how a trace is read."""
    options = dict(run.options)
    return run.trace, options["count"], options["held"]
