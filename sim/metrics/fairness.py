"""Who passed whom and at whose cost, and when each job would have started had nobody come after it.

The fair start of Sabin and Sadayappan (JSSPP 2005). It takes a run for every job, that goes on from the run of all
where the job comes: measured when somebody asks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from sim.engine.engine import Engine
from sim.history.history import Unwritten
from sim.history.stays import in_the_way_of, passers_of
from sim.metrics.aggregates import Value
from sim.timeline.scenario import Scenario
from sim.workload.model import Floats, Ints, Workload

ABOUT = 1.0
"""Seconds by which a start must differ from the fair one to be another."""
_AT_ONCE = 1 << 20
"""So many pairs of jobs are looked at together"""


@dataclass(frozen=True, eq=False)
class Fairness:
    """A column each, by rank; nan where it is not known."""

    passed: Ints
    """How many jobs came later and began first."""
    in_its_way: Floats
    """How many of those held processors that it lacked (`sim.history.stays.InTheWay`)."""
    fair_start: Floats
    """When it would have started had nobody come after it."""
    fair_delay: Floats
    """By how much it started later than that; negative: those who came later helped it."""

    @property
    def columns(self) -> dict[str, Ints | Floats]:
        return {name: getattr(self, name) for name in self.__dataclass_fields__}

    def values(self) -> dict[str, Value]:
        """The metrics of `FAIRNESS`."""
        late = self.fair_delay[~np.isnan(self.fair_delay)]
        known = ~np.isnan(self.in_its_way)
        return {
            "mean_passed": float(self.passed.mean()) if len(self.passed) else None,
            "max_passed": int(self.passed.max()) if len(self.passed) else None,
            "passes_in_the_way": float(self.in_its_way[known].sum() / max(self.passed[known].sum(), 1))
            if known.any()
            else None,
            "mean_fair_delay": float(np.maximum(late, 0).mean()) if len(late) else None,
            "max_fair_delay": float(np.maximum(late, 0).max()) if len(late) else None,
            "unfair_starts": int((late > ABOUT).sum()),
        }


def fairness(scenario: Scenario, engine: Engine, told: Callable[[int], object] = lambda more: None) -> Fairness:
    """Of a run that `engine` has made; `told` hears of how many more jobs the fair start is known."""
    start, jobs = np.array(engine.state.ledger.start), scenario.workload.jobs
    fair, in_its_way = np.full(len(jobs), np.nan), np.zeros(len(jobs))
    passed = overtaken(scenario.workload, start)
    for job in (jobs[rank] for rank in engine.state.dropped if np.isnan(start[rank])):
        passed[job.rank] = len(passers_of(engine.history, job.rank, job.submit))
    for rank in np.flatnonzero(passed).tolist():
        in_its_way[rank] = _in_its_way(engine, rank)
    for rank, at in fair_starts(scenario, range(len(jobs))):
        fair[rank] = np.nan if at is None else at
        told(1)
    return Fairness(passed, in_its_way, fair, start - fair)


def _in_its_way(engine: Engine, rank: int) -> float:
    job, history = engine.workload.jobs[rank], engine.history
    if any(stretch.rows for stretch in history.of(rank)):
        return np.nan
    passers = passers_of(history, rank, job.submit)
    found = in_the_way_of(history, job, passers, engine.workload.outages)
    return np.nan if found is None else len(found.passers)


def overtaken(workload: Workload, start: Floats, ranks: Ints | None = None) -> Ints:
    """How many came later than each of these jobs (default: all) and began before it, by the first starts.

    One that has not started counts as one that waits still: all have passed it who have.
    """
    ranks = np.arange(len(start)) if ranks is None else ranks
    begun, own = np.where(np.isnan(start), np.inf, start), np.where(np.isnan(start), np.inf, start)[ranks]
    many = np.maximum(np.searchsorted(workload.submit, own, side="right") - ranks - 1, 0)
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
    """(rank, when it would have started had nobody come after it; None: never) of these jobs, in order.

    `told` hears how many jobs have finished in a run without the later ones.
    """
    engine = scenario.at_the_beginning()
    for rank in ranks:
        scenario.go_before(engine, scenario.workload.jobs[rank].submit)
        alone = engine.at(engine.checkpoint(), Unwritten(), last=rank)
        state, step = alone.state, scenario.stepper(alone)
        while state.start_of(rank) is None and step():
            told(state.tally.finished)
        yield rank, state.start_of(rank)


def fair_start(scenario: Scenario, rank: int, told: Callable[[int], object] = lambda finished: None) -> float | None:
    """When the job would have started had nobody come after it; None: never."""
    return next(fair_starts(scenario, [rank], told))[1]
