"""Life of one job (`life_of`): the events from its submission to its end, and its reasons to wait."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import inf

from sim.engine.engine import Engine
from sim.history.past import specs_of
from sim.history.stretch_queries import InTheWay, in_the_way_of, passers_of
from sim.life.job_recorder import JobRecorder
from sim.life.moments import Foreseen, Moment, Pass, Paused, Shared, Waited
from sim.machine.processors import Placement
from sim.policies.policy import Policy
from sim.support.formatting import clock
from sim.timeline.scenario import Scenario
from sim.workload.model import Job, Workload
from sim.workload.outages import absent


@dataclass(frozen=True)
class Life:
    """Life of one job under one policy: its events, and its `start` and `end`, or None."""

    policy: str
    """Spec of the policy; after switches, all specs with the times of the switches."""
    procs: int
    """Number of processors of the machine, available or not."""
    there: int
    """Number of processors available when the job was submitted."""
    job: Job
    start: float | None
    """Time at which the job first ran, in a matrix had its first turn; None if it did not start."""
    end: float | None
    ran: float | None
    """Run time in seconds, without lost work and suspensions; None if the job did not end."""
    moments: tuple[Moment, ...]
    passes: tuple[Pass, ...]
    in_its_way: InTheWay | None = None
    """Jobs that passed this job and held processors which it lacked; None if unknown, as on nodes."""
    asked: str = ""
    """Request of the job on a machine of nodes, as text; "" on equal processors."""

    def __repr__(self) -> str:
        began, ended = ("never" if at is None else clock(at) for at in (self.start, self.end))
        return f"<Life of job {self.job.id} under {self.policy}: starts {began}, ends {ended}>"

    @property
    def wait(self) -> float | None:
        return None if self.start is None else self.job.waited(self.start)

    @property
    def waits(self) -> tuple[Waited, ...]:
        """Return the stretches in which the job waited, with gaps only where it loses its work."""
        return tuple(m for m in self.moments if isinstance(m, Waited))

    @property
    def plans(self) -> tuple[Foreseen, ...]:
        return tuple(m for m in self.moments if isinstance(m, Foreseen))

    @property
    def pauses(self) -> tuple[Paused, ...]:
        return tuple(m for m in self.moments if isinstance(m, Paused))

    @property
    def stay(self) -> Shared | None:
        return next((m for m in self.moments if isinstance(m, Shared)), None)


def life_of(
    workload: Workload,
    policy: Policy | str,
    rank: int,
    *,
    placement: Placement = "lowest",
    switches: Iterable[tuple[float, Policy | str]] = (),
) -> Life:
    """Return the life of the job with this rank; `switches` has (time, policy) of each change during the run."""
    scenario = Scenario(workload, policy, switches, placement)
    engine = scenario.at_the_beginning()
    return watch(engine, rank, scenario.stepper(engine))


def watch(engine: Engine, rank: int, step: Callable[[], bool] | None = None) -> Life:
    """Run an engine, before the job's submission, until the job ends; return its life. `step` makes a step."""
    step = step or engine.step
    earliest = inf
    while (time := engine.next_time()) is not None:
        if earliest == inf or time >= earliest:
            earliest = _earliest(engine, rank)
        if time >= earliest:
            break
        step()
    observer = JobRecorder(engine, engine.workload.jobs[rank], step)
    while observer.see_step():
        pass
    job = observer.job
    given_up = rank in engine.moment.dropped
    passers, shape = passers_of(engine.history, rank, job.submit), engine.workload.shape
    switches = engine.moment.switches  # also those of an adaptive policy, because they decide what happens to the job
    return Life(
        policy=specs_of(switches[0].was if switches else engine.moment.policy, switches),
        procs=engine.moment.procs,
        there=engine.moment.procs - absent(engine.workload.outages, job.submit).bit_count(),
        job=job,
        start=engine.moment.start_of(rank),
        end=engine.now if observer.ended and not given_up else None,
        ran=engine.workload.runtimes[rank] if observer.ended and not given_up else None,
        moments=observer.told(),
        passes=tuple(observer.passes),
        in_its_way=None if shape else in_the_way_of(engine.history, job, passers, engine.workload.outages),
        asked="" if shape is None else shape.asked(shape.requests[rank]),
    )


def _earliest(engine: Engine, rank: int) -> float:
    """Return the earliest time at which the job may be submitted, as far as the jobs tell for which it waits."""
    workload, has_come = engine.workload, engine.moment.has_come
    if not workload.follows or workload.follows[rank] is None:
        return workload.jobs[rank].submit
    earliest: dict[int, float] = {}
    ahead = [rank]
    while ahead:  # a job waits only for jobs of lower ranks
        if (one := ahead.pop()) not in earliest:
            follow, earliest[one] = workload.follows[one], inf
            if has_come(one):
                earliest[one] = -inf
            elif follow is None:
                earliest[one] = workload.jobs[one].submit
            elif one == rank or workload.may_cancel:
                ahead += (part.job for part in follow.after)
    for one in sorted(earliest):
        follow = workload.follows[one]
        if follow is not None and earliest[one] == inf and (one == rank or workload.may_cancel):
            times = [earliest[part.job] for part in follow.after]
            earliest[one] = min(times) if follow.is_any or workload.may_cancel else max(times)
    return earliest[rank]
