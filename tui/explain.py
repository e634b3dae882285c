"""The life of a job told: what `schedscope explain` prints. All that it says is in `sim.life.Life`."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from sim import decisions as d
from sim.life import (
    Ended,
    Heads,
    Holder,
    Life,
    Moment,
    NotConsidered,
    Pass,
    Planned,
    Requeued,
    Started,
    Submitted,
    Suspended,
    Told,
    Unplanned,
    Waited,
)
from sim.sentences import clock, clock_near, listed, name, processors, say, span, why, words
from sim.workload.model import Job
from tui import text

NARROWEST, WIDEST = 40, 100
MOST_LINES = 40
"""A story is told so that it keeps to this, by merging what it can."""
FINENESS = ((14, 6), (10, 6), (7, 6), (5, 5), (4, 3), (3, 2), (2, 1))
"""How many episodes of the wait and how many plans are told: as many as there is room for."""
MOST_STRETCHES = 400
"""More than these are not looked at one by one."""

Row = tuple[float, str]
Lines = list[str]


def render(life: Life, width: int, unicode: bool = True) -> str:
    """The story of the job for a terminal of `width` columns; `unicode=False` writes ASCII only."""
    width = min(max(width, NARROWEST), WIDEST)
    lines: Lines = []
    for episodes, plans in FINENESS:
        lines = _page(life, width, unicode, episodes, plans)
        if len(lines) <= MOST_LINES:
            break
    drawn = "\n".join(lines)
    return drawn if unicode else text.plain(drawn)


def _page(life: Life, width: int, unicode: bool, episodes: int, plans: int) -> Lines:
    title = text.shorten(text.printable(f"{name(life.job)} under {life.policy}"), width)
    lines = [title, ("═" if unicode else "=") * text.cells(title)]
    lines += _wrapped(_facts(life), width)
    lines += ["", *_wrapped(summary(life), width), ""]
    rows = _story(life, episodes, plans)
    margin = max(len(clock(time)) for time, _ in rows) + 2
    before = None
    for time, told in rows:
        stamp = "" if time == before else clock(time)
        lines += _wrapped(told, width, stamp.ljust(margin), " " * margin)
        before = time
    return lines + _plans(life, width, unicode, plans)


def _wrapped(told: str, width: int, first: str = "", rest: str = "") -> Lines:
    """A paragraph; a day and its time stay on one line."""
    tied = re.sub(r"\b(d\d+) (?=\d\d:)", "\\1\xa0", text.printable(told))
    wrapped = textwrap.wrap(tied, width, initial_indent=first, subsequent_indent=rest, break_on_hyphens=False)
    return [line.replace("\xa0", " ") for line in wrapped]


def _facts(life: Life) -> str:
    job = life.job
    facts = [
        f"{job.procs:,} of {processors(life.procs)}",
        f"estimate {span(job.estimate)}",
        _ran(life),
        f"submitted {clock(job.submit)}",
    ]
    return " · ".join(facts)


def _ran(life: Life) -> str:
    if life.ran is None:
        return "never ended"
    verb = "killed after" if any(isinstance(m, Ended) and m.killed for m in life.moments) else "ran"
    return f"{verb} {span(life.ran)}"


# The summary


def summary(life: Life) -> str:
    """In one sentence: how long it waited, for what reasons, and how many passed it."""
    who, wait, total = name(life.job), life.wait, _seconds(life.waits)
    if wait is None:
        return f"{who} never started."
    if not total:
        return f"{who} did not wait: it started at the moment of its submission."
    shares = sorted(_by_reason(life.waits, life.job).items(), key=lambda share: -share[1])
    reasons = [f"{span(seconds)} because {because}" for because, seconds in shares if seconds > total / 100]
    if len(reasons) == 1:
        because = f" because {shares[0][0]}"
    elif any("," in reason for reason in reasons):
        because = f": {'; '.join(reasons)}"
    else:
        because = f": {listed(reasons, 5)}"
    again = f" ({span(total - wait) if wait else 'all'} of it after its first start)" if total > wait else ""
    return f"{who} waited {span(total)}{again}{because}. {_passed(life)}"


def _by_reason(waits: Sequence[Waited], job: Job) -> dict[str, float]:
    """Seconds by reason, where reasons that read the same are one."""
    kinds = _by_kind(waits)
    seconds: dict[str, float] = {}
    for kind, some in kinds.items():
        because = _because(TooFew if kind is Heads else kind, some, job)
        if kind is NotConsidered:
            because += f", though {fitted}" if (fitted := _fitted(some)) else ""
        seconds[because] = seconds.get(because, 0) + _seconds(some)
    return seconds


def _passed(life: Life) -> str:
    """How many passed it, and who the largest were."""
    passes = life.passes
    if not passes:
        return "No job passed it."
    large = sorted(passes, key=lambda p: -p.job.procs * p.job.estimate)[:3]
    names = listed(f"{name(p.job)} ({processors(p.job.procs)} for up to {span(p.job.estimate)})" for p in large)
    who = f"the largest {names}" if len(passes) > len(large) else names
    told = f"{text.count(len(passes), 'job')} passed it: {who}."
    ahead = sum(not p.behind for p in passes)
    if ahead:
        told += f" {_some(ahead, len(passes))} came later but stood ahead of it in the queue's order."
    return told


def _some(part: int, whole: int) -> str:
    return ("It" if whole == 1 else "All of them") if part == whole else f"{part:,} of them"


# What kept it waiting

TooFew = d.TooFewFree


def _few(waits: Sequence[Waited], job: Job) -> str:
    return f"fewer than its {processors(job.procs)} were free" if job.procs > 1 else "no processor was free"


def _blockers(waits: Sequence[Waited], many: str) -> str:
    """The jobs that are named as reasons: those that were it longest."""
    seconds: dict[Job, float] = {}
    for wait in waits:
        if wait.blocker is not None:
            seconds[wait.blocker] = seconds.get(wait.blocker, 0) + wait.until - wait.time
    if len(seconds) <= 1:
        return "".join(map(name, seconds)) or many
    longest = sorted(seconds, key=lambda job: -seconds[job])
    return f"{many} ({listed((f'{name(job)} for {span(seconds[job])}' for job in longest), 3)})"


BECAUSE: dict[type, Callable[[Sequence[Waited], Job], str]] = {
    TooFew: _few,
    Heads: lambda waits, job: f"it headed the queue and {_few(waits, job)}",
    NotConsidered: lambda waits, job: f"the queue stopped at {_blockers(waits, 'jobs ahead of it')}",
    d.WouldDelay: lambda waits, job: f"starting it would have delayed {_blockers(waits, 'the head of the queue')}",
    d.PlannedLater: lambda waits, job: "what was free was needed too soon by jobs planned before it",
    d.WindowCloses: lambda waits, job: f"it would have outlasted the window for {_blockers(waits, 'the head')}",
    d.BreaksBound: lambda waits, job: f"it would have pushed {_blockers(waits, 'others')} past their bounds",
    d.NotYet: lambda waits, job: "the trace starts it later",
    d.PivotLater: lambda waits, job: "it headed its queue, but too much was needed by others before its planned start",
    d.WouldDelayPivot: lambda waits, job: f"starting it would have delayed {_blockers(waits, 'the pivots')}",
    d.TouchesReservation: lambda waits, job: f"it would have touched what is reserved for {_blockers(waits, 'others')}",
    d.TrialLater: lambda waits, job: "its speculative run was reserved for later",
    d.WaitsForReserved: lambda waits, job: "its user had asked for a later start",
    d.WaitsForOwn: lambda waits, job: "other jobs were on its own processors",
    d.NoVictims: lambda waits, job: "it had too few victims: running jobs with an xfactor so much smaller than its own",
    d.NoSliceOver: lambda waits, job: "too few running jobs had had their slice",
    Suspended: lambda waits, job: "it was suspended",
}
"""The reason for some stretches of one kind, after "because"."""


def _because(kind: type, waits: Sequence[Waited], job: Job) -> str:
    told = BECAUSE.get(kind)
    return told(waits, job) if told else words(kind.__name__)


def _numbers(kind: type, waits: Sequence[Waited], job: Job) -> str:
    """The numbers that belong to it, as ranges."""
    if kind is d.WouldDelay:
        return f": it needs {job.procs:,}, {_range(waits, 'extra')} extra"
    if kind in (TooFew, Heads):
        return f": {_range(waits, 'free')}"
    if kind is NotConsidered:
        return f", though {fitted}" if (fitted := _fitted(waits)) else ", and it would not have fitted anyway"
    return f": {_range(waits, 'free')} free" if kind in (d.PlannedLater, d.BreaksBound) else ""


def _fitted(waits: Sequence[Waited]) -> str:
    """For how long enough processors were free."""
    fitting = sum(wait.fitting for wait in waits)
    if not fitting:
        return ""
    return f"it would have fitted {'all' if fitting == _seconds(waits) else span(fitting)} of that time"


def _range(waits: Sequence[Waited], key: str) -> str:
    ranges = [wait.numbers[key] for wait in waits if key in wait.numbers]
    low, high = min(r.low for r in ranges), max(r.high for r in ranges)
    return f"{low:,.12g}" if low == high else f"{low:,.12g} to {high:,.12g}"


# Episodes: stretches that are told together


def _seconds(waits: Iterable[Waited]) -> float:
    return sum(wait.until - wait.time for wait in waits)


def _by_kind(waits: Iterable[Waited]) -> dict[type, list[Waited]]:
    """Those of one kind together, the longest kind first."""
    kinds: dict[type, list[Waited]] = {}
    for wait in waits:
        kinds.setdefault(type(wait.state), []).append(wait)
    return dict(sorted(kinds.items(), key=lambda item: -_seconds(item[1])))


@dataclass(frozen=True)
class _Episode:
    waits: tuple[Waited, ...]
    kinds: frozenset[type]
    seconds: float

    def __add__(self, other: _Episode) -> _Episode:
        return _Episode(self.waits + other.waits, self.kinds | other.kinds, self.seconds + other.seconds)


def _together(waits: Sequence[Waited]) -> _Episode:
    return _Episode(tuple(waits), frozenset(type(wait.state) for wait in waits), _seconds(waits))


def _episodes(waits: Sequence[Waited], most: int) -> list[tuple[Waited, ...]]:
    """At most so many: the shortest is joined to a neighbour, one of the same kind if there is one, until it is so."""
    chunk = -(-len(waits) // MOST_STRETCHES)
    told = [_together(waits[index : index + chunk]) for index in range(0, len(waits), chunk or 1)]
    while len(told) > most:
        at = min(range(len(told)), key=lambda index: told[index].seconds)
        beside = [index for index in (at - 1, at + 1) if 0 <= index < len(told)]
        other = min(beside, key=lambda index: (told[index].kinds != told[at].kinds, told[index].seconds))
        first = min(at, other)
        told[first : first + 2] = [told[first] + told[first + 1]]
    return [episode.waits for episode in told]


def _episode(waits: Sequence[Waited], life: Life, first: bool) -> str:
    """What kept the job waiting in these stretches, and who passed it meanwhile."""
    job, time, until = life.job, waits[0].time, waits[-1].until
    kinds = _by_kind(waits)
    steps = text.count(sum(wait.steps for wait in waits), "step")
    changes = f", {text.count(len(waits) - 1, 'change')}" if len(waits) > 1 else ""
    head = f"For {span(until - time)} ({steps}{changes})"
    parts = [_because(kind, some, job) + _numbers(kind, some, job) for kind, some in kinds.items()]
    if len(kinds) > 1:
        shares = [span(_seconds(some)) for some in kinds.values()]
        told = f"{head}: {'; '.join(f'{share} {part}' for share, part in zip(shares, parts, strict=True))}."
    else:
        told = f"{head} {parts[0]}{_ahead(waits)}."
    if waits[0].missing and (first or isinstance(waits[0].state, Heads)):
        told += _missing(waits[0], job)
    return told + _passers([p for p in life.passes if time <= p.time < until])


def _ahead(waits: Sequence[Waited]) -> str:
    """How many stood ahead of it, at first and at last, and who headed the queue."""
    first, last = waits[0].ahead[0], waits[-1].ahead[1]
    if not first and not last:
        return ""
    then = f", at last {last or 'none'}" if last != first else ""
    head = waits[0].head if len(waits) == 1 and waits[0].head is not waits[0].blocker else None
    if head and first == last == 1:
        return f"; {name(head)} ahead of it"
    led = f", {name(head)} heading the queue" if head else ""
    return f"; {text.count(first, 'job')} ahead of it{then}{led}"


def _missing(wait: Waited, job: Job) -> str:
    """Whose processors it waits for at the beginning of a stretch."""
    at = clock_near(wait.time)
    holders = [f"{name(h.job)} ({h.job.procs:,}, until {at(h.until)})" for h in wait.missing]
    if len(holders) > 4:
        holders[2:-1] = [f"{len(holders) - 3} more"]
    more = " more" if wait.lacking < job.procs else ""
    return f" It needed {wait.lacking:,}{more}, to come from {listed(holders)}."


def _passers(passes: Sequence[Pass]) -> str:
    if not passes:
        return ""
    if len(passes) <= 3:
        return f" {listed(name(p.job) for p in passes)} passed it."
    return f" {len(passes):,} jobs passed it."


# Moments


def _story(life: Life, most: int, most_plans: int) -> list[Row]:
    """One row a moment, in order."""
    episodes = {id(waits[0]): waits for waits in _episodes(life.waits, most)}
    plans = _plans_told(life, most_plans)
    first = next(iter(life.waits), None)
    rows: list[Row] = []
    for moment in life.moments:
        if isinstance(moment, Waited):
            if id(moment) in episodes:
                rows.append((moment.time, _episode(episodes[id(moment)], life, moment is first)))
        elif not isinstance(moment, Planned | Unplanned) or id(moment) in plans:
            rows.append((moment.time, _moment(moment, life)))
    return rows


def _plans_told(life: Life, most: int) -> set[int]:
    """The first plan and the greatest moves; all, if they are few."""
    plans = [m for m in life.moments if isinstance(m, Planned | Unplanned)]
    great = sorted(plans[1:], key=lambda m: -abs(m.moved) if isinstance(m, Planned) else 0)
    return {id(m) for m in [*plans[:1], *great[: most - 1]]}


def _moment(moment: Moment, life: Life) -> str:
    at = clock_near(moment.time)
    match moment:
        case Submitted():
            return _submitted(moment)
        case Planned(was=None):
            verb = "Promised" if life.promised else "Planned"
            return f"{verb} to start at {at(moment.at)}{_why_planned(moment, life)}."
        case Planned():
            return _moved(moment, life)
        case Unplanned():
            ahead = f": {name(moment.ahead)} heads the queue now" if moment.ahead else ""
            return f"Its planned start {at(moment.was)} is given up{ahead}."
        case Started():
            return _started(moment, life)
        case Requeued():
            return "Not done within the limit of its run: killed, its work is lost, and it waits again."
        case Told():
            return say(moment.decision, at) + "."
        case Ended():
            return _ended(moment, life)
        case Waited():
            return _episode([moment], life, False)


def _submitted(moment: Submitted) -> str:
    free = f"{processors(moment.free)} free"
    if not moment.ahead:
        return f"Submitted: nobody ahead of it, {free}."
    return f"Submitted: {text.count(moment.ahead, 'job')} ahead of it, wanting {moment.wanted:,}, {free}."


def _moved(moment: Planned, life: Life) -> str:
    at = clock_near(moment.time)
    way = "earlier" if moment.moved < 0 else "later"
    told = f"Planned start moved from {at(moment.was or 0)} to {at(moment.at)}, {span(abs(moment.moved))} {way}"
    if moment.moved < 0 and moment.early:
        return f"{told}: {_early(moment.early, moment.time)}."
    if moment.moved > 0 and moment.passers:
        return f"{told}: {listed(map(name, moment.passers), 3)} passed it."
    if moment.moved > 0 and moment.newcomers:
        return f"{told}: {listed(map(name, moment.newcomers), 3)} came and stood ahead of it."
    return f"{told}{_why_planned(moment, life)}."


def _why_planned(moment: Planned, life: Life) -> str:
    return "" if moment.because is None else f": {why(moment.because, life.job, clock_near(moment.time))}"


def _early(holders: Sequence[Holder], now: float) -> str:
    return listed(
        (f"{name(h.job)} ({h.job.procs:,}) ended {span(h.until - now)} before its estimate" for h in holders), 2
    )


def _started(moment: Started, life: Life) -> str:
    at = clock_near(moment.time)
    verb = "Backfilled" if moment.backfilled else "Started"
    after = f" after {span(life.wait)}" if life.wait else " at once"
    told = f"{verb}{after}: {why(moment.because, life.job, at)}."
    early = [h for h in moment.freed if h.until > moment.time]
    if life.wait and early:
        return f"{told} At that moment {_early(early, moment.time)}."
    if life.wait and moment.freed:
        names = listed((f"{name(h.job)} ({h.job.procs:,})" for h in moment.freed), 3)
        return f"{told} At that moment {names} ended as expected."
    return told


def _ended(moment: Ended, life: Life) -> str:
    ran, turnaround = life.ran or 0, moment.time - life.job.submit
    slowdown = f"; {span(turnaround)} after its submission, a slowdown of {turnaround / ran:,.1f}" if life.waits else ""
    if moment.killed:
        return f"Killed at the end of its estimate of {span(life.job.estimate)}, not done{slowdown}."
    early = life.job.estimate - ran
    estimate = f"{span(early)} before its estimate" if early > 0 else "as long as estimated"
    return f"Ended after {span(ran)}, {estimate}{slowdown}."


# How its planned start moved


def _plans(life: Life, width: int, unicode: bool, told_of: int) -> Lines:
    plans = life.plans
    if not plans or not life.wait or life.start is None:
        return []
    first, moves = plans[0], [plan for plan in plans if plan.was is not None]
    earlier = sum(plan.moved < 0 for plan in moves)
    off = life.start - first.at
    kept = "as first planned" if not off else f"{span(abs(off))} {'later' if off > 0 else 'earlier'} than first planned"
    told = f"Planned start: {clock(first.at)} at first"
    if moves:
        told += f", moved {_times(len(moves))} {_ways(earlier, len(moves) - earlier)}"
    if given_up := sum(isinstance(m, Unplanned) for m in life.moments):
        told += f", given up {_times(given_up)}"
    if len(moves) + given_up >= told_of > 1:
        told += ", the greatest moves told above"
    told += f"; it started at {clock(life.start)}, {kept}."
    return ["", *_wrapped(told, width), *_curve([plan.at for plan in plans] + [life.start], width, unicode)]


def _ways(earlier: int, later: int) -> str:
    if earlier and later:
        return f"({earlier:,} earlier, {later:,} later)"
    return f"({'always ' if earlier + later > 1 else ''}{'earlier' if earlier else 'later'})"


def _times(many: int) -> str:
    return {1: "once", 2: "twice"}.get(many, f"{many:,} times")


def _curve(starts: Sequence[float], width: int, unicode: bool) -> Lines:
    """The planned starts one after another, the actual one last; higher is later."""
    low, high = min(starts), max(starts)
    if len(starts) < 4 or low == high:
        return []
    room = width - 36
    columns = min(len(starts), max(room, 8))
    shown = [starts[index * (len(starts) - 1) // (columns - 1)] for index in range(columns)]
    drawn = text.sparkline([1 + 7 * (value - low) / (high - low) for value in shown], unicode)
    return [f"  {drawn}  {clock(low)} to {clock(high)}"]
