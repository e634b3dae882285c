"""Command `schedscope run`: show metrics of policies side by side, and write files about a schedule."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import combinations
from math import isnan
from typing import Any

import click
import numpy as np

from sim.machine.processors import Placement
from sim.metrics.aggregates import OverTime, Value, over_time, ratio
from sim.metrics.catalogue import FAIRNESS, FRAGMENTATION, METRICS, Metric, Unit, metric
from sim.metrics.fairness import Fairness, fairness
from sim.metrics.measure import GROUPS, PARTIES, TAIL, Metrics, group_of, measure
from sim.policies import parse_policy
from sim.policies.policy import full_policy
from sim.session.trace_ref import TraceRef
from sim.support.files import write_rows
from sim.support.formatting import clock, count, listed, percent, printable, processors, quoted, shortened
from sim.timeline.scenario import Scenario
from sim.workload.model import Workload
from sim.workload.source import Source, find
from tui.cli import options
from tui.cli.options import told
from tui.cli.schedule_files import batsim_names, write_batsim, write_decisions, write_schedule, write_segments
from tui.cli.terminal import progress, run_to_end, say, seen_columns, shows_unicode, split
from tui.cli.trace_events import write_trace_events
from tui.cli.user_policies import own_code, timed
from tui.look.text import cell, duration, instant, number, plain, table, titled

MAIN = (
    "jobs", "mean_wait", "max_wait", "mean_turnaround", "mean_slowdown", "mean_bounded_slowdown",
    "max_bounded_slowdown", "mean_bounded_slowdown_z", "utilization", "loss_of_capacity", "makespan", "backfilled",
    "killed", "preemptions", "migrations", "missed_reservations",
)  # fmt: skip
_EXTRA = tuple(entry.name for entry in (*FRAGMENTATION, *FAIRNESS))
R = "r"
OF_GROUPS = (
    "jobs", "mean_wait", "max_wait", "mean_turnaround", "mean_bounded_slowdown", "max_bounded_slowdown",
    "total_wait_hours",
)  # fmt: skip
BUCKETS = 24
MOST_PARTIES = 25


@click.command("run")
@options.trace()
@click.option(
    "--policy",
    "policies",
    multiple=True,
    type=options.SPEC,
    help="Repeatable; default easy; a file of your own: ./fair.py.",
)
@options.form("table", "json", "csv")
@click.option(
    "--by", metavar="GROUP", help="Also break down by group: category, batch, class, priority ...; tail, time."
)
@click.option(
    "--fair", is_flag=True, help="Also measure fairness: jobs passed, and delay caused by later arrivals (slow)."
)
@click.option("--all", "everything", is_flag=True, help="Every metric in the table.")
@click.option("--schedule", metavar="FILE", help="Write one row a job.")
@click.option("--segments", metavar="FILE", help="Write one CSV row per stretch of time on processors.")
@click.option("--decisions", metavar="FILE", help="Write one row a decision, with its sentence.")
@click.option("--trace-events", "events", metavar="FILE", help="Write what Perfetto and chrome://tracing open.")
@click.option(
    "--batsim", metavar="PREFIX", help="Write PREFIX_jobs.csv and PREFIX_schedule.csv as Batsim does; Evalys reads one."
)
@click.option("--debug", is_flag=True, help="Open pdb at breakpoint() in your policy and where it fails.")
@options.check
@options.switches
@options.placement
@options.of_workload
def command(
    trace: str, policies: tuple[str, ...], form: str, by: str | None, everything: bool, schedule: str | None,
    segments: str | None, events: str | None, decisions: str | None, batsim: str | None, debug: bool, fair: bool,
    check: bool, switches: options.Switches, placement: Placement, **given: Any,
) -> None:  # fmt: skip
    """Simulate policies side by side and print their metrics."""
    names = [*(group.name for group in (*GROUPS, *PARTIES, TAIL)), "time"]
    if by is not None and by != "time" and group_of(by) is None:
        told = f"expected one of {', '.join(names)}, or two of the first with a comma, like class, priority"
        raise click.UsageError(f"--by {quoted(by)}: {told}")
    files = Files(schedule, segments, events, decisions, batsim)
    _refuse_confusion(files, trace, len(policies))
    chosen = [(spec, parse_policy(spec)) for spec in policies or ("easy",)]
    options.heed(placement, [*(policy for _, policy in chosen), *(spec for _, spec in switches)])
    source = Source.of_options(trace, given)
    jobs = options.replay(source, aloud=form != "table")
    made_of, outcomes = provenance(source, placement), []
    files = replace(files, made_of=made_of)
    for spec, policy in chosen:
        workload, (own,), moments = options.settle(jobs, [spec], switches)
        policy = policy if own == spec else parse_policy(own)
        later = timed(workload, policy, moments, placement)
        scenario = Scenario(workload, policy, later, placement, check)
        with own_code(scenario, debug):
            outcomes.append(simulate(scenario, _named(spec, later), files, by, fair))
    if form == "json":
        say(as_json(made_of, jobs.workload, outcomes))
    elif form == "csv":
        say(as_csv(outcomes, by, made_of), exact=True)
    else:
        say(as_table(jobs.workload.name, jobs.workload, outcomes, by, everything, shows_unicode(), seen_columns()))


def _refuse_confusion(files: Files, trace: str, policies: int) -> None:
    given = {option: path for option, path in files.by_option.items() if path}
    if policies > 1 and given:
        raise click.UsageError(f"{listed(given)} write one schedule: give one --policy with them")
    for option, path in files.by_option.items():
        options.of_file(option, path, trace)
    for (one, path), (other, another) in combinations(given.items(), 2):
        if os.path.realpath(path) == os.path.realpath(another):
            raise click.UsageError(f"{one} and {other} would overwrite each other in {path}: give each its own")


def _named(spec: str, switches: Sequence[tuple[float, str]]) -> str:
    return spec + "".join(f", {other} from {clock(time)}" for time, other in switches)


@dataclass(frozen=True)
class Outcome:
    spec: str
    metrics: Metrics
    over_time: OverTime
    scenario: Scenario | None = None
    fairness: Fairness | None = None


@dataclass(frozen=True)
class Files:
    schedule: str | None = None
    segments: str | None = None
    events: str | None = None
    decisions: str | None = None
    batsim: str | None = None
    made_of: Mapping[str, Any] = field(default_factory=dict)
    """Data to repeat the run; it is stored in files whose format has a place for it."""

    @property
    def by_option(self) -> dict[str, str | None]:
        jobs, summary = batsim_names(self.batsim) if self.batsim is not None else (None, None)
        return {
            "--batsim": jobs,
            "--batsim's summary": summary,
            "--schedule": self.schedule,
            "--segments": self.segments,
            "--trace-events": self.events,
            "--decisions": self.decisions,
        }


MANY = 1_000_000


def _announce_length(scenario: Scenario, is_each_written: bool) -> None:
    """Warn before a run that takes long, because of very many turns of rows or ticks (times at which jobs suspend)."""
    turns, jobs = scenario.policy.turns(), scenario.workload
    if turns is not None and (is_each_written or scenario.check):
        many = float(jobs.runtime.sum()) / turns.slice
        what = "written, each with its line" if is_each_written else "checked, one by one"
        told = f"up to {many:,.0f} turns of jobs are {what}; a longer slice makes fewer"
    elif tick := getattr(scenario.policy, "tick", 0.0):
        many = float(np.ptp(jobs.due) + jobs.runtime.max()) / tick if len(jobs) else 0.0
        told = f"jobs may be suspended at {many:,.0f} ticks or more; a longer tick makes fewer"
    else:
        return
    if many > MANY:
        click.echo(f"schedscope: {told}", err=True)


def simulate(scenario: Scenario, spec: str, files: Files, by: str | None = None, fair: bool = False) -> Outcome:
    """Simulate one run, write the files, and return the measurements: `by` user or group, with fairness if `fair`."""
    engine = scenario.begun(for_schedule=not (files.decisions or files.events or fair))
    _announce_length(scenario, bool(files.segments or files.events))
    run_to_end(engine, spec)
    found = None
    if fair:
        with progress(len(engine.workload), "fair starts") as bar:
            found = fairness(scenario, engine, bar.update if bar is not None else lambda more: None)
    if files.schedule:
        write_schedule(files.schedule, engine, found)
    if files.batsim is not None:
        write_batsim(files.batsim, engine)
    if files.segments:
        write_segments(files.segments, engine)
    if files.decisions:
        write_decisions(files.decisions, engine)
    if files.events:
        write_trace_events(engine, files.events, {**files.made_of, **_made_by(scenario)})
    schedule = engine.schedule(is_last=True)
    del engine  # its history takes more memory than the measurement
    asked = group_of(by) if by is not None and by != "time" else None
    parties = [asked] if asked is not None and asked not in GROUPS else []
    measured = measure(schedule, also=parties)
    measured.values.update(found.values() if found is not None else {})
    return Outcome(spec, measured, over_time(schedule, BUCKETS), scenario, found)


# The three formats


def as_json(made_of: Mapping[str, Any], workload: Workload, outcomes: Sequence[Outcome]) -> str:
    policies = [
        {
            **_beside(outcomes[0].metrics, outcome.metrics),
            "over_time": asdict(outcome.over_time),
            "policy": outcome.spec,
            **_made_by(outcome.scenario),
            **_of_jobs(outcome, workload),
        }
        for outcome in outcomes
    ]
    found = {**made_of, "procs": workload.procs, "fidelity": told(workload.fidelity), "policies": policies}
    return json.dumps(found, indent=1, allow_nan=False)


def provenance(source: Source, placement: Placement) -> dict[str, Any]:
    """Return what is needed, except the policy, to repeat a run: trace and its hash, all options, version."""
    from sim import __version__

    given = {name: option.written(value) for name, option, value in source.values}
    return {
        "trace": source.trace,
        "sha256": TraceRef.of(str(find(source.trace))).sha256 or None,
        "version": __version__,
        "options": {**given, "placement": placement},
        "seed": source.transforms.seed,
    }


def _made_by(scenario: Scenario | None) -> dict[str, Any]:
    if scenario is None:
        return {}
    switches = [{"time": at, "policy": full_policy(policy)} for at, policy in scenario.switches]
    return {"parameters": full_policy(scenario.policy), "switches": switches}


def _beside(first: Metrics, metrics: Metrics) -> dict[str, Any]:
    """Return all metrics; groups also have R, by how much their slowdown is better than in the first run."""
    found = metrics.as_dict()
    for group, rows in found["groups"].items() if metrics is not first else ():
        for row, other in zip(rows, first.groups[group], strict=True):
            if "aggregate_slowdown" in row:
                row[R] = ratio(other.values["aggregate_slowdown"], row["aggregate_slowdown"])
    return found


def _of_jobs(outcome: Outcome, workload: Workload) -> dict[str, Any]:
    if outcome.fairness is None:
        return {}
    found = {name: [None if isnan(v) else v for v in each.tolist()] for name, each in outcome.fairness.columns.items()}
    return {"fairness": {"job": list(workload.ids), **found}}


def _measured(outcomes: Sequence[Outcome]) -> list[Metric]:
    found, split = outcomes[0].metrics.values, METRICS.index(metric("loss_of_capacity")) + 1
    return [entry for entry in (*METRICS[:split], *FRAGMENTATION, *METRICS[split:], *FAIRNESS) if entry.name in found]


def as_csv(outcomes: Sequence[Outcome], by: str | None, made_of: Mapping[str, Any] | None = None) -> str:
    """Return CSV with a row for each metric, `by` group or time, and a column for each policy; then `made_of`."""
    file = io.StringIO()
    write_rows(file, _csv_rows(outcomes, by, made_of))
    return file.getvalue().rstrip("\n")


def _csv_rows(
    outcomes: Sequence[Outcome], by: str | None, made_of: Mapping[str, Any] | None
) -> Iterator[Sequence[object]]:
    specs = [outcome.spec for outcome in outcomes]
    if by == "time":
        yield "policy", "from", "to", *_TIMES
        for outcome in outcomes:
            yield from ([outcome.spec, *row] for row in _time_rows(outcome.over_time))
    elif by is not None:
        yield "group", "metric", *specs
        for label, name, values in _group_values(outcomes, by):
            yield label, name, *("" if v is None else v for v in values)
    else:
        yield "metric", *specs
        for entry in _measured(outcomes):
            values = [outcome.metrics.values[entry.name] for outcome in outcomes]
            yield entry.name, *("" if v is None else v for v in values)
    if by != "time" and made_of is not None:
        full = [full_policy(outcome.scenario.policy) if outcome.scenario else outcome.spec for outcome in outcomes]
        lead = [] if by is None else [""]
        for name, value in made_of.items():
            yield *lead, name, *[json.dumps(value) if isinstance(value, dict) else value] * len(specs)
        yield *lead, "policy", *full
        if any(switches := [_made_by(outcome.scenario).get("switches") for outcome in outcomes]):
            yield *lead, "switches", *map(json.dumps, switches)


def as_table(
    title: str, workload: Workload, outcomes: Sequence[Outcome], by: str | None, everything: bool, unicode: bool,
    width: int | None = None,
) -> str:  # fmt: skip
    """Return a column for each policy, the best value marked; columns beyond the width follow below."""
    lines = [f"{title} · {count(len(workload), 'job')} · {processors(workload.procs)}", ""]
    main = {*MAIN, *["interruptions"] * bool(workload.outages), f"fairness_{by}s", *_EXTRA}
    entries = [entry for entry in _measured(outcomes) if everything or entry.name in main]
    rows = [["", *(outcome.spec for outcome in outcomes)]]
    rows += [_row(entry, [outcome.metrics.values[entry.name] for outcome in outcomes]) for entry in entries]
    lines += split(rows, width)
    if by == "time":
        lines += _time_table(outcomes)
    elif by is not None:
        lines += _group_table(outcomes, by, width)
    if len(outcomes) > 1:
        lines += ["", "* the best of its row"]
    lines += _notes(workload)
    return "\n".join(lines if unicode else map(plain, lines))


def _row(entry: Metric, values: Sequence[Value]) -> list[str]:
    best = _best(entry, values)
    return [titled(entry), *(cell(entry, v) + (" *" if v == best else "  ") for v in values)]


def _best(entry: Metric, values: Sequence[Value]) -> Value:
    known = [value for value in values if value is not None]
    if entry.better is None or len(known) < 2 or len(set(known)) == 1:
        return float("nan")
    return min(known) if entry.better == "smaller" else max(known)


def _group_values(outcomes: Sequence[Outcome], by: str) -> Iterator[tuple[str, str, list[Value]]]:
    for rows in zip(*(outcome.metrics.groups[by] for outcome in outcomes), strict=True):
        for name in rows[0].values:
            yield rows[0].label, name, [row.values[name] for row in rows]
        if len(rows) > 1 and "aggregate_slowdown" in rows[0].values:
            first, *others = (row.values["aggregate_slowdown"] for row in rows)
            yield rows[0].label, R, [None, *(ratio(first, other) for other in others)]


def _group_table(outcomes: Sequence[Outcome], by: str, width: int | None) -> list[str]:
    group = group_of(by)
    assert group is not None
    lines = ["", f"By {group.title}"]
    first = list(dict.fromkeys(label for label, _, _ in _group_values(outcomes, by)))
    if group not in GROUPS and len(first) > MOST_PARTIES:
        lines += [f"the first {MOST_PARTIES} of {len(first):,}; all: --format csv"]
        first = first[:MOST_PARTIES]
    names = OF_GROUPS if group is not TAIL else tuple(outcomes[0].metrics.groups[by][0].values)[1:]
    for name in (*names, *[R] * (len(outcomes) > 1 and group is not TAIL)):
        entry = _entry(name)
        rows = [[titled(entry), *(outcome.spec for outcome in outcomes)]]
        rows += [
            [shortened(printable(label)), *_row(entry, values)[1:]]
            for label, row, values in _group_values(outcomes, by)
            if row == name and label in first
        ]
        lines += ["", *split(rows, width)]
    return lines


def _entry(name: str) -> Metric:
    if name == R:
        return Metric(R, "R against the first", "factor", "greater", "LS equation 3, of the aggregate slowdown")
    units: dict[str, Unit] = {"bounded_slowdown": "factor", "guarantee_ratio": "factor"}
    if name in ("wait", "turnaround", "reservation_delay", *units):
        return Metric(name, name.replace("_", " "), units.get(name, "s"), "smaller", "")
    return metric(name)


_TIMES = ("utilization", "queue", "wanted", "loss_of_capacity")


def _time_rows(times: OverTime) -> Iterator[list[float]]:
    columns = (getattr(times, name) for name in _TIMES)
    for begin, end, *values in zip(times.edges, times.edges[1:], *columns, strict=False):
        yield [begin, end, *values]


def _time_table(outcomes: Sequence[Outcome]) -> list[str]:
    lines: list[str] = []
    for outcome in outcomes:
        rows = [["from", "for", "utilization", "queue (jobs)", "processors wanted", "loss of capacity"]]
        rows += [
            [instant(begin), duration(end - begin), percent(used), number(queue, 1), number(wanted, 1), percent(lost)]
            for begin, end, used, queue, wanted, lost in _time_rows(outcome.over_time)
        ]
        lines += ["", f"{outcome.spec} over time", *table(rows)]
    return lines


def _notes(workload: Workload) -> list[str]:
    said = told(workload.fidelity.unmodelled())
    lines = [line for line in told(workload.fidelity) if line not in said]
    return ["", *lines] if lines else []
