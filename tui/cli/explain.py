"""Command `schedscope explain`: describe the life of one job as text (see `sim.life.life.Life`)."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import isfinite, isnan
from typing import Any

import click

from sim.comparison.alternatives import WITHOUT, Price, Tried, blockers, fitted, ranked
from sim.engine.schedule import Schedule
from sim.life.life import Life, life_of
from sim.life.story import Numbers, figures, own_numbers, plans_told, rows_of, summary
from sim.machine.processors import Placement
from sim.metrics.fairness import fair_start
from sim.policies import parse_policy
from sim.policies.backfill.recorded import Recorded
from sim.policies.columns import Column
from sim.policies.policy import Policy, full_policy
from sim.support.errors import TraceError
from sim.support.formatting import clock, listed, name, printable, processors, quoted, shortened, span
from sim.timeline.scenario import Scenario
from sim.workload.job_changes import JobChanges
from sim.workload.model import Field, Trace, Workload
from sim.workload.options import expand
from sim.workload.source import Source
from tui.cli import options
from tui.cli.run import provenance
from tui.cli.terminal import columns, progress, run_to_end, say, shows_unicode
from tui.cli.user_policies import own_code, timed
from tui.look import text
from tui.panels.alternative_rows import asked, in_words, one_by_one, rows

NARROWEST, USUAL, WIDEST = 40, 80, 100
MOST_JOBS = 10
MOST_LINES = 40
"""Largest number of lines of a story (the life of a job as text); a longer one is shortened by joining its parts."""
FINENESS = ((14, 6), (10, 6), (7, 6), (5, 5), (4, 3), (3, 2), (2, 1))
"""Largest numbers of episodes of waiting and of plans in each form of a story, the longest form first."""

Lines = list[str]


@click.command("explain")
@options.trace()
@click.argument("job")
@options.form("text", "json")
@click.option(
    "--policy",
    "policies",
    multiple=True,
    type=options.SPEC,
    help="default easy; several policies, or a range like 'easy:depth={1,2,4}', are ranked by the job's wait",
)
@click.option("--fair", is_flag=True, help="Also show when it would have started without any later arrivals.")
@click.option(
    "--blockers",
    "with_blockers",
    is_flag=True,
    help="Also try the run without each of the jobs that held most while it waited.",
)
@options.switches
@options.placement
@options.of_workload
def command(
    trace: str, job: str, form: str, policies: tuple[str, ...], fair: bool, with_blockers: bool,
    switches: options.Switches, placement: Placement, **given: Any,
) -> None:  # fmt: skip
    """Explain why a job waited, step by step.

    JOB is a job's id, or user:NAME for the jobs of a user that waited longest. With several policies: compare the job's
    wait and the cost for other jobs with the first policy. """  # fmt: skip
    specs = [spec for each in policies or ("easy",) for spec in expand(each)]
    if fair and (len(specs) > 1 or with_blockers or job.startswith("user:")):
        raise click.UsageError("--fair is of one job under one policy, without --blockers")
    if len(specs) > 1 or with_blockers:
        source = Source.of_options(trace, given)
        return say(what_would_have_helped(source, job, specs, switches, placement, form, with_blockers))
    policy, chosen = specs[0], parse_policy(specs[0])
    options.heed(placement, [chosen, *(spec for _, spec in switches)])
    source = Source.of_options(trace, given)
    jobs = options.replay(source)
    workload, (own,), switches = options.settle(jobs, [policy], switches)
    chosen = chosen if own == policy else parse_policy(own)
    scenario = Scenario(workload, chosen, timed(workload, chosen, switches, placement), placement)
    with own_code(scenario, aloud=False):
        if job.startswith("user:"):
            found = longest_waits(scenario, job.removeprefix("user:"))
        else:
            rank = _rank_of(job, workload, jobs.trace, source)
            life = life_of(workload, chosen, rank, placement=placement, switches=scenario.switches)
            numbers = own_numbers(scenario, rank)
            if form == "text":
                told = [render(life, columns(), shows_unicode()), *of_its_own(numbers, columns(), shows_unicode())]
                is_real = isinstance(chosen, Recorded) and workload.jobs[rank].recorded_start is not None
                if is_real and workload.shape is None and not switches and life.start is not None:
                    told += ["", *_wrapped(in_reality(scenario, rank), min(columns(), WIDEST))]
                if fair:
                    told += ["", *_wrapped(had_nobody_come(life, scenario), min(columns(), WIDEST))]
                return say("\n".join(told))
            found = as_dict(life, numbers) | ({"fair_start": fair_start(scenario, rank)} if fair else {})
    if form == "json":
        made_by = {"policy": full_policy(chosen), "switches": [[at, full_policy(p)] for at, p in scenario.switches]}
        return say(json.dumps({**provenance(source, placement), **made_by, **found}, indent=1, allow_nan=False))
    whose = shortened(found["user"])
    lines = [f"the {len(found['jobs'])} jobs of {whose} that waited longest under {policy}, of {found['of']:,}", ""]
    rows = [["job", "waited", "submitted", "started", "processors", "estimate"]]
    rows += [
        [shortened(name(workload.jobs[workload.rank_of(of["job"])])), span(of["waited"]), clock(of["submit"]),
         clock(of["start"]), f"{of['procs']:,}", span(of["estimate"])]
        for of in found["jobs"]
    ]  # fmt: skip
    lines += [*text.table(rows), "", f"why: schedscope explain {trace} JOB --policy {policy}"]
    return say("\n".join(map(printable, lines)))


_LEAVES_OUT = ("window", "jobs", "resample")


def _rank_of(job: str, workload: Workload, trace: Trace, source: Source) -> int:
    given = [f"--{name}" for name in _LEAVES_OUT if name in source.options]
    ids = (job.strip(), job.strip().removeprefix("J"))
    is_known = any(one in workload.ids for one in ids) or workload.fidelity.why_skipped(*ids)
    if given and not is_known and any(one in trace.ids for one in ids):
        raise TraceError(f"job {quoted(ids[0])} is left out of the run by {listed(given)}", workload.name)
    return workload.rank_of(job)


def what_would_have_helped(
    source: Source, job: str, specs: Sequence[str], switches: options.Switches, placement: Placement, form: str,
    with_blockers: bool = False,
) -> str:  # fmt: skip
    """Return the job's wait under each policy and, `with_blockers`, under the first one without each blocker."""
    if job.startswith("user:"):
        raise click.UsageError("comparing several policies or trying blockers needs one job: give its id")
    chosen = [parse_policy(spec) for spec in specs]
    options.heed(placement, [*chosen, *(spec for _, spec in switches)])
    jobs = options.replay(source)
    workload, settled, switches = options.settle(jobs, specs, switches)
    chosen = [
        each if own == spec else parse_policy(own) for each, own, spec in zip(chosen, settled, specs, strict=True)
    ]
    rank = _rank_of(job, workload, jobs.trace, source)

    def scheduled(policy: Policy, of: Workload, label: str) -> Schedule:
        scenario = Scenario(of, policy, timed(workload, policy, switches, placement), placement)
        with own_code(scenario, aloud=False):
            engine = scenario.begun()
            run_to_end(engine, label)
        return replace(engine.schedule(), policy=label)

    schedules = [scheduled(policy, workload, spec) for spec, policy in zip(specs, chosen, strict=True)]
    for blocker in blockers(schedules[0], rank) if with_blockers else ():
        who = name(blocker)
        jobs_left = workload.with_changes(workload.changes + JobChanges((who,)))
        schedules.append(scheduled(chosen[0], jobs_left, f"{WITHOUT}{who}"))
    found = ranked(schedules, rank)
    if form == "json":
        made_by = {"policies": [full_policy(policy) for policy in chosen], "first": specs[0], "job": job}
        tried = [each._asdict() | {"price": _price(each.price)} for each in found]
        return json.dumps({**provenance(source, placement), **made_by, "tried": tried}, indent=1, allow_nan=False)
    return "\n".join(map(printable if shows_unicode() else text.plain, _helped(workload, rank, found, specs[0])))


def _price(price: Price) -> dict[str, Any]:
    return price._asdict() | {"worst": None if price.worst is None else price.worst.id}


def _helped(workload: Workload, rank: int, found: Sequence[Tried], first: str) -> Lines:
    has_policies = any(tried.policy != first and not tried.policy.startswith(WITHOUT) for tried in found)
    told = [in_words(workload.jobs[rank], found, first)] if has_policies else []
    told.append(one_by_one(workload.jobs[rank], found, first))
    lines = [line for sentence in told for line in _wrapped(sentence, WIDEST)]
    return [asked(workload, rank), "", *text.table(rows(found, first)), "", *lines]


def had_nobody_come(life: Life, scenario: Scenario) -> str:
    """Return a sentence on how much longer the job waits because of jobs submitted after it."""
    job, done = life.job, 0
    with progress(job.rank + 1, "fair start") as bar:

        def told(finished: int) -> None:
            nonlocal done
            if bar is not None and finished > done:
                bar.update(finished - done)
                done = finished

        fair = fair_start(scenario, job.rank, told)
    if fair is None:
        return f"Without later arrivals {name(job)} would not have started{' either' if life.start is None else ''}."
    if life.start is None:
        return f"Without later arrivals {name(job)} would have started at {clock(fair)}."
    cost = life.start - fair
    if abs(cost) < 1:
        return f"Without later arrivals {name(job)} would have started at the same time."
    when = f"{span(abs(cost))} {'sooner' if cost > 0 else 'later'}"
    whose = "the delay caused by later arrivals" if cost > 0 else "later arrivals helped it"
    return f"Without later arrivals {name(job)} would have started at {clock(fair)}, {when}: {whose}."


def in_reality(scenario: Scenario, rank: int) -> str:
    """Return a sentence on when and how long enough processors for the job were free in the trace."""
    job = scenario.workload.jobs[rank]
    engine = scenario.begun()
    run_to_end(engine, "explain")
    found = fitted(engine.schedule(), rank)
    free = "was free" if job.procs == 1 else "were free"
    if not found:
        return f"At no moment while it waited {processors(job.procs)} {free}: in reality it could not start sooner."
    first = next((hole for hole in found if hole.seconds >= job.estimate), None)
    hole = first or max(found, key=lambda hole: hole.seconds)
    told = f"In reality {job.procs:,} {free} from {clock(hole.begin)} for {span(hole.seconds)}"
    enough = f", enough for its {span(job.estimate)}" if first else f", less than its {span(job.estimate)}"
    return f"{told}{enough}; the trace does not record why the real scheduler left it waiting."


def longest_waits(scenario: Scenario, user: str) -> dict[str, Any]:
    """Return the longest waits of a user's jobs, the longest first; jobs that never start are left out."""
    workload = scenario.workload
    number = workload.number_of(Field.USER, user)
    engine = scenario.begun()
    run_to_end(engine, "explain")
    schedule = engine.schedule()
    theirs = [job for job in schedule.workload.jobs if job.user == number]
    start = schedule.start.tolist()
    begun = [job for job in theirs if not isnan(start[job.rank])]
    begun.sort(key=lambda job: (-job.waited(start[job.rank]), job.rank))
    jobs = [
        {"job": job.id, "waited": job.waited(start[job.rank]), "submit": job.submit, "start": start[job.rank],
         "procs": job.procs, "estimate": job.estimate}
        for job in begun[:MOST_JOBS]
    ]  # fmt: skip
    return {"user": user, "of": len(theirs), "jobs": jobs}


def as_dict(life: Life, numbers: Mapping[Column, Numbers]) -> dict[str, Any]:
    job = life.job
    rows = rows_of(life, *FINENESS[0])
    return {
        "job": job.id,
        "submit": job.submit,
        "job_procs": job.procs,
        "estimate": job.estimate,
        "figures": figures(life),
        "summary": summary(life),
        "passed_by": [passed.job.id for passed in life.passes],
        "in_its_way": None
        if life.in_its_way is None
        else [passed.job.id for passed in life.passes if passed.job.rank in life.in_its_way.passers],
        "story": [{"time": time, "told": told} for time, told in rows],
        "plans": plans_told(life, FINENESS[0][1])[0],
        "numbers": {column.name: values for column, values in numbers.items()},
    }


def render(life: Life, width: int, unicode: bool = True) -> str:
    width = min(max(width, NARROWEST), WIDEST)
    for episodes, plans in FINENESS:  # chosen at one width, so that the story is the same at every other
        if len(_page(life, USUAL, unicode, episodes, plans)) <= MOST_LINES:
            break
    drawn = "\n".join(_page(life, width, unicode, episodes, plans))
    return drawn if unicode else text.plain(drawn)


def _page(life: Life, width: int, unicode: bool, episodes: int, plans: int) -> Lines:
    title = text.shorten(printable(f"{name(life.job)} under {life.policy}"), width)
    lines = [title, ("═" if unicode else "=") * text.cells(title)]
    lines += _wrapped(figures(life), width)
    lines += ["", *_wrapped(summary(life), width), ""]
    rows = rows_of(life, episodes, plans)
    margin = max(len(clock(time)) for time, _ in rows) + 2
    before = None
    for time, told in rows:
        stamp = "" if time == before else clock(time)
        lines += _wrapped(told, width, stamp.ljust(margin), " " * margin)
        before = time
    return lines + _plans(life, width, unicode, plans)


def _wrapped(told: str, width: int, first: str = "", rest: str = "") -> Lines:
    """Return the text wrapped; a day and the time after it stay in one line."""
    tied = re.sub(r"\b(d\d+) (?=\d\d:)", "\\1\xa0", printable(told))
    wrapped = textwrap.wrap(tied, width, initial_indent=first, subsequent_indent=rest, break_on_hyphens=False)
    return [line.replace("\xa0", " ") for line in wrapped]


def _plans(life: Life, width: int, unicode: bool, told_of: int) -> Lines:
    told, starts = plans_told(life, told_of)
    return ["", *_wrapped(told, width), *_curve(starts, width, unicode)] if told else []


def of_its_own(numbers: Mapping[Column, Numbers], width: int, unicode: bool) -> Lines:
    lines = [""] if numbers else []
    for column, values in numbers.items():
        first, last = (column.written(value) for value in (values[0][1], values[-1][1]))
        meaning = f" ({printable(shortened(column.meaning))})" if column.meaning else ""
        told = f"{first} at {clock(values[0][0])}" + (f", {last} at {clock(values[-1][0])}" if len(values) > 1 else "")
        lines += _wrapped(f"The policy's {printable(shortened(column.name))}{meaning}: {told}.", width)
        lines += _sparks([value for _, value in values], min(width, WIDEST) - 4, unicode)
    return lines if unicode else list(map(text.plain, lines))


def _sparks(values: Sequence[float], room: int, unicode: bool) -> Lines:
    known = [value for value in values if isfinite(value)]
    low, high = min(known, default=0.0), max(known, default=0.0)
    if len(known) < 4 or low == high:
        return []
    columns = min(len(known), room)
    shown = [known[index * (len(known) - 1) // (columns - 1)] for index in range(columns)]
    return [f"  {text.sparkline([1 + 7 * (value - low) / (high - low) for value in shown], unicode)}"]


def _curve(starts: Sequence[float], width: int, unicode: bool) -> Lines:
    """Return a curve of planned starts, in order of time, and the real start; higher means later."""
    low, high = min(starts), max(starts)
    if len(starts) < 4 or low == high:
        return []
    room = width - 36
    columns = min(len(starts), max(room, 8))
    shown = [starts[index * (len(starts) - 1) // (columns - 1)] for index in range(columns)]
    drawn = text.sparkline([1 + 7 * (value - low) / (high - low) for value in shown], unicode)
    return [f"  {drawn}  {clock(low)} to {clock(high)}"]
