"""Environment of Gymnasium's interface: an agent chooses which waiting job is first; needs the extra `gym`.

    >>> from sim.lab.gym import SchedulingEnv  # doctest: +SKIP
    >>> env = SchedulingEnv("lublin-128", jobs=200, resample="lublin")  # doctest: +SKIP
    >>> observation, info = env.reset(seed=1)  # doctest: +SKIP
    >>> observation, reward, ended, truncated, info = env.step(0)  # doctest: +SKIP

The engine asks at each event, and again after each start, if at least two jobs wait; a job that waits alone is first.
The chosen job starts if it fits. If it does not, others may pass it under EASY's rule, in order of arrival, until the
next event. Always choosing 0 is EASY, or without `backfill` FCFS.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from sim.decisions.reasons import Fits, WhenFree
from sim.engine.engine import Engine
from sim.engine.moment import Moment
from sim.engine.schedule import Schedule
from sim.lab.measured import measured_metric
from sim.machine.moment import is_by
from sim.metrics.aggregates import aggregates
from sim.metrics.finished_jobs import FinishedJobs
from sim.policies.policy import Policy
from sim.support.errors import ParameterError, PolicyError
from sim.support.optional_imports import extra
from sim.workload.job import Job
from sim.workload.model import Workload
from sim.workload.replay import read

Env = extra("gymnasium", "an environment for agents", "gym").Env
spaces = extra("gymnasium.spaces", "an environment for agents", "gym")
greenlet = extra("greenlet", "an environment for agents", "gym").greenlet
SEEN = 64
COLUMNS = ("wait", "estimate", "processors", "fits")
"""Numbers of each job: seconds since it was submitted, estimate in seconds, share of the machine that it needs, and
whether it would start now (1) or not (0)
"""


@dataclass(frozen=True)
class _Asking(Policy):
    """Policy that asks which of the waiting jobs is first."""

    choose: Callable[[Moment, list[Job]], Job] = field(compare=False)
    backfill: bool = True

    plans = "the heads"
    on_nodes = False

    def decide(self, now: Moment) -> None:
        while queue := now.queued():
            head = queue[0] if len(queue) == 1 else self.choose(now, queue)
            if not now.fits(head):
                break
            now.begin(head, Fits(now.free))
        else:
            return
        shadow, left = now.shadow(head)
        now.reserve(head, shadow, WhenFree(now.free, left + head.procs))
        for job in queue if self.backfill else ():
            if job is head or not now.fits(job):
                continue
            late = 0 if is_by(now.time + job.estimate, shadow) else job.procs
            if late <= left:
                now.backfill(job, Fits(now.free))
                left -= late


class SchedulingEnv(Env):  # type: ignore[misc, valid-type]  # of an extra, which may be missing
    """Episodes are runs of a workload; the reward is 0 until the end, then the metric, negative if less is better.

    An observation has two parts. "queue" has a row of `COLUMNS` for each of the first `seen` waiting jobs, in order of
    arrival, rows of 0 where there is none. "machine" is the share of free processors and the number of waiting jobs.
    An action is the row of the job that is to be first; a row without a job means 0. `info["action_mask"]` has 1 for
    rows with a job.
    """

    def __init__(
        self, trace: str | Path | Workload, metric: str = "mean_bounded_slowdown", *, seen: int = SEEN,
        backfill: bool = True, **options: Any,
    ) -> None:  # fmt: skip
        """`options` are those of the command line by name, such as jobs=200; the seed of an episode is one of them."""
        if isinstance(trace, Workload) and options:
            raise ParameterError("a workload that is made takes no options")
        self._trace, self._options, self._backfill = trace, options, backfill
        self._metric, self._seen = measured_metric(metric), seen
        self.observation_space = spaces.Dict(
            queue=spaces.Box(0, np.inf, (seen, len(COLUMNS)), np.float32),
            machine=spaces.Box(0, np.inf, (2,), np.float32),
        )
        self.action_space = spaces.Discrete(seen)
        self._run: _Run | None = None

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.close()
        workload = self._trace
        if not isinstance(workload, Workload):
            own = {"seed": int(self.np_random.integers(2**31)) if seed is None else seed}
            workload = read(workload, **{**own, **self._options})
        self._run = _Run(workload, self._backfill)
        self._run.go_on()
        return self._observation(), self._info()

    def step(self, action: int | np.int64) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        run = self._run
        if run is None or run.is_told:
            raise ParameterError("the episode is over: reset() begins another")
        if run.now is not None:  # else there was nothing to choose in all of the episode
            run.chosen = run.queue[action if 0 <= action < len(run.queue) else 0]
            run.go_on()
        reward, run.is_told = 0.0, run.now is None
        if run.is_told:
            value = aggregates(FinishedJobs.of(run.engine.schedule()))[self._metric.name]
            reward = (1.0 if self._metric.better == "greater" else -1.0) * (value or 0.0)
        return self._observation(), reward, run.is_told, False, self._info()

    def schedule(self) -> Schedule:
        """Return what has been scheduled in this episode."""
        if self._run is None:
            raise ParameterError("there is no episode yet: reset() begins one")
        return self._run.engine.schedule()

    def close(self) -> None:
        if self._run is not None:
            self._run.end()
        self._run = None

    def _observation(self) -> dict[str, Any]:
        assert self._run is not None
        now, queue = self._run.now, self._run.queue[: self._seen]
        jobs = np.zeros((self._seen, len(COLUMNS)), np.float32)
        machine = np.zeros(2, np.float32)
        if now is not None:
            rows = [(now.time - job.submit, job.estimate, job.procs / now.procs, now.fits(job)) for job in queue]
            jobs[: len(rows)] = rows
            machine[:] = now.free / now.procs, len(self._run.queue)
        return {"queue": jobs, "machine": machine}

    def _info(self) -> dict[str, Any]:
        assert self._run is not None
        waits = min(len(self._run.queue), self._seen)
        return {"action_mask": (np.arange(self._seen) < waits).astype(np.int8), "time": self._run.engine.now}


class _Run:
    """Run that stops within a pass for the agent's choice: the engine has a stack of its own."""

    def __init__(self, workload: Workload, backfill: bool) -> None:
        self.engine = Engine(workload, _Asking(self._choose, backfill), curious=False)
        self.now: Moment | None = None
        """The moment at which the agent chooses; None before the run and after its end"""
        self.queue: list[Job] = []
        self.chosen: Job | None = None
        self.is_told = False
        """True if the agent knows that the run has ended"""
        self._stack = greenlet(self._simulate)

    def go_on(self) -> None:
        """Let the engine run until the agent is to choose again, or the run ends."""
        self.now, self.queue = None, []
        self._stack.switch()

    def end(self) -> None:
        """Give up a run that has not ended; its stack would never be freed."""
        if self.now is not None:
            with suppress(PolicyError):
                self._stack.throw(PolicyError("the episode was given up"))

    def _choose(self, now: Moment, queue: list[Job]) -> Job:
        self.now, self.queue = now, queue
        self._stack.parent.switch()
        assert self.chosen is not None
        return self.chosen

    def _simulate(self) -> None:
        while self.engine.step():  # one by one: `run` would keep the agent's objects from being collected
            pass
        self.engine.check_all_done()
