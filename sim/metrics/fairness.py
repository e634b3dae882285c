"""Fairness of a schedule: which jobs passed a job, which of them held processors that the job lacked, and the fair
start of each job.

The fair start (Sabin and Sadayappan, JSSPP 2005) is the start of a job in a run without all later jobs. It needs a run
for every job, which branches off the run of all jobs at the job's submission. Therefore fairness is computed only on
request.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from sim.engine.engine import Engine
from sim.history.history import Unwritten
from sim.history.stretch_queries import in_the_way_of, passers_of
from sim.metrics.aggregates import Value
from sim.support.errors import ParameterError
from sim.timeline.scenario import Scenario
from sim.workload.model import Floats, Ints, Workload

ABOUT = 1.0
"""Number of seconds by which a job must start later than its fair start to count as an unfair start."""
_AT_ONCE = 1 << 20
"""Largest number of pairs of jobs that are compared at once, to limit the use of memory."""


@dataclass(frozen=True, eq=False)
class Fairness:
    """Fairness of each job: a column for each measure, with one entry per job in order of rank; nan if unknown."""

    passed: Ints
    """Number of jobs that were submitted later than the job and started earlier."""
    in_its_way: Floats
    """Number of the jobs that passed this job and held processors that it lacked (`InTheWay`)."""
    fair_start: Floats
    """Start of the job, in seconds, in a run without all jobs that were submitted later."""
    fair_delay: Floats
    """Actual start minus fair start, in seconds; negative if the job started earlier because of the later jobs."""

    @property
    def columns(self) -> dict[str, Ints | Floats]:
        return {name: getattr(self, name) for name in self.__dataclass_fields__}

    def values(self) -> dict[str, Value]:
        late = self.fair_delay[~np.isnan(self.fair_delay)]
        known = ~np.isnan(self.in_its_way)
        return {
            "mean_passed": float(self.passed.mean()) if len(self.passed) else None,
            "max_passed": int(self.passed.max()) if len(self.passed) else None,
            "passes_in_the_way": float(self.in_its_way[known].sum()) / max(int(self.passed[known].sum()), 1)
            if known.any()
            else None,
            "mean_fair_delay": float(np.maximum(late, 0).mean()) if len(late) else None,
            "max_fair_delay": float(np.maximum(late, 0).max()) if len(late) else None,
            "unfair_starts": int((late > ABOUT).sum()),
        }


def fairness(scenario: Scenario, engine: Engine, told: Callable[[int], object] = lambda more: None) -> Fairness:
    """Return the fairness of the jobs in `engine`, a run of `scenario`; `told` is called after each fair start."""
    start, jobs = engine.history.starts(len(engine.workload)), scenario.workload.jobs
    fair, in_its_way = np.full(len(jobs), np.nan), np.zeros(len(jobs))
    passed = overtaken(scenario.workload, start)
    for job in (jobs[rank] for rank in engine.moment.dropped if np.isnan(start[rank])):
        passed[job.rank] = len(passers_of(engine.history, job.rank, job.submit))
    if engine.workload.shape is not None:
        in_its_way[:] = np.nan  # on nodes, a job may not fit although enough cores are free
    for rank in np.flatnonzero(passed).tolist():
        in_its_way[rank] = _in_its_way(engine, rank)
    for rank, at in fair_starts(scenario, range(len(jobs))):
        fair[rank] = np.nan if at is None else at
        told(1)
    return Fairness(passed, in_its_way, fair, start - fair)


def _in_its_way(engine: Engine, rank: int) -> float:
    job, history = engine.workload.jobs[rank], engine.history
    if engine.workload.shape is not None or any(stretch.rows for stretch in history.of(rank)):
        return np.nan
    passers = passers_of(history, rank, job.submit)
    found = in_the_way_of(history, job, passers, engine.workload.outages)
    return np.nan if found is None else len(found.passers)


def overtaken(workload: Workload, start: Floats, ranks: Ints | None = None, submit: Floats | None = None) -> Ints:
    """Return how many later jobs started earlier, for each of `ranks` (None: all); without a start (nan), all did."""
    ranks = np.arange(len(start)) if ranks is None else ranks
    if submit is None:
        submit = workload.submit
    else:  # from here on, ranks are the places in the order of these times
        order = np.argsort(submit, kind="stable")
        places = np.empty(len(order), np.int64)
        places[order] = np.arange(len(order))
        submit, start, ranks = submit[order], start[order], places[ranks]
    begun, own = np.where(np.isnan(start), np.inf, start), np.where(np.isnan(start), np.inf, start)[ranks]
    many = np.maximum(np.searchsorted(submit, own, side="right") - ranks - 1, 0)
    found, total = np.zeros(len(ranks), np.int64), np.cumsum(many)
    first = 0
    while first < len(ranks):
        last = max(int(np.searchsorted(total, total[first] - many[first] + _AT_ONCE, side="right")), first + 1)
        part = many[first:last]
        place = np.repeat(np.arange(first, last), part)
        within = np.arange(int(part.sum())) - np.repeat(np.cumsum(part) - part, part)
        is_first = begun[ranks[place] + 1 + within] < own[place]
        found[first:last] = np.bincount(place[is_first] - first, minlength=last - first)
        first = last
    return found


def fair_starts(
    scenario: Scenario, ranks: Iterable[int], told: Callable[[int], object] = lambda finished: None
) -> Iterator[tuple[int, float | None]]:
    """Yield (rank, fair start or None) by a run for each; `told` gets the jobs finished after each step."""
    if scenario.workload.follows:
        raise ParameterError("fairness needs fixed submit times; with feedback or dependencies they depend on the run")
    engine = scenario.at_the_beginning()
    for rank in ranks:
        scenario.go_before(engine, scenario.workload.jobs[rank].submit)
        alone = engine.at(engine.checkpoint(), Unwritten(), last=rank)
        moment, step = alone.moment, scenario.stepper(alone)
        while moment.start_of(rank) is None and step():
            told(moment.finished)
        yield rank, moment.start_of(rank)


def fair_start(scenario: Scenario, rank: int, told: Callable[[int], object] = lambda finished: None) -> float | None:
    """Return the start, if any, in a run without later jobs; `told` gets the jobs finished by each step."""
    return next(fair_starts(scenario, [rank], told))[1]
