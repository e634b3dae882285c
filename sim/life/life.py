"""Life of one job (`life_of`): the events from its submission to its end, and its reasons to wait. Neighbouring
stretches of its wait with one reason each are joined to episodes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from math import inf
from typing import Generic, Protocol, TypeVar

from sim.decisions.reasons_inferred import Heads, NotConsidered
from sim.decisions.sentences import Reason, past, words_of
from sim.engine.engine import Engine
from sim.history.past import specs_of
from sim.history.stretch_queries import InTheWay, in_the_way_of, passers_of
from sim.life.job_recorder import JobRecorder
from sim.life.moments import Foreseen, Moment, Pass, Paused, Shared, Waited
from sim.machine.processors import Placement
from sim.policies.policy import Policy
from sim.support.formatting import clock, clock_near, count, listed, name, span
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


MOST_STRETCHES = 400
"""Number of stretches above which neighbours are first joined in equal groups, as comparing all is slow."""

# Reasons


def _blockers(waits: Sequence[Waited], many: str) -> str:
    """Return the jobs that blocked this one, the longest first; `many` is their noun, and all if none is known."""
    seconds: dict[Job, float] = {}
    for wait in waits:
        if wait.blocker is not None:
            seconds[wait.blocker] = seconds.get(wait.blocker, 0) + wait.until - wait.time
    if len(seconds) <= 1:
        return "".join(map(name, seconds)) or many
    longest = sorted(seconds, key=lambda job: -seconds[job])
    return f"{many} ({listed((f'{name(job)} for {span(seconds[job])}' for job in longest), 3)})"


def because_of(state: Reason, waits: Sequence[Waited], job: Job) -> str:
    return past(state, job, partial(_blockers, waits))


def _numbers(state: Reason, waits: Sequence[Waited], job: Job) -> str:
    if isinstance(state, NotConsidered):
        return f", though {fitted}" if (fitted := fitted_for(waits)) else ", and it would not have fitted in any case"
    ranges = words_of(state).ranges
    if not ranges:
        return ""
    told = {key: _range(waits, key) for key in {key for wait in waits for key in wait.numbers}}
    return f": {ranges.format(procs=f'{job.procs:,}', **told)}"


def fitted_for(waits: Sequence[Waited]) -> str:
    """Return text on how long the job would have fitted although it waited; "" if it never fitted."""
    fitting = sum(wait.fitting for wait in waits)
    if not fitting:
        return ""
    return f"it would have fitted {'the whole' if fitting == seconds_of(waits) else f'{span(fitting)} of that'} time"


def _range(waits: Sequence[Waited], key: str) -> str:
    ranges = [wait.numbers[key] for wait in waits if key in wait.numbers]
    low, high = min(r.low for r in ranges), max(r.high for r in ranges)
    return f"{low:,.12g}" if low == high else f"{low:,.12g} to {high:,.12g}"


# Episodes


def seconds_of(stretches: Iterable[Lasting]) -> float:
    return sum(stretch.seconds for stretch in stretches)


def by_kind(waits: Iterable[Waited]) -> dict[type, list[Waited]]:
    kinds: dict[type, list[Waited]] = {}
    for wait in waits:
        kinds.setdefault(type(wait.state), []).append(wait)
    return dict(sorted(kinds.items(), key=lambda item: -seconds_of(item[1])))


class Lasting(Protocol):
    """Stretch of time: anything with a length in seconds."""

    @property
    def seconds(self) -> float: ...


S = TypeVar("S", bound=Lasting)


@dataclass(frozen=True)
class _Episode(Generic[S]):
    stretches: tuple[S, ...]
    kinds: frozenset[object]
    seconds: float

    def __add__(self, other: _Episode[S]) -> _Episode[S]:
        return _Episode(self.stretches + other.stretches, self.kinds | other.kinds, self.seconds + other.seconds)


def episodes(stretches: Sequence[S], most: int, kind: Callable[[S], object]) -> list[tuple[S, ...]]:
    """Return at most `most` episodes: the shortest stretch is joined to a neighbour, of its `kind` if possible."""
    chunk = -(-len(stretches) // MOST_STRETCHES) or 1
    told: list[_Episode[S]] = []
    for index in range(0, len(stretches), chunk):
        some = tuple(stretches[index : index + chunk])
        told.append(_Episode(some, frozenset(map(kind, some)), seconds_of(some)))
    while len(told) > most:
        at = min(range(len(told)), key=lambda index: told[index].seconds)
        beside = [index for index in (at - 1, at + 1) if 0 <= index < len(told)]
        other = min(beside, key=lambda index: (told[index].kinds != told[at].kinds, told[index].seconds))
        first = min(at, other)
        told[first : first + 2] = [told[first] + told[first + 1]]
    return [episode.stretches for episode in told]


def told_episode(waits: Sequence[Waited], life: Life, first: bool) -> str:
    """Return a sentence on why the job waited and which jobs passed it; `first`: at the beginning of its wait."""
    job, time, until = life.job, waits[0].time, waits[-1].until
    kinds = by_kind(waits)
    steps = count(sum(wait.steps for wait in waits), "step")
    changes = f", {count(len(waits) - 1, 'change')}" if len(waits) > 1 else ""
    head = f"For {span(until - time)} ({steps}{changes})"
    parts = [because_of(some[0].state, some, job) + _numbers(some[0].state, some, job) for some in kinds.values()]
    if len(kinds) > 1:
        shares = [span(seconds_of(some)) for some in kinds.values()]
        told = f"{head}: {'; '.join(f'{share} {part}' for share, part in zip(shares, parts, strict=True))}."
    else:
        told = f"{head} {parts[0]}{_ahead(waits)}."
    state, counts = waits[0].state, first or isinstance(waits[0].state, Heads)
    if waits[0].missing and counts and not words_of(state).wants_victims:
        told += _missing(waits[0], job)
    return told + _passers([p for p in life.passes if time <= p.time < until])


def _ahead(waits: Sequence[Waited]) -> str:
    first, last = waits[0].ahead[0], waits[-1].ahead[1]
    if not first and not last:
        return ""
    left = f"{last:,}" if last else "none"
    then = f", {left} at the end" if last != first else ""
    head = waits[0].head if len(waits) == 1 and waits[0].head is not waits[0].blocker else None
    if head and first == last == 1:
        return f"; {name(head)} ahead of it"
    led = f", {name(head)} first in the queue" if head else ""
    return f"; {count(first, 'job')} ahead of it{then}{led}"


def _missing(wait: Waited, job: Job) -> str:
    at = clock_near(wait.time)
    holders = [f"{name(h.job)} ({h.job.procs:,}, until {at(h.until)})" for h in wait.missing]
    if len(holders) > 4:
        holders[2:-1] = [f"{len(holders) - 3:,} more"]
    more = "more " if wait.lacking < job.procs else ""
    return f" It lacked {count(wait.lacking, f'{more}processor')}, due from {listed(holders)}."


def _passers(passes: Sequence[Pass]) -> str:
    if not passes:
        return ""
    if len(passes) <= 3:
        return f" {listed(name(p.job) for p in passes)} passed it."
    return f" {len(passes):,} jobs passed it."
