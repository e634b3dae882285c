"""Forecast of how long a sweep will take: from the cost of similar stored runs or, if there are none, by running the
first jobs.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from time import monotonic
from typing import TypeAlias

from sim.experiments.copies import Copies, copy_of
from sim.experiments.plan import Run
from sim.experiments.results import Results
from sim.experiments.work import Task, size_of, work

TRIED = 250
"""Number of jobs in the first trial of a run; each further trial has twice as many, until one takes long enough to be
measured.
"""
LONG_ENOUGH = 0.2
PATIENCE = 5.0
"""Number of seconds after which no further trial begins; a kind of runs without a trial is assumed to cost the mean of
the others.
"""
Kind: TypeAlias = tuple[str, str]
"""Kind of runs that cost about the same: the hash of the trace, and the policy without its parameters."""


def forecast(runs: Iterable[Run], path: Path, workers: int) -> float | None:
    """Return the seconds that a sweep will take, or None if it has no runs.

    The costs come from the results file at `path`; for kinds of runs that it lacks, a few jobs are run as a trial.
    """
    kinds: dict[Kind, list[Run]] = {}
    for run in runs:
        kinds.setdefault(_kind(run.sha256, run.policy), []).append(run)
    costs = known_costs(path)
    end = monotonic() + PATIENCE
    for kind, some in kinds.items():
        if kind not in costs and monotonic() < end:
            costs[kind] = _tried(some[len(some) // 2])
    found = [costs[kind] for kind in kinds if kind in costs]
    if not found:
        return None
    mean = sum(found) / len(found)
    return sum(costs.get(kind, mean) * len(some) for kind, some in kinds.items()) / max(1, workers)


def known_costs(path: Path) -> dict[Kind, float]:
    """Return for each kind of runs the mean cost of those stored at `path`: seconds of one processor core per run."""
    if not path.is_file() or not path.stat().st_size:
        return {}
    sums: dict[Kind, tuple[float, int]] = {}
    with Results(path) as results:
        for sha256, policy, cpu, error in results.rows(("sha256", "policy", "cpu", "error")):
            if not error:
                total, many = sums.get(_kind(sha256, policy), (0.0, 0))
                sums[_kind(sha256, policy)] = total + cpu, many + 1
    return {kind: total / many for kind, (total, many) in sums.items()}


def _kind(sha256: str, policy: str) -> Kind:
    return sha256, policy.partition(":")[0]


def _tried(run: Run) -> float:
    """Return the cost of a run in seconds, estimated from runs of its first jobs."""
    with Copies([run]) as copies:
        task = Task(run, copy_of(run), copies.code_of(run))
        work([], 0.0, copies={task.copy: copies[task.copy]})
    whole, jobs = size_of(task.copy, run), TRIED
    while True:
        jobs = min(jobs, whole)
        options = tuple((name, jobs if name == "jobs" else value) for name, value in run.options)
        (outcome,) = work([task._replace(run=run._replace(options=options))], 0.0).outcomes
        if outcome.error or outcome.cpu > LONG_ENOUGH or jobs >= whole:
            return outcome.cpu * whole / max(1, jobs)
        jobs *= 2
