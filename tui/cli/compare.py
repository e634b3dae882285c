"""Command `schedscope compare`: two policies on one workload, a switch, or changed jobs, as text or JSON."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field, replace
from math import isinf
from typing import Any, Literal, NamedTuple

import click

from sim.comparison.comparison_sentences import (
    LONGEST_NAME,
    Accounts,
    changed,
    names_of,
    names_of_jobs,
    only_in_one,
    what_it_did,
    with_run,
)
from sim.comparison.differences import ROWS, Change, Comparison, Moved, Moves, Ratio, Versus, compare
from sim.comparison.divergence import (
    Account,
    Decided,
    Different,
    Divergence,
    Side,
    account,
    different,
    names_of_ranks,
    part,
)
from sim.comparison.elsewhere import Elsewhere, read_schedule
from sim.decisions.sentences import say as say_decision
from sim.machine.processors import Placement
from sim.metrics.catalogue import FRAGMENTATION
from sim.policies import parse_policy
from sim.policies.policy import full_policy
from sim.support.formatting import Moment, clock, clock_near, count, name, percent, printable, processors, span
from sim.timeline.scenario import Scenario
from sim.workload.categories import LENGTHS, WIDTHS
from sim.workload.job_changes import JobChanges
from sim.workload.model import Ints, Workload
from sim.workload.pairing import paired
from sim.workload.source import Source
from tui.annexes import annexed
from tui.cli import options
from tui.cli.run import provenance
from tui.cli.terminal import columns, run_to_end, say, shows_unicode
from tui.cli.user_policies import own_code, time_of
from tui.look.sheets import wrapped
from tui.look.text import Align, cells, number, pad, plain, shorten, table

Form = Literal["table", "json"]
NARROWEST, WIDEST = 60, 80
"""Smallest and largest width in columns of sentences and bars; a table is as wide as its contents, up to 76."""
DIFFERENT = 3
"""Exit code of a comparison of different schedules with `--exit-code`"""
SIZE_LABELS = ("up to 1m", "1m to 10m", "10m to 1h", "1h to 8h", "8h to 1d", "over 1d")
"""Labels of the classes in `sim.comparison.differences.SIZES`, by how much earlier or later a job starts or ends."""

Lines = list[str]


class Wanted(NamedTuple):
    """Parts of a comparison that are included only if the user requests them."""

    decisions: bool = False
    smallest: bool = False
    changes: JobChanges = JobChanges()
    """Changes of jobs that only the second run has."""
    recorded: tuple[str, ...] = ()
    """Files of schedules made elsewhere, which stand for the last policies."""


@dataclass(frozen=True)
class Pair:
    """Two runs of one workload, with a policy each, a switch from the first to the second, or other jobs."""

    workload: Workload
    specs: tuple[str, str]
    since: float | None
    """Time in seconds of a switch to the second policy; None if the second run has it from the start."""
    comparison: Comparison
    parting: Divergence | None
    accounts: Accounts
    """Accounts of what each run did to the jobs of the first difference; empty if the schedules are the same."""
    different: tuple[Different, ...] = ()
    smallest: Lines | None = None
    """Lines on the smallest workload on which the policies differ, if requested."""
    changed: Workload | None = None
    """Workload of the second run if jobs are withdrawn, changed or added in it; None if the jobs are the same."""
    called: tuple[str, str] | None = None
    """Names of the runs where they are not policies alone, but files"""
    notes: Lines = field(default_factory=list)

    @property
    def titles(self) -> tuple[str, str]:
        if self.called is not None:
            return self.called
        return self.specs if self.changed is None else (self.specs[0], self.changed.title(self.specs[1]))

    @property
    def names(self) -> tuple[str, str]:
        return names_of(self.titles)


@click.command("compare")
@options.trace()
@click.option(
    "--policy",
    "specs",
    multiple=True,
    type=options.SPEC,
    help="Give it twice: the first and the second policy; once to compare a run with that of changed jobs.",
)
@click.option(
    "--recorded", multiple=True, metavar="FILE.csv", help="A schedule made elsewhere, instead of a policy; repeatable."
)
@options.moment("--at", help="The second takes over from the first at T (12d4h30m, d12 04:30, #1200 or a date).")
@options.form("table", "json")
@click.option("--decisions", is_flag=True, help="Also list every job with different decisions, with both reasons.")
@click.option(
    "--smallest", is_flag=True, help="Also search the smallest workload on which they differ and write it as a trace."
)
@click.option("--exit-code", is_flag=True, help="End with 3 if the schedules differ.")
@options.check
@options.placement
@options.of_workload
def command(
    trace: str, specs: tuple[str, ...], recorded: tuple[str, ...], at: Moment | None, form: Form, decisions: bool,
    smallest: bool, exit_code: bool, check: bool, placement: Placement, **given: Any,
) -> int:  # fmt: skip
    """Compare two policies: first difference, reasons, and the jobs that gain and lose.

    With one --policy, and --without, --change or --add: compare the run with that of the changed jobs. """  # fmt: skip
    source, others = Source.of_options(trace, given), JobChanges()
    if recorded and (at is not None or smallest or source.changes):
        raise click.UsageError("--recorded goes without --at, --smallest and changed jobs")
    specs += ("recorded",) * len(recorded)
    if len(specs) == 1 and source.changes and at is None and not smallest:
        source, others, specs = replace(source, changes=others), source.changes, specs * 2
    if len(specs) != 2:
        enough = "; one is enough with --recorded, --without, --change or --add" if len(specs) == 1 else ""
        raise click.UsageError(f"compare takes two --policy SPEC, got {len(specs)}{enough}")
    wanted = Wanted(decisions, smallest, others, recorded)
    pair = wanted_pair(source, (specs[0], specs[1]), at, placement, check, wanted)
    if form == "json":
        say(as_json(source, pair, placement))
    else:
        say(render(pair, columns(), shows_unicode(), decisions))
    return DIFFERENT if exit_code and pair.parting is not None else 0


def wanted_pair(
    source: Source, specs: tuple[str, str], at: Moment | None, placement: Placement, check: bool, wanted: Wanted
) -> Pair:
    options.heed(placement, [parse_policy(spec) for spec in specs])  # report errors before the trace is read
    workload, (first, second), _ = options.settle(options.replay(source), specs)
    specs = first, second
    since = None if at is None else time_of(Scenario(workload, specs[0], placement=placement), at)
    changed = workload.with_changes(wanted.changes) if wanted.changes else None
    elsewhere = [read_schedule(path, workload) for path in wanted.recorded]
    if elsewhere:
        workload, changed = (elsewhere[0].workload if len(elsewhere) > 1 else workload), elsewhere[-1].workload
    pair = run_pair(workload, specs, since, placement, check, changed)
    if elsewhere:
        pair = of_files(pair, elsewhere, wanted.recorded)
    if wanted.smallest:
        pair = replace(pair, smallest=annexed("smallest difference")(specs))
    return pair


def of_files(pair: Pair, elsewhere: list[Elsewhere], paths: tuple[str, ...]) -> Pair:
    """Return the pair with the names of the files that the recorded schedules are from, and notes on them."""
    runs = (pair.comparison.schedules or ())[-len(paths) :]
    found = zip(elsewhere, runs, paths, strict=True)
    notes = [note for one, schedule, path in found for note in one.notes(schedule, os.path.basename(path))]
    first, second = (*pair.specs, *(printable(os.path.basename(path)) for path in paths))[-2:]
    return replace(pair, called=(first, second) if len(paths) > 1 else (pair.specs[0], second), notes=notes)


def run_pair(
    workload: Workload, specs: tuple[str, str], at: float | None, placement: Placement, check: bool,
    changed: Workload | None = None,
) -> Pair:  # fmt: skip
    """Run both policies (`at`: the second takes over; `changed`: its jobs); give reasons at their first difference."""
    first, second = map(parse_policy, specs)
    one = Scenario(workload, first, placement=placement, check=check)
    two = replace(one, policy=second) if at is None else replace(one, switches=((at, second),))
    pairing = None
    if changed is not None:
        two = Scenario(changed, second, placement=placement, check=check)
        pairing = paired(workload, changed)
    runs = zip((one, two), specs, names_of_ranks(pairing), strict=True)
    sides = [_side(scenario, spec, named) for scenario, spec, named in runs]
    parting = part(*sides)
    accounts: Accounts = ((), ())
    if parting is not None:
        ranks = (parting.ranks_in(side, pairing) for side in (0, 1))
        accounts = _accounts(one, parting, next(ranks)), _accounts(two, parting, next(ranks))
    comparison = compare(sides[0].schedule, sides[1].schedule)
    return Pair(workload, specs, at, comparison, parting, accounts, tuple(different(*sides)), changed=changed)


def _side(scenario: Scenario, label: str, named: Ints | None) -> Side:
    with own_code(scenario):
        engine = scenario.begun()
        run_to_end(engine, label)
    return Side.of(engine, named)


def _accounts(scenario: Scenario, parting: Divergence, ranks: tuple[int, ...]) -> tuple[Account, ...]:
    engine = scenario.watched(parting.time)
    return tuple(account(engine, rank, parting.time) for rank in ranks)


# For other programs


def as_json(source: Source, pair: Pair, placement: Placement) -> str:
    return json.dumps({**provenance(source, placement), **as_dict(pair)}, indent=1, allow_nan=False)


def as_dict(pair: Pair) -> dict[str, Any]:
    """Return the comparison as plain data; times are seconds, and unknown values None."""
    comparison = pair.comparison
    found = {
        "procs": pair.workload.procs,
        "policies": list(pair.specs),
        "parameters": [full_policy(parse_policy(spec)) for spec in pair.specs],
        "at": pair.since,
        "parted": _parted(pair),
        "jobs": comparison.jobs,
        "metrics": {entry.metric.name: _versus(entry) for entry in comparison.metrics},
        "slowdowns": [_ratio(ratio) for ratio in comparison.slowdowns],
        "categories": [_ratio(ratio) for ratio in comparison.categories],
        "priorities": [_ratio(ratio) for ratio in comparison.priorities],
        "batches": [_ratio(ratio) for ratio in comparison.batches],
        "starts": _json_moves(comparison.starts),
        "ends": _json_moves(comparison.ends),
        "gained": [_json_change(change) for change in comparison.gained],
        "lost": [_json_change(change) for change in comparison.lost],
        "different": [_json_different(each) for each in pair.different],
    }
    if pair.changed is not None and pair.changed.changes:
        found["changes"] = pair.changed.changes.options
    if pair.notes:
        found["notes"] = pair.notes
    if pair.smallest is not None:
        found["smallest"] = pair.smallest
    return found


def _parted(pair: Pair) -> dict[str, Any] | None:
    if pair.parting is None:
        return None
    ids, sides = pair.workload.ids, zip(pair.parting.steps, pair.parting.only, pair.accounts, strict=True)
    told = [
        {
            "step": step,
            "only": [{"job": ids[act.rank], "what": act.verb} for act in only],
            "told": [what_it_did(account) for account in accounts],
        }
        for step, only, accounts in sides
    ]
    return {"time": pair.parting.time, "first": told[0], "second": told[1]}


def _versus(entry: Versus) -> dict[str, Any]:
    better = None if entry.better is None else ("first", "second")[entry.better]
    return {"first": entry.first, "second": entry.second, "better": better, "change": entry.change}


def _ratio(ratio: Ratio) -> dict[str, Any]:
    return {**ratio._asdict(), "r": ratio.r}


def _json_moves(moves: Moves) -> dict[str, Any]:
    sizes = [{key: None if isinf(value) else value for key, value in size._asdict().items()} for size in moves.sizes]
    return {"earlier": moves.earlier._asdict(), "same": moves.same, "later": moves.later._asdict(), "sizes": sizes}


def _json_different(different: Different) -> dict[str, Any]:
    def told(decided: Decided | None) -> dict[str, Any] | None:
        return None if decided is None else {"time": decided.time, "told": say_decision(decided.decision)}

    return {"job": different.job.id, "first": told(different.first), "second": told(different.second)}


def _json_change(change: Change) -> dict[str, Any]:
    return {"job": change.job.id, "waits": change.waits, "ends": change.ends, "later": change.later}


# As a page


def render(pair: Pair, width: int, unicode: bool = True, decisions: bool = False) -> str:
    width = min(max(width, NARROWEST), WIDEST)
    notes = [row.text for note in pair.notes for row in wrapped(printable(note), width)]
    parts = [_title(pair, width), notes, _parting(pair, width)]
    if pair.parting is not None:
        parts += [_metrics(pair), _ratios(pair, width), _moves(pair), _sizes(pair, width, unicode)]
        parts.append(_changes(pair, width))
    if decisions and pair.different:
        parts.append(_decisions(pair, width))
    if pair.smallest is not None:
        parts.append([*map(printable, pair.smallest)])
    drawn = "\n\n".join("\n".join(line.rstrip() for line in part) for part in parts if part)
    return drawn if unicode else plain(drawn.replace("═", "="))


def _title(pair: Pair, width: int) -> Lines:
    of = pair.workload
    since = "" if pair.since is None else f", which takes over at {clock(pair.since)}"
    rows = [f"{printable(of.name)} · {count(len(of), 'job')} · {processors(of.procs)}"]
    if pair.names == pair.titles:
        rows.append(f"{pair.titles[0]} against {pair.titles[1]}{since}")
    else:
        wide = max(map(len, pair.names))
        rows += [f"{called:<{wide}}  {title}" for called, title in zip(pair.names, pair.titles, strict=True)]
        rows[-1] += since
    rows = [shorten(row, width) for row in rows]
    return [*rows, "═" * max(map(cells, rows))]


def _parting(pair: Pair, width: int) -> Lines:
    parting = pair.parting
    if parting is None:
        return ["Both schedules are the same: every job starts and ends at the same time."]
    one, two = (f"{step:,}" for step in parting.steps)
    step = f"step {one}" if one == two else f"steps {one} and {two}"
    head = f"First difference at {clock(parting.time)} ({step}): {printable(names_of_jobs(parting, pair.workload))}"
    lines = [row.text for row in wrapped(head, width)]
    margin = max(map(cells, pair.names)) + 4
    at = clock_near(parting.time)
    for who, accounts in zip(pair.names, pair.accounts, strict=True):
        told = (printable(what_it_did(account, at)) for account in accounts)
        rows = [row.text for sentence in told for row in wrapped(sentence, width - margin)]
        lines += [pad("" if index else f"  {who}", margin) + row for index, row in enumerate(rows)]
    return lines


def _decisions(pair: Pair, width: int) -> Lines:
    lines = [f"They decide differently about {count(len(pair.different), 'job')}"]
    margin = max(map(cells, pair.names)) + 6
    for each in pair.different:
        lines.append(f"  {shorten(printable(name(each.job)), LONGEST_NAME)}")
        for who, decided in zip(pair.names, (each.first, each.second), strict=True):
            told = "nothing" if decided is None else printable(decided.told())
            rows = [row.text for row in wrapped(told, width - margin)]
            lines += [pad("" if index else f"    {who}", margin) + row for index, row in enumerate(rows)]
    return lines


# The numbers side by side


def _metrics(pair: Pair) -> Lines:
    found = {entry.metric.name: entry for entry in pair.comparison.metrics}
    keys = [key for key in (*ROWS, *(entry.name for entry in FRAGMENTATION)) if key in found]
    shown = [found[key] for key in keys if found[key].first or found[key].second]
    head = ["", *(f"{who}  " for who in pair.names), "change"]
    told = only_in_one(pair.comparison.pairing, (pair.workload, pair.changed or pair.workload), pair.names)
    lines = [row.text for row in wrapped(told, WIDEST)] if told else []
    return [*lines, *table([head, *map(_row, shown)])]


def _row(entry: Versus) -> list[str]:
    one, two = (_cell(entry, value) for value in (entry.first, entry.second))
    if one == two:
        return [entry.metric.counted, f"{one}  ", f"{two}  ", ""]
    marks = (" *" if entry.better == side else "  " for side in (0, 1))
    return [entry.metric.counted, one + next(marks), two + next(marks), changed(entry)]


def _cell(entry: Versus, value: float | None) -> str:
    match entry.metric.unit:
        case "s":
            return span(value)
        case "share":
            return percent(value)
        case "factor":
            return "–" if value is None else f"{value:,.2f}"
        case _:
            return number(value)


MOST_BATCHES = 30


def _ratios(pair: Pair, width: int) -> Lines:
    """Return R, by how much the second's mean slowdown is better: by classes and by Kettimuthu's categories."""
    slowdowns, categories = pair.comparison.slowdowns, pair.comparison.categories
    told = f"R = (s1 - s2) / min(s1, s2) of mean slowdowns: above 0 {pair.names[1]} is better"
    rows = [["bounded, by run time", "1 proc", "2-8", "9-32", "> 32"]]
    for place, length in enumerate(LENGTHS):
        across = categories[place * len(WIDTHS) : (place + 1) * len(WIDTHS)]
        if any(ratio.jobs for ratio in across):
            rows.append([f"  {length.meaning}", *map(_r, across)])
    priorities = [ratio for ratio in pair.comparison.priorities if ratio.jobs]
    batches = [ratio for ratio in pair.comparison.batches if ratio.jobs]
    more = [("by priority", priorities)] if len(priorities) > 1 else []
    more += [("by batch of 1,000", batches)] if len(batches) > 1 else []
    return [
        *(row.text for row in wrapped(told, width)),
        "  by estimate: " + "   ".join(f"{ratio.label} {_r(ratio)}" for ratio in slowdowns if ratio.jobs),
        *(
            row.text
            for by, found in more
            for row in wrapped(
                f"{by}: " + "   ".join(f"{ratio.label} {_r(ratio)}" for ratio in found[:MOST_BATCHES]), width, indent=2
            )
        ),
        *table(rows, indent=2, gap=3),
    ]


def _r(ratio: Ratio) -> str:
    return "–" if ratio.r is None else f"{ratio.r:+.2f}"


# Job by job


def _moves(pair: Pair) -> Lines:
    found = pair.comparison
    moved = [("start", found.starts)] if found.is_alike else [("first start", found.starts), ("end", found.ends)]
    rows = [[f"W{with_run(pair.names[1])[1:]} jobs", "", "", "median", "most", "in all"]]
    for verb, moves in moved:
        rows += _moved(verb, moves)
    before, saved, added, after = map(_sum, found.waits)
    return [*table(rows, gap=3), f"Waits: {before} - {saved} saved + {added} added = {after}"]


def _moved(verb: str, moves: Moves) -> list[list[str]]:
    jobs = moves.earlier.jobs + moves.same + moves.later.jobs

    def row(label: str, many: int, by: Moved | None) -> list[str]:
        lengths = [span(by.median), span(by.most), _sum(by.total)] if by and by.jobs else [""] * 3
        return [f"  {verb} {label}", number(many), percent(many / jobs if jobs else None), *lengths]

    return [
        row("earlier", moves.earlier.jobs, moves.earlier),
        row("later", moves.later.jobs, moves.later),
        row("at the same time", moves.same, None),
    ]


def _sum(seconds: float) -> str:
    return span(seconds) if seconds < 2 * 86400 else f"{seconds / 3600:,.0f} h"


def _sizes(pair: Pair, width: int, unicode: bool) -> Lines:
    verb = "start" if pair.comparison.is_alike else "end"
    sizes = zip(SIZE_LABELS, pair.comparison.ends.sizes, strict=True)
    rows = [(label, (size.earlier, size.later)) for label, size in sizes]
    while rows and not any(rows[0][1]):
        del rows[0]
    while rows and not any(rows[-1][1]):
        del rows[-1]
    if not rows:
        return []
    most, room = max(max(jobs) for _, jobs in rows), (width - 31) // 2
    edge = "│" if unicode else "|"
    lines = [f"  {verb + 's by':<10}{'earlier':>{room + 8}}   later"]
    for label, jobs in rows:
        left, right = (bar(many / most * room, side, unicode) for side, many in enumerate(jobs))
        lines.append(f"  {label:<10}{f'{left} {jobs[0]:,}':>{room + 8}} {edge} {jobs[1]:,} {right}")
    return lines


def bar(length: float, side: int, unicode: bool) -> str:
    """Return a bar exact to half a column, which grows to the left (`side` 0) or to the right (1)."""
    halves = max(1, round(2 * length)) if length else 0
    if not unicode:
        return "#" * -(-halves // 2)
    full, half = "█" * (halves // 2), "▐▌"[side] * (halves % 2)
    return half + full if side == 0 else full + half


def _changes(pair: Pair, width: int) -> Lines:
    changes = pair.comparison.gained + pair.comparison.lost
    if not changes:
        return []
    told = f"Waits of the jobs that gain and lose most {with_run(pair.names[1])}"
    rows = [["", "procs", "estimate", *pair.names, "ends", ""]]
    sides: tuple[Align, ...] = ("left", "right", "right", "right", "right", "right", "left")
    for change in changes:
        job = change.job
        later = span(abs(change.later)), "later" if change.later > 0 else "earlier"
        rows.append(
            [
                f"  {shorten(printable(name(job)), LONGEST_NAME)}",
                number(job.procs),
                span(job.estimate),
                *map(span, change.waits),
                *later,
            ]
        )
    return [*(row.text for row in wrapped(told, width)), *table(rows, sides)]
