"""Choice of the jobs of a game: successive jobs of a workload that keep the machine busy, which is empty at first."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import numpy as np

from sim.engine.engine import Engine
from sim.support.errors import ParameterError
from sim.workload.model import Workload

SAMPLE = "lublin-128"
"""Name of the sample for a game if the user names no trace."""
JOBS = 24
BUSY = 0.85, 2.5
"""Range of the offered load of the jobs to choose from: below it hardly any job waits, above it all do."""
TRIED = 25
"""Number of candidate series of jobs that are tried; the one in which decisions matter most is played."""
LEAST_JOBS = 2
"""Smallest number of jobs that a trace must have for a game."""


def afternoon(workload: Workload, seed: int = 0, jobs: int = JOBS) -> Workload:
    """Return `jobs` successive jobs that keep the machine busy, chosen by `seed`; a smaller workload whole."""
    count = len(workload)
    if count < LEAST_JOBS:
        raise ParameterError(f"a game needs at least {LEAST_JOBS} jobs, the trace has {count}")
    if count <= jobs:
        return _from_zero(workload)
    work = np.concatenate(([0.0], np.cumsum(workload.width * workload.runtime)))
    firsts = np.arange(count - jobs + 1)
    spans = np.maximum(workload.submit[firsts + jobs - 1] - workload.submit[firsts], 1.0)
    load = (work[firsts + jobs] - work[firsts]) / (workload.procs * spans)
    busy = firsts[(load >= BUSY[0]) & (load <= BUSY[1])]
    among = busy if len(busy) else firsts[np.argsort(np.abs(load - BUSY[0]), kind="stable")[:TRIED]]
    tried = Random(seed).sample(among.tolist(), min(TRIED, len(among)))
    stretches = [_from_zero(workload.take(slice(first, first + jobs))) for first in tried]
    return max(stretches, key=_matter)


def _matter(workload: Workload) -> tuple[bool, float]:
    """Return a key that is larger the more decisions matter: waits of first fit, EASY and FCFS are compared."""
    fcfs, easy, greedy = (_mean_wait(workload, policy) for policy in ("fcfs", "easy", "firstfit"))
    return greedy > easy, fcfs - easy if easy else 0.0


def _mean_wait(workload: Workload, policy: str) -> float:
    engine = Engine(workload, policy, curious=False)
    engine.run()
    return float((engine.schedule().start - workload.submit).mean())


def _from_zero(workload: Workload) -> Workload:
    return replace(workload, submit=workload.submit - workload.submit[0])
