"""Run that receives its events one instant at a time, in a process that must not know the future."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

import numpy as np

from sim.decisions.decisions import Decision
from sim.engine.engine import Engine
from sim.policies.policy import Policy
from sim.workload.model import Job, Workload


class BlindRun:
    """Run of one policy; another process has the jobs to come and the true run times."""

    def __init__(self, policy: Policy, procs: int, many: int) -> None:
        never, none = np.full(many, inf), np.full(many, -1)
        workload = Workload.known_by(
            [""] * many, name="blind run", procs=procs, submit=never, width=none, runtime=never, reserve=never
        )
        self._engine = Engine(workload, policy, curious=False)

    def happen(
        self, time: float, arrived: Sequence[Job], ended: Sequence[tuple[int, float]], curious: bool
    ) -> tuple[list[Decision], float | None]:
        """Make the step at this time, at which jobs arrive and others end: (rank, run time in seconds). Return its
        decisions, and the time at which the policy wants the next step at the latest, or None.
        """
        engine, decisions = self._engine, list[Decision]()
        for job in arrived:
            engine.workload.jobs.made[job.rank], engine._submits[job.rank] = job, job.submit
        for rank, runtime in ended:
            engine._future.runtimes[rank] = runtime
            if (stay := engine.present._running.get(rank)) is not None:
                engine._future.add(stay)
        engine.curious = curious
        while True:
            engine._make_step(time, None, False)
            decisions += engine.moment.decisions if curious else engine.history.decisions(engine.step_count - 1)
            after = engine.next_time()
            if after is None or after > time:  # a policy that leads others may switch at once
                return decisions, after

    def seats_of(self, job: Job) -> int | None:
        """Return the processors of a running job, as bits; None if it does not run."""
        return self._engine.present._machine.held.get(job.rank)
