"""Worker of a sweep, on this or another machine: it makes runs and measures them; each trace is parsed once.

A worker with another version of the program is refused, because it may give other results.
"""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from hashlib import sha256
from pathlib import Path
from time import perf_counter, thread_time
from typing import NamedTuple

import numpy as np

from sim.engine.policy_calls import patient
from sim.lab.copies import Code, unpacked
from sim.lab.measured import Measured, measured
from sim.lab.plan import Run, hash_of_code, version
from sim.policies import parse_policy
from sim.policies.own.consent import Proof
from sim.policies.own.loading import provided
from sim.policies.recorded_rules import unlimited, unweighed
from sim.support.deadline import NoAnswerError
from sim.support.errors import SchedscopeError
from sim.support.formatting import printable, shortened
from sim.timeline.scenario import run as simulate
from sim.timeline.scenario import timed
from sim.workload.model import Workload
from sim.workload.outages import Resize
from sim.workload.replay import JobsRead
from sim.workload.source import Source


class Versions(NamedTuple):
    """Versions of the program and of everything else that affects results."""

    schedscope: str
    sources: str
    """First digits of a hash of the program's files, because copies with the same version number may differ."""
    python: str
    numpy: str

    def __str__(self) -> str:
        return f"schedscope {self.schedscope} ({self.sources}), Python {self.python}, numpy {self.numpy}"


class OtherVersionError(SchedscopeError):
    """Error for a worker that runs another version of the program."""


@cache
def versions() -> Versions:
    """Return the versions of the program and of everything else that affects results, in this process."""
    files = sorted(Path(__file__).parents[1].rglob("*.py"))
    sources = sha256(b"".join(file.read_bytes() for file in files)).hexdigest()
    python = ".".join(platform.python_version_tuple()[:2])
    return Versions(version(), sources[:8], python, np.__version__)


def check_versions(wanted: Versions | None) -> None:
    """Raise an error if the sweep's versions (None: unknown) differ from the versions in this process."""
    if wanted is not None and wanted != versions():
        raise OtherVersionError(
            f"a worker on {platform.node()} has {versions()}; here are {wanted}: install the same in both places"
        )


LONGEST_ERROR = 500
MOST_HELD = 16
"""Largest number of parsed traces that a worker keeps in memory."""
_HELD: dict[str, bytes] = {}


class Task(NamedTuple):
    """Run to be made by a worker, with the code of its policies."""

    run: Run
    copy: str
    """Key by which the worker finds the parsed trace of the run among the traces in its memory."""
    code: Code
    groups: tuple[str, ...] = ()


class Outcome(NamedTuple):
    """Outcome of a run: measurements, or an error."""

    run: Run
    measured: Measured | None
    """Measurements of the run, None for a failed run."""
    cpu: float = 0.0
    """Processor time of the run in seconds."""
    error: str = ""
    groups: tuple[str, ...] = ()
    """Names of the groupings of jobs that were measured."""


class RunMade(NamedTuple):
    """Answer of a worker to a bundle: outcomes in the order of the runs; the rest was not made if it stopped early."""

    outcomes: list[Outcome]
    lacks: str = ""
    """Key of a trace that the worker needs before it can go on; "" if it lacked no trace."""


def work(
    tasks: Sequence[Task], patience: float, versions: Versions | None = None, copies: Mapping[str, bytes] | None = None
) -> RunMade:
    """Make runs until `patience` seconds have passed, or a trace is lacking; `copies` are traces by key."""
    check_versions(versions)
    _hold(copies or {})
    begun = perf_counter()
    made: list[Outcome] = []
    for task in tasks:
        if task.copy not in _HELD:
            return RunMade(made, task.copy)
        made.append(_outcome_of(task))
        if perf_counter() - begun > patience:
            break
    return RunMade(made)


def _hold(copies: Mapping[str, bytes]) -> None:
    _HELD.update(copies)
    for old in list(_HELD)[:-MOST_HELD]:
        _HELD.pop(old, None)


def _outcome_of(task: Task) -> Outcome:
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
    with provided(task.code.files):
        policy, *others = (parse_policy(spec, Proof.SENT) for spec in task.code.specs)
    if "+".join(filter(None, map(hash_of_code, (policy, *others)))) != run.code:
        raise SchedscopeError(f"the code of {run.policy} has changed since the sweep began")
    workload, form = _workload(task.copy, run.options)
    if not len(workload):
        raise SchedscopeError("nothing to simulate: no job is left")
    moments = [(time, other) for (time, _), other in zip(run.switches, others, strict=True)]
    with patient((policy, *others)):
        switches = timed(workload, policy, moments, run.placement)
        schedule = simulate(workload, policy, switches=switches, placement=run.placement)
    found = measured(schedule, task.groups, run.cut)
    kept, weights = unlimited(workload, [policy, *others]), unweighed(form, workload, [policy, *others])
    return replace(found, unlimited=tuple(kept), unweighed=weights)


@lru_cache(maxsize=2)
def _workload(copy: str, options: tuple[tuple[str, object], ...]) -> tuple[Workload, str]:
    source = Source.of_options("", dict(options))
    whole, jobs = _held_workload(copy, source.procs, source.machine)
    return jobs.ready(source.made(whole)), jobs.trace.format


@lru_cache(maxsize=2)
def _held_workload(copy: str, procs: int | None, sizes: tuple[Resize, ...]) -> tuple[Workload, JobsRead]:
    jobs = unpacked(_HELD[copy])
    return Workload.of(jobs.trace, procs, sizes), jobs


def size_of(copy: str, run: Run) -> int:
    """Return the number of jobs of a run; `copy` is the key of its parsed trace, which must be in memory."""
    return len(_workload(copy, run.options)[0])
