"""Story of a job: its events as rows, each with a time and a text; several events of the same kind can share a row. Its
summary: length and reasons of its wait, jobs that passed it, moves of its planned start.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import inf
from operator import itemgetter
from typing import TypeAlias

from sim.decisions.reasons_inferred import Heads, NotConsidered
from sim.decisions.reasons_to_wait import TooFewFree
from sim.decisions.sentences import jobs_in, say, why
from sim.history.stretch_queries import InTheWay
from sim.life.life import Life, because_of, by_kind, episodes, fitted_for, seconds_of, told_episode
from sim.life.moments import (
    Ended,
    Entered,
    Foreseen,
    Interrupted,
    Moment,
    Ousted,
    Paused,
    Requeued,
    Shared,
    Started,
    Submitted,
    Told,
    Unplanned,
    ValueRange,
    Waited,
)
from sim.machine.processors import written
from sim.policies.columns import Column
from sim.policies.policy import columns_of
from sim.support.formatting import (
    clock,
    clock_near,
    count,
    listed,
    name,
    percent,
    processors,
    processors_wanted,
    span,
    times,
)
from sim.timeline.scenario import Scenario
from sim.why.wait_reasons import Holder
from sim.workload.model import Job

Row: TypeAlias = tuple[float, str]
ALIKE = 3
"""Number of decisions of the same kind that get a row each; all further ones share a row."""


def rows_of(life: Life, most: int, most_plans: int) -> list[Row]:
    """Return the rows in order of time: at most `most` episodes per wait and per run, and `most_plans` plans."""
    kind = lambda wait: type(wait.state)  # noqa: E731
    waits = {id(some[0]): some for wait in _stretches_of_waits(life.waits) for some in episodes(wait, most, kind)}
    cause = lambda pause: type(pause.because)  # noqa: E731
    pauses = {id(some[0]): some for part in _of_each_run(life) for some in episodes(part, most, cause)}
    plans = _plans_told(life, most_plans)
    first = next(iter(life.waits), None)
    rows: list[Row] = []
    for moment in life.moments:
        match moment:
            case Waited():
                if id(moment) in waits:
                    rows.append((moment.time, told_episode(waits[id(moment)], life, moment is first)))
            case Paused():
                if id(moment) in pauses:
                    rows += _pauses(pauses[id(moment)], life.job)
            case Foreseen() | Unplanned():
                if id(moment) in plans:
                    rows.append((moment.time, _sentence_of(moment, life)))
            case Told():
                rows += _row_of_decision(moment, life)
            case _:
                rows.append((moment.time, _sentence_of(moment, life)))
    return sorted(rows, key=itemgetter(0))


def _stretches_of_waits(waits: Sequence[Waited]) -> Iterator[Sequence[Waited]]:
    begin = 0
    for place in range(1, len(waits) + 1):
        if place == len(waits) or waits[place].time != waits[place - 1].until:
            yield waits[begin:place]
            begin = place


def _of_each_run(life: Life) -> Iterator[Sequence[Paused]]:
    lost = [moment.time for moment in life.moments if isinstance(moment, Interrupted)]
    for since, until in pairwise([-inf, *lost, inf]):
        yield [pause for pause in life.pauses if since <= pause.time < until]


def _plans_told(life: Life, most: int) -> set[int]:
    """Return the identities (`id`) of the plans that get a row: the first, and the ones that moved most."""
    plans = [m for m in life.moments if isinstance(m, Foreseen | Unplanned)]
    great = sorted(plans[1:], key=lambda m: -abs(m.moved) if isinstance(m, Foreseen) else 0)
    return {id(m) for m in [*plans[:1], *great[: most - 1]]}


def _row_of_decision(moment: Told, life: Life) -> Iterator[Row]:
    """Yield the row of a decision; the first `ALIKE` of a kind have their own, all others share one."""
    kind = type(moment.decision)
    alike = [m for m in life.moments if isinstance(m, Told) and type(m.decision) is kind]
    place = next(index for index, other in enumerate(alike) if other is moment)
    at = clock_near(moment.time)
    if place < ALIKE:
        said = say(moment.decision, at)
        yield moment.time, f"{said[:1].upper()}{said[1:]}."
    elif place == ALIKE:
        more = len(alike) - ALIKE
        until = f" until {at(alike[-1].time)}" if more > 1 else ""
        yield moment.time, f"{count(more, 'more decision')} of this kind{until}."


def _sentence_of(moment: Moment, life: Life) -> str:
    at = clock_near(moment.time)
    match moment:
        case Submitted():
            return _submitted(moment)
        case Foreseen(was=None):
            verb = "Promised" if moment.promised else "Planned"
            return f"{verb} to start at {at(moment.at)}{_why_planned(moment, life)}."
        case Foreseen():
            return _moved_sentence(moment, life)
        case Unplanned():
            ahead = f": {name(moment.ahead)} is now first in the queue" if moment.ahead else ""
            return f"Planned start {at(moment.was)} dropped{ahead}."
        case Started():
            return _started(moment, life)
        case Interrupted():
            lost = "its processors went down; its work is lost and it returns to the queue"
            return f"Interrupted after {span(moment.lost)}: {lost}."
        case Requeued():
            killed = f"Speculative run killed after {span(moment.lost)}"
            return f"{killed}: its work is lost and the job returns to the queue."
        case Ousted():
            return "Its row had not had a turn when the policy was switched: it returns to the queue."
        case Entered():
            return _entered(moment, life)
        case Shared():
            return _shared(moment, life)
        case Ended():
            return _ended_sentence(moment, life)
        case _:
            raise TypeError(f"{type(moment).__name__} has no row of its own")


def _submitted(moment: Submitted) -> str:
    row = " in the emptiest row" if moment.in_rows else ""
    free = "" if moment.free is None else f", {processors(moment.free)} free{row} after this step"
    if not moment.ahead:
        return f"Submitted: no job ahead of it{free}."
    return f"Submitted: {count(moment.ahead, 'job')} ahead of it, wanting {moment.wanted:,}{free}."


def _moved_sentence(moment: Foreseen, life: Life) -> str:
    at = clock_near(moment.time)
    way = "earlier" if moment.moved < 0 else "later"
    told = f"Planned start moved from {at(moment.was or 0)} to {at(moment.at)}, {span(abs(moment.moved))} {way}"
    if moment.moved < 0 and moment.early:
        return f"{told}: {_early_ends(moment.early, moment.time)}."
    if moment.moved > 0 and moment.passers:
        return f"{told}: {listed(map(name, moment.passers), 3)} passed it."
    if moment.moved > 0 and moment.newcomers:
        were = "was" if len(moment.newcomers) == 1 else "were"
        return f"{told}: {listed(map(name, moment.newcomers), 3)} arrived and {were} queued ahead of it."
    return f"{told}{_why_planned(moment, life)}."


def _why_planned(moment: Foreseen, life: Life) -> str:
    return "" if moment.because is None else f": {why(moment.because, life.job, clock_near(moment.time))}"


def _early_ends(holders: Sequence[Holder], now: float) -> str:
    return listed(
        (f"{name(h.job)} ({h.job.procs:,}) ended {span(h.until - now)} before its estimate" for h in holders), 2
    )


def _started(moment: Started, life: Life) -> str:
    at, waited = clock_near(moment.time), moment.time - moment.since
    verb = "Backfilled" if moment.backfilled else "Started"
    after = f" after {span(waited)}" if waited else " at once"
    told = f"{verb}{after}: {why(moment.because, life.job, at)}."
    early = [h for h in moment.freed if h.until > moment.time]
    if waited and early:
        told += f" At that moment {_early_ends(early, moment.time)}."
    elif waited and moment.freed:
        names = listed((f"{name(h.job)} ({h.job.procs:,})" for h in moment.freed), 3)
        told += f" At that moment {names} ended as expected."
    if waited and moment.came:
        told += f" {count(moment.came, 'more processor')} had just become available."
    return told


def _ended_sentence(moment: Ended, life: Life) -> str:
    ran, turnaround = life.ran or 0, moment.time - life.job.submit
    slowdown = ""
    if turnaround > ran > 0:
        slowdown = f"; {span(turnaround)} after its submission, a slowdown of {turnaround / ran:,.1f}"
    if moment.killed:
        return f"Killed when its estimate of {span(life.job.estimate)} ran out{slowdown}."
    early = life.job.estimate - ran
    estimate = f"{span(early)} before its estimate" if early > 0 else "exactly its estimate"
    progress = " of progress" if life.pauses or life.stay else ""
    return f"Ended after {span(ran)}{progress}, {estimate}{slowdown}."


# Suspensions


def _pauses(pauses: Sequence[Paused], job: Job) -> list[Row]:
    first, last = pauses[0], pauses[-1]
    if len(pauses) == 1:
        return _pause(first, job)
    at = clock_near(first.time)
    longest = max(pauses, key=lambda pause: pause.seconds)
    until = f" until {at(last.until)}" if last.until is not None else ""
    told = f"Suspended {times(len(pauses))}{until}, for {span(sum(p.seconds for p in pauses))} in all"
    told += f"; the longest for {span(longest.seconds)} from {at(longest.time)}. "
    told += f"It ran for {span(last.ran - first.ran)} in between. Suspended for {_made_way_for(pauses)}."
    return [(first.time, told)]


def _pause(pause: Paused, job: Job) -> list[Row]:
    at = clock_near(pause.time)
    leaving = f" (writing its memory takes {span(pause.overhead)})" if pause.overhead else ""
    told = f"Suspended after running for {span(pause.ran)}{leaving}: {why(pause.because, job, at)}."
    rows = [(pause.time, told)]
    if pause.by:
        taken = listed((f"{name(other)} ({other.procs:,})" for other in pause.by), 3)
        rows[0] = (pause.time, f"{told} {taken} started on its processors.")
    if pause.until is not None and pause.back is not None:
        back = f"Resumed after {span(pause.seconds)}: {why(pause.back, job, clock_near(pause.until))}."
        rows.append((pause.until, back))
    return rows


def _made_way_for(pauses: Sequence[Paused]) -> str:
    asked = Counter(job for pause in pauses for job in jobs_in(pause.because))
    if not asked:
        return "others"
    return listed((name(job) + (f" {times(often)}" if often > 1 else "") for job, often in asked.most_common()), 3)


# Sharing in time


def _entered(moment: Entered, life: Life) -> str:
    at = clock_near(moment.time)
    past = ", passing jobs ahead of it in the queue" if moment.backfilled else ""
    others = "the only one" if moment.rows == 1 else f"one of {moment.rows:,} rows"
    place = f"row {moment.row} ({others}), {_columns(moment.columns)}"
    return f"Placed in the matrix{past}: {place}; {why(moment.because, life.job, at)}."


def _columns(columns: int) -> str:
    """Return columns (bits) as text; of more than four ranges, their number and the first and last column."""
    pieces = written(columns)
    if pieces.count(" ") < 4:
        return f"column{'s' if columns.bit_count() > 1 else ''} {pieces}"
    numbers = pieces.replace("-", " ").split()
    return f"{columns.bit_count():,} columns from {numbers[0]} to {numbers[-1]}"


def _shared(moment: Shared, life: Life) -> str:
    lasted = moment.until - moment.time
    if moment.rows.high == 1:
        began = "Started: its row was" if moment.first else "From here its row was"
        return f"{began} the only one, so it ran without interruption{_cost(moment)}."
    began = "Started: its row got its first turn. " if moment.first else ""
    told = f"{began}For {span(lasted)} its row was one of {_range(moment.rows)} that took turns"
    if moment.ran and lasted:
        told += f"; it ran for {percent(moment.ran / lasted, 0)} of that time"
    return f"{told}. {_rows_of_its_own(moment)}{_moves(moment)}{_cost(moment)}."


def _rows_of_its_own(moment: Shared) -> str:
    if moment.own.high == 1:
        return "It was in one row only"
    parts = [f"in more than one for {span(moment.replicated)}"] if moment.replicated else []
    parts += [f"in all of them, so without interruption, for {span(moment.alone)}"] if moment.alone else []
    return f"It was in {_range(moment.own)} of them: {listed(parts)}"


def _moves(moment: Shared) -> str:
    return f"; its home row changed {times(moment.moved)}" if moment.moved else ""


def _cost(moment: Shared) -> str:
    migrated = f"migrated {times(moment.migrated)}" if moment.migrated else ""
    owed = f"was charged {span(moment.owed)} of its turns for migrations" if moment.owed else ""
    both = " and ".join(filter(None, (migrated, owed)))
    return f"; it {both}" if both else ""


def _range(numbers: ValueRange) -> str:
    return f"{numbers.low:,}" if numbers.low == numbers.high else f"{numbers.low:,} to {numbers.high:,}"


def figures(life: Life) -> str:
    job = life.job
    facts = [
        life.asked or processors_wanted(job.procs, life.procs, life.there, "when it came"),
        f"estimate {span(job.estimate)}",
        _how_long_it_ran(life),
        f"submitted {clock(job.submit)}",
    ]
    return " · ".join(facts)


def _how_long_it_ran(life: Life) -> str:
    if life.ran is None:
        return "never ended"
    verb = "killed after" if any(isinstance(m, Ended) and m.killed for m in life.moments) else "ran"
    return f"{verb} {span(life.ran)}"


def summary(life: Life) -> str:
    return " ".join(filter(None, (_waited(life), *_after_its_start(life))))


def _waited(life: Life) -> str:
    who, wait, total = name(life.job), life.wait, seconds_of(life.waits)
    if wait is None:
        return f"{who} never started."
    if not total:
        return f"{who} did not wait: it started when it was submitted."
    shares = sorted(_by_reason(life.waits, life.job).items(), key=lambda share: -share[1])
    reasons = [f"{span(seconds)} because {because}" for because, seconds in shares if seconds > total / 100]
    if len(reasons) == 1:
        because = f" because {shares[0][0]}"
    elif any("," in reason for reason in reasons):
        because = f": {'; '.join(reasons)}"
    else:
        because = f": {listed(reasons, 5)}"
    lost = max((m.time for m in life.moments if isinstance(m, Requeued)), default=None)
    after = seconds_of(wait for wait in life.waits if lost is not None and wait.time >= lost)
    again = f" ({span(after) if after < total else 'all'} of it after a run whose work was lost)" if after else ""
    return f"{who} waited {span(total)}{again}{because}. {_passers_clause(life)}"


def _after_its_start(life: Life) -> list[str]:
    told, pauses, stay = [], life.pauses, life.stay
    if pauses:
        told.append(f"After its start it was suspended {times(len(pauses))}, for {span(seconds_of(pauses))} in all.")
    if stay and life.ran and stay.first and stay.until == life.end:
        lasted = stay.until - stay.time
        told.append(
            f"Sharing the machine, it took {span(lasted)} from its first turn to its end for a run of {span(life.ran)}."
        )
    return told


def _by_reason(waits: Sequence[Waited], job: Job) -> dict[str, float]:
    kinds = by_kind(waits)
    seconds: dict[str, float] = {}
    for kind, some in kinds.items():
        because = because_of(TooFewFree(0) if kind is Heads else some[0].state, some, job)
        if kind is NotConsidered:
            because += f", though {fitted}" if (fitted := fitted_for(some)) else ""
        seconds[because] = seconds.get(because, 0) + seconds_of(some)
    return seconds


def _passers_clause(life: Life) -> str:
    passes = life.passes
    if not passes:
        return "No job passed it."
    large = sorted(passes, key=lambda p: -p.job.procs * p.job.estimate)[:3]
    names = listed(f"{name(p.job)} ({processors(p.job.procs)} for up to {span(p.job.estimate)})" for p in large)
    who = f"the largest {names}" if len(passes) > len(large) else names
    told = f"{count(len(passes), 'job')} passed it: {who}."
    ahead = sum(not p.behind for p in passes)
    if ahead:
        were = "was" if ahead == 1 else "were"
        told += f" {_how_many_of(ahead, len(passes))} arrived later but {were} ahead of it in queue order."
    return told + ("" if life.in_its_way is None else f" {_in_its_way(life.job, life.in_its_way, len(passes))}")


def _in_its_way(job: Job, found: InTheWay, passes: int) -> str:
    many = len(found.passers)
    if not many:
        return f"{'It did not hold' if passes == 1 else 'None of them held'} processors it needed."
    free = f"{job.procs:,} would have been free at {clock(found.since)}"
    return f"{_how_many_of(many, passes)} held processors it needed: without the jobs that passed it, {free}."


def _how_many_of(part: int, whole: int) -> str:
    return ("It" if whole == 1 else "All of them") if part == whole else f"{part:,} of them"


def plans_told(life: Life, told_of: int) -> tuple[str, tuple[float, ...]]:
    """Return a sentence on `told_of` moves of the planned start, and all planned starts with the real one."""
    lost = max((m.time for m in life.moments if isinstance(m, Requeued)), default=None)
    plans = [plan for plan in life.plans if lost is None or plan.time >= lost]
    start = max((m.time for m in life.moments if isinstance(m, Started)), default=life.start)
    if lost is not None and start is not None and start < lost:
        start = next((m.time for m in life.moments if isinstance(m, Shared) and m.time >= lost), None)
    if not plans or start is None or not life.wait:
        return "", ()
    first, moves = plans[0], [plan for plan in plans if plan.was is not None]
    earlier = sum(plan.moved < 0 for plan in moves)
    off = start - first.at
    kept = "as first planned" if not off else f"{span(abs(off))} {'later' if off > 0 else 'earlier'} than first planned"
    told = f"First planned start {clock(first.at)}"
    if moves:
        told += f"; moved {times(len(moves))} {_directions(earlier, len(moves) - earlier)}"
    if given_up := sum(isinstance(m, Unplanned) and (lost is None or m.time >= lost) for m in life.moments):
        told += f"{',' if moves else ';'} dropped {times(given_up)}"
    if len(moves) + given_up >= told_of > 1:
        told += ", largest moves above"
    told += f"; it started at {clock(start)}, {kept}."
    return told, (*(plan.at for plan in plans), start)


def _directions(earlier: int, later: int) -> str:
    if earlier and later:
        return f"({earlier:,} earlier, {later:,} later)"
    return f"({'always ' if earlier + later > 1 else ''}{'earlier' if earlier else 'later'})"


# Numbers of the policy.

Numbers: TypeAlias = list[tuple[float, float]]
"""List of (time, new value) with a pair for each change of a number."""


def own_numbers(scenario: Scenario, rank: int) -> dict[Column, Numbers]:
    """Return the changes of the job's value in each column that policies define, while it waits."""
    policies = (scenario.policy, *(policy for _, policy in scenario.switches))
    if not any(policy.leads() or columns_of(policy) for policy in policies):
        return {}
    engine = scenario.at_the_beginning()
    moment, step = engine.moment, scenario.stepper(engine)
    job, found = scenario.workload.jobs[rank], dict[Column, Numbers]()
    while moment.start_of(rank) is None and step():
        if rank in moment.dropped:
            break
        if not moment.has_come(rank):
            continue
        for column in moment.columns:
            value = column.value(moment.notes, job)
            numbers = found.setdefault(column, [])
            if value is not None and (not numbers or numbers[-1][1] != value):
                numbers.append((engine.now, value))
    return {column: numbers for column, numbers in found.items() if numbers}
