"""Sweep: workers make the runs of a plan that a results file lacks; each run is stored exactly once.

The workers belong to an `Executor` of `concurrent.futures`. If a worker dies, its whole pool is broken, and a new pool
replaces it. The lost runs are sent again in bundles, one at a time, each smaller than the last. This ends when the run
that kills its worker is found.
"""

from __future__ import annotations

import math
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future, wait
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from time import monotonic
from typing import TypeAlias

from sim.lab.copies import Copies, copy_of
from sim.lab.plan import Run, SweepPlan
from sim.lab.pool import LocalPool, cores, free_memory, size_of_worker
from sim.lab.results import Results, StoredRun
from sim.lab.work import Outcome, RunMade, Task, check_versions, size_of, versions, work
from sim.support.errors import SchedscopeError

LARGEST = 64
"""Largest number of runs that are sent to a worker together (a bundle)."""
PATIENCE = 0.5
"""Seconds after which a worker returns its outcomes: few messages, and little is lost if it dies"""
DEATHS = 2
"""Number of workers that a run may kill when it is alone in its bundle before it is stored as failed"""
_BEAT = 0.2


@dataclass
class Progress:
    """Progress of a sweep: numbers of runs, and times in seconds."""

    asked: int
    there: int
    """Number of the plan's runs that the file already had at the beginning."""
    made: int = 0
    failed: int = 0
    running: int = 0
    """Number of runs that workers are making now."""
    workers: int = 0
    begun: float = field(default_factory=monotonic)
    cpu: float = 0.0
    reading: tuple[str, float] | None = None
    """Name of the trace that is being read, and the share of it that has been read; None while no trace is read"""
    jobs: int = 0
    """Number of jobs of the largest trace, set only if memory is too short for a worker on each core; otherwise 0"""

    @property
    def missing(self) -> int:
        return self.asked - self.there - self.made

    @property
    def elapsed(self) -> float:
        return monotonic() - self.begun

    @property
    def left(self) -> float | None:
        """Return the estimated remaining time in seconds; None before the first run has been made."""
        return self.elapsed / self.made * self.missing if self.made else None


Told = Callable[[Progress, list[Outcome]], None]
"""Function called with the progress of a sweep and the outcomes since its last call (often none)."""


def lacks(run: Run, plan: SweepPlan, known: dict[str, StoredRun], retry: bool = False) -> bool:
    """Return True if `run` must be made: it is unknown, lacks a measurement, or failed and `retry` is True."""
    of = known.get(run.key)
    return of is None or (retry and of.failed) or not (of.failed or of.asked.issuperset(plan.asked))


def sweep(
    plan: SweepPlan,
    path: str | Path,
    *,
    workers: int | Callable[[], int] = 0,
    executor: Callable[[], Executor] | None = None,
    told: Told = lambda progress, outcomes: None,
    retry: bool = False,
) -> Progress:
    """Make the missing runs of a plan, store them in the results file at `path`; return the final progress.

    `workers` is their number, or a function that returns it; 0 is one on each core, or as many as have enough memory.
    `executor` makes the pool; None makes processes here. Code and traces are sent to workers by content, so that they
    need no files. With `retry`, runs that failed earlier are made again.
    """
    many = workers if callable(workers) else partial(int, workers or cores())
    runs = deque(plan.runs())
    with Results(path, write=True) as results:
        known, asked = results.known(), len(runs)
        runs = deque(run for run in runs if lacks(run, plan, known, retry))
        progress = Progress(asked, asked - len(runs), workers=many())
        told(progress, [])
        if runs:
            with Copies(runs, partial(_hear, progress, told)) as copies:
                progress.reading = None
                if executor is None and not workers and (fewer := _as_memory_allows(copies.jobs)) < progress.workers:
                    many, progress.workers, progress.jobs = partial(int, fewer), fewer, copies.jobs
                tasks = (Task(run, copy_of(run), copies.code_of(run), plan.asked) for run in _emptied(runs))
                make = executor or partial(LocalPool, min(progress.workers, progress.missing))
                _Sweep(tasks, copies, results, make, many, progress, told).make()
        return progress


def _hear(progress: Progress, told: Told, trace: str, share: float) -> None:
    """Call `told` once for each percent (`share` is 0 to 1) of the trace that has been read."""
    if progress.reading is None or progress.reading[0] != trace or share - progress.reading[1] >= 0.01:
        progress.reading = trace, share
        told(progress, [])


def _as_memory_allows(jobs: int) -> int:
    """Return the number of workers: one for each core or, if memory is short, as many as can hold `jobs` jobs."""
    free = free_memory()
    return cores() if free is None else min(cores(), max(free // size_of_worker(jobs), 1))


def _emptied(runs: deque[Run]) -> Iterator[Run]:
    while runs:
        yield runs.popleft()


def _ask(pool: Executor) -> None:
    """Raise an error unless a worker answers and has the same version; otherwise every run would fail."""
    try:
        pool.submit(check_versions, versions()).result()
    except SchedscopeError:
        raise
    except BrokenExecutor as error:
        raise SchedscopeError(f"no worker stays alive: {error}") from None
    except Exception as error:
        raise SchedscopeError(f"a worker cannot do it: {type(error).__name__}: {error}") from None


class _Sweep:
    """Runs still to be sent, runs that workers have, and runs suspected of having killed a worker."""

    def __init__(
        self,
        tasks: Iterator[Task],
        copies: Copies,
        results: Results,
        make: Callable[[], Executor],
        workers: Callable[[], int],
        progress: Progress,
        told: Told,
    ) -> None:
        self._tasks, self._copies, self._results, self._make_pool = tasks, copies, results, make
        self._workers, self._progress, self._told = workers, progress, told
        self._back: deque[Task] = deque()
        """Runs that workers have returned without having made them; they are sent again."""
        self._suspects: deque[tuple[Task, ...]] = deque()
        self._deaths: dict[str, int] = {}
        self._flight: dict[Future[RunMade], tuple[Task, ...]] = {}

    def make(self) -> None:
        pool = self._make_pool()
        try:
            _ask(pool)
            while self._fill(pool):
                done, _ = wait(self._flight, timeout=_BEAT, return_when=FIRST_COMPLETED)
                if self._take(done, pool):
                    self._end(pool)
                    pool = self._make_pool()
                    _ask(pool)
        except BaseException:
            self._end(pool)
            raise
        pool.shutdown()

    def _end(self, pool: Executor) -> None:
        for future in self._flight:
            future.cancel()
        if isinstance(pool, LocalPool):
            pool.stop()
        else:
            pool.shutdown(wait=False)

    def _fill(self, pool: Executor) -> bool:
        """Send bundles of runs until each worker has enough of them; return True if at least one run is being made."""
        self._progress.workers = max(1, self._workers())
        while len(self._flight) < (1 if self._suspects else 2 * self._progress.workers):
            if self._suspects and self._flight:
                break
            bundle = self._suspects.popleft() if self._suspects else self._bundle()
            if not bundle or not self._send(pool, bundle):
                break
        self._progress.running = sum(map(len, self._flight.values()))
        return bool(self._flight)

    def _send(self, pool: Executor, bundle: tuple[Task, ...], lacks: str = "") -> bool:
        """Send a bundle, with the trace whose key it `lacks`; return False if the pool is broken."""
        sent = {lacks: self._copies[lacks]} if lacks else None
        try:
            self._flight[pool.submit(work, bundle, PATIENCE, versions(), sent)] = bundle
        except BrokenExecutor as error:
            broken: Future[RunMade] = Future()
            broken.set_exception(error)
            self._flight[broken] = bundle
            return False
        return True

    def _bundle(self) -> tuple[Task, ...]:
        """Return the next runs for one worker; fewer near the end, so that all finish at about the same time."""
        ahead = self._progress.missing - sum(map(len, self._flight.values()))
        size = max(1, min(LARGEST, math.ceil(ahead / (4 * self._progress.workers))))
        taken = [self._back.popleft() for _ in range(min(size, len(self._back)))]
        return (*taken, *islice(self._tasks, size - len(taken)))

    def _take(self, done: set[Future[RunMade]], pool: Executor) -> bool:
        """Store the outcomes of finished bundles; return True if a worker has died."""
        broken = False
        made: list[Outcome] = []
        for future in done:
            try:
                found = future.result()
            except BrokenExecutor:
                broken = True
                continue
            except CancelledError:
                raise SchedscopeError("the workers are gone; ask again to go on") from None
            except SchedscopeError:
                raise
            except Exception:  # workers of a cluster die without it
                made += self._retry_lost([self._flight.pop(future)])
                continue
            bundle = self._flight.pop(future)
            made += found.outcomes
            ahead = bundle[len(found.outcomes) :]
            if found.lacks:
                self._send(pool, ahead, found.lacks)
            else:
                self._back.extendleft(reversed(ahead))
        if broken:
            bundles = list(self._flight.values())
            self._flight.clear()
            made += self._retry_lost(bundles)
        if made:
            self._results.add(made)
            self._progress.made += len(made)
            self._progress.failed += sum(1 for outcome in made if outcome.measured is None)
            self._progress.cpu += sum(outcome.cpu for outcome in made)
        self._told(self._progress, made)
        return broken

    def _retry_lost(self, bundles: list[tuple[Task, ...]]) -> list[Outcome]:
        """Send lost bundles again, alone and then in halves; return runs that killed too many workers as failed."""
        if len(bundles) > 1:
            self._suspects.extend(bundles)
            return []
        (bundle,) = bundles
        if len(bundle) > 1:
            self._suspects.extendleft((bundle[len(bundle) // 2 :], bundle[: len(bundle) // 2]))
            return []
        task = bundle[0]
        self._deaths[task.run.key] = self._deaths.get(task.run.key, 0) + 1
        if self._deaths[task.run.key] < DEATHS:
            self._suspects.appendleft(bundle)
            return []
        return [Outcome(task.run, None, error="its worker died, again and again", groups=task.groups)]


# Forecast of its time: runs cost as much as similar stored runs or, without these, as a trial shows

TRIED = 250
"""Number of jobs in the first trial run; it is doubled until a run takes long enough to be measured."""
LONG_ENOUGH = 0.2
FORECAST_PATIENCE = 5.0
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
    end = monotonic() + FORECAST_PATIENCE
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
