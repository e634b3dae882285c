"""Summary of a job's life: length and reasons of its wait, jobs that passed it, moves of its planned start."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from sim.decisions.reasons_inferred import Heads, NotConsidered
from sim.decisions.reasons_to_wait import TooFewFree
from sim.history.stretch_queries import InTheWay
from sim.life.life import Life, because_of, by_kind, fitted_for, seconds_of
from sim.life.moments import Ended, Requeued, Shared, Started, Unplanned, Waited
from sim.policies.columns import Column
from sim.policies.policy import columns_of
from sim.support.formatting import clock, count, listed, name, processors, processors_wanted, span, times
from sim.timeline.scenario import Scenario
from sim.workload.model import Job


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
