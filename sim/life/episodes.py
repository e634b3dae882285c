"""Text about a job's wait: neighbouring stretches with one reason each are joined to episodes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Generic, Protocol, TypeVar

from sim.decisions.reasons_inferred import Heads, NotConsidered
from sim.decisions.sentences import Reason, past, words_of
from sim.life.life import Life
from sim.life.moments import Pass, Waited
from sim.support.formatting import clock_near, count, listed, name, span
from sim.workload.model import Job

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
