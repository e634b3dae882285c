"""Forecast of the time of a sweep: runs cost as much as similar stored runs or, without these, as a trial shows."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from time import monotonic
from typing import TypeAlias

from sim.lab.copies import Copies, copy_of
from sim.lab.plan import Run
from sim.lab.results import Results
from sim.lab.work import Task, size_of, work

TRIED = 250
"""Number of jobs in the first trial run; it is doubled until a run takes long enough to be measured."""
LONG_ENOUGH = 0.2
PATIENCE = 5.0
"""Seconds after which no further trial begins; other kinds of runs are assumed to cost the mean."""
Kind: TypeAlias = tuple[str, str]
"""Kind of runs that cost about the same: the hash of the trace, and the policy without its parameters."""


def forecast(runs: Iterable[Run], path: Path, workers: int) -> float | None:
    """Return the expected seconds of a sweep with `workers` workers; None if there are no runs.

    Costs come from the results file at `path`; of kinds of runs that it lacks, a few jobs are run as a trial.
    """
    kinds: dict[Kind, list[Run]] = {}
    for run in runs:
        kinds.setdefault(_kind(run.sha256, run.policy), []).append(run)
    costs = known_costs(path)
    end = monotonic() + PATIENCE
    for kind, some in kinds.items():
        if kind not in costs and monotonic() < end:
            costs[kind] = _trial_cost(some[len(some) // 2])
    found = [costs[kind] for kind in kinds if kind in costs]
    if not found:
        return None
    mean = sum(found) / len(found)
    return sum(costs.get(kind, mean) * len(some) for kind, some in kinds.items()) / max(1, workers)


def known_costs(path: Path) -> dict[Kind, float]:
    """Return for each kind of runs in the results file `path`: mean cost of a run, in seconds of one core."""
    if not os.path.isfile(path) or not path.stat().st_size:
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


def _trial_cost(run: Run) -> float:
    """Return the processor time in seconds that a run will cost, estimated from trial runs of its first jobs."""
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
