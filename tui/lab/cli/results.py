"""Command `schedscope results`: show a results file as a list of runs, or as means in rows and columns."""

from __future__ import annotations

import io
import json
import shlex
from collections.abc import Iterator, Sequence
from math import isfinite
from typing import Any

import click
import numpy as np

from sim.lab.distributions import labels_of
from sim.lab.kept import COLUMNS
from sim.lab.measured import BATCHES, Cut, measured_metric
from sim.lab.paired import MOST_SEEDS, RESAMPLES, Paired, PairedRuns, compare
from sim.lab.pivot import (
    Interval,
    PivotQuery,
    PivotTable,
    Record,
    RunFilter,
    check_factor,
    in_order,
    order_of,
    pivot,
    records,
)
from sim.lab.results import FACTORS, Results
from sim.metrics.catalogue import MEASURED, Metric
from sim.support.errors import ParameterError
from sim.support.files import write_rows, write_whole
from sim.support.formatting import count, listed, percent, printable, quoted, shortened
from tui.cli import options
from tui.cli.parquet import is_table, table_file, write_parquet
from tui.cli.terminal import say, seen_columns, shows_unicode, split, wrapped_lines, wrapped_table
from tui.lab.plotted import mean_in_words, value_in_words
from tui.look.text import Align, cell, cells, number, plain, titled

MAIN = ("mean_wait", "mean_bounded_slowdown", "p95_bounded_slowdown", "utilization")
"""Metrics that are shown by default in a list of runs."""
MADE_OF = ("sha256", "parameters", "code")
"""Columns that are needed to repeat a run: hash of the trace, all parameters, hash of user-defined code."""
TABLES = ("parquet", "arrow")
MOST_ROWS = 50


@click.command("results")
@click.argument("path", metavar="FILE")
@click.option("--rows", metavar="X", help="Factor of the rows: policy, load, policy.omega, ...")
@click.option("--columns", metavar="Y", default="", help="Factor of the columns.")
@click.option("--value", "values", multiple=True, metavar="METRIC", help="Repeatable; default mean_bounded_slowdown.")
@click.option("--by", metavar="GROUP", default="", help="A table for each group of jobs, where groups were swept.")
@options.where
@options.interval
@click.option("--against", metavar="V", help="Paired differences from this one of the rows: a policy.")
@click.option("--ratio", is_flag=True, help="Ratios instead of differences.")
@options.form("table", "csv", "json", "parquet", "arrow")
@click.option("--jobs", is_flag=True, help="Every job that the sweep kept, a row each: -o FILE.parquet or .arrow.")
@click.option("-o", "--output", metavar="FILE", help="Output file.")
def command(
    path: str, rows: str | None, columns: str, values: tuple[str, ...], by: str, where: tuple[str, ...],
    interval: Interval, against: str | None, ratio: bool, form: str, jobs: bool, output: str | None,
) -> None:  # fmt: skip
    """Show a results file: its runs, or means with 95 % confidence intervals."""
    if form == "table" and is_table(output):
        form = "arrow" if str(output).lower().endswith(".arrow") else "parquet"
    if form in TABLES and not output:
        raise click.UsageError(f"--format {form} needs a file: -o FILE")
    if jobs and not is_table(output):
        raise click.UsageError("--jobs writes a table of jobs: give -o FILE.parquet or FILE.arrow")
    options.of_file("-o", output)
    if ratio and against is None:
        raise click.UsageError("--ratio goes with --against")
    conditions, by = tuple(map(RunFilter.of, where)), by.replace("-", "_")
    lines: list[str] = []
    made: list[Record] = []
    width = seen_columns() if output is None else None
    with Results(path) as results:
        if jobs:
            assert output is not None
            write_jobs(output, results, conditions)
            return
        if against is not None:
            for value in values or ("mean_bounded_slowdown",):
                ask = PivotQuery(rows or "policy", columns, value, by, conditions, interval)
                for found_pairs in compare(results, ask, against, ratio):
                    lines += [*against_table(found_pairs, ask, against, ratio, width), ""]
                    made += against_rows(found_pairs, ask, against, ratio)
            lines = [*lines[:-1], *_measured_part(results, conditions)]
        elif rows is None and not columns:
            if by:
                raise click.UsageError("--by goes with --rows or --columns")
            metrics = [entry.name for entry in MEASURED]
            found = sorted(records(results, metrics, conditions, also=MADE_OF), key=in_order)
            lines, made = _listed(results, found, values or MAIN, width), [_flat(record) for record in found]
        else:
            for value in values or ("mean_bounded_slowdown",):
                ask = PivotQuery(rows or "policy", columns, value, by, conditions, interval)
                for of in pivot(results, ask):
                    lines += [*_shown(of, ask, width), ""]
                    made += _long(of, ask)
            lines = [*lines[:-1], *_measured_part(results, conditions)] or ["no runs"]
    _give(wrapped_lines(lines, width), made, form, output)


def _give(lines: list[str], made: list[Record], form: str, output: str | None) -> None:
    if form in TABLES:
        assert output is not None
        write_parquet(output, made, form == "parquet")
        return
    if form == "table":
        text = "\n".join(lines if shows_unicode() else map(plain, lines))
    elif form == "json":
        text = json.dumps([{name: _finite(value) for name, value in of.items()} for of in made], indent=1)
    else:
        file = io.StringIO()
        write_rows(file, [list(made[0])] if made else [])
        write_rows(file, [["" if value is None else value for value in of.values()] for of in made])
        text = file.getvalue().rstrip("\n")
    if output is None:
        say(text, exact=form != "table")
        return
    with write_whole(output) as out:
        out.write(text + "\n")


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not isfinite(value) else value


# The list


def _flat(record: Record) -> Record:
    """Return the record with all metrics; one gets the prefix `metric_` if an option has the same name."""
    about = {name: record[name] for name in ("key", *FACTORS, *MADE_OF, "error", "overload")}
    about["policy"] = record["spec"]
    metrics = {entry.name: record[f"={entry.name}"] for entry in MEASURED}
    return about | {f"metric_{name}" if name in about else name: value for name, value in metrics.items()}


def _listed(results: Results, found: list[Record], metrics: Sequence[str], width: int | None) -> list[str]:
    failed = [record for record in found if record["error"]]
    varying = [name for name in FACTORS if name in ("trace", "policy") or len({record[name] for record in found}) > 1]
    lines = [f"{printable(str(results.path))}: {count(len(found), 'run')}, {len(failed):,} failed"]
    for name in varying:
        values = sorted({record[name] for record in found}, key=order_of)
        lines.append(f"  {name}: {printable(listed((value_in_words(value) for value in values), most=8))}")
    lines += [f"  groups: {', '.join(results.groupings())}"] if results.groupings() else []
    entries = [measured_metric(name) for name in metrics]
    head = [*varying, *map(titled, entries), ""]
    body = [_run(record, varying, entries) for record in found[:MOST_ROWS]]
    sides: list[Align] = ["left" if name in varying or not name else "right" for name in head]
    lines += ["", *split([head, *body], width, sides, labels=len(varying))]
    if len(found) > MOST_ROWS:
        lines.append(f"the first {MOST_ROWS} of {len(found):,}; all with all their numbers: --format csv")
    lines += _overloaded(sum(1 for record in found if record["overload"]))
    return [*lines, "", *_next_commands(results, found, width)] if found else lines


def _next_commands(results: Results, found: Sequence[Record], width: int | None) -> list[str]:
    """Return three commands that may be useful next, by the factors that vary in the file."""
    path = shlex.quote(printable(str(results.path)))
    names = [name for name in FACTORS if name not in ("trace", "policy", "seed", "version")]
    numbers = [name for name in names if len({record[name] for record in found}) > 1]
    along = numbers[0] if numbers else "trace" if len({record["trace"] for record in found}) > 1 else ""
    beside = f" --columns {along}" if along else ""
    plot = f"-x {along or 'policy'}{' --by policy' if along else ''} -y mean_wait -o figure.pdf"
    third = f"plot {path} --kind ecdf -o waits.pdf" if results.keeps_jobs else "metrics worst wait"
    about = "how the waits are distributed" if results.keeps_jobs else "metrics by what they mean"
    commands = [
        [f"schedscope results {path} --rows policy{beside} --value mean_wait", "means with their intervals"],
        [f"schedscope plot {path} {plot}", "a figure"],
        [f"schedscope {third}", about],
    ]
    lines = wrapped_table(commands, None, indent=2)
    if width is not None and any(cells(line) > width for line in lines):
        lines = [line for command, what in commands for line in (f"  {what}:", f"    {command}")]
    return ["next", *lines]


def _run(record: Record, varying: Sequence[str], entries: Sequence[Metric]) -> list[str]:
    numbers = (cell(entry, record[f"={entry.name}"]) for entry in entries)
    return [*(value_in_words(record[name]) for name in varying), *numbers, _sign(record)]


def _sign(record: Record) -> str:
    return printable(shortened(str(record["error"]), 60)) if record["error"] else "!" if record["overload"] else ""


def _overloaded(many: int) -> list[str]:
    told = f"! overloaded ({count(many, 'run')}): the queue only grows, so that a mean says how long the run was"
    return ["", told] if many else []


# Means


def _shown(of: PivotTable, ask: PivotQuery, width: int | None) -> list[str]:
    """Return a table of means as lines, with the explanations needed to read it."""
    entry = ask.metric
    group = f" · {ask.by} {printable(shortened(of.label))}" if ask.by else ""
    lines = [f"{titled(entry)}{group}, with 95 % confidence over {ask.interval}", ""]
    head = [f"{ask.rows} \\ {ask.columns}" if ask.columns else ask.rows]
    head += map(value_in_words, of.columns) if ask.columns else [""]
    rows = [
        [value_in_words(row), *(mean_in_words(of.cells.get((row, column)), entry) for column in of.columns)]
        for row in of.rows
    ]
    lines += split([head, *rows], width)
    cells = of.cells.values()
    notes = []
    if any(found.best for found in cells):
        notes.append(
            "* the best, significantly: pairs of the same seed and trace, 95 %, corrected for how many there are"
        )
    if of.mixed:
        told = listed(f"{many:,} values of {name}" for name, many in of.mixed.items())
        notes.append(f"each number is a mean over {told}; separate them with --where and --rows")
    if all(found.seeds < 2 for found in cells) and ask.interval == "seeds":
        notes.append("one seed: no intervals (sweep with --seeds, or --interval batches)")
    elif ask.interval == "batches":
        notes.append(f"method: mean of the runs ± half of Student's interval over {BATCHES} batches of each run's jobs")
    else:
        few, many = (pick(found.seeds for found in cells) for pick in (min, max))
        seeds = f"{few} to {many} seeds" if few != many else f"{many} seeds"
        notes.append(f"method: mean of the seeds' means ± half of Student's 95 % interval over {seeds}")
    return [*lines, *(["", *notes] if notes else []), *_overloaded(sum(found.overloaded for found in cells))]


def _measured_part(results: Results, where: Sequence[RunFilter]) -> list[str]:
    cuts = {str(record["cut"] or "") for record in records(results, [], where)}
    return [f"measured: {'; or '.join(map(_part, sorted(cuts)))}"] if any(cuts) else []


def _part(cut: str) -> str:
    """Return in words which jobs remain after a cut; any other text from the file is quoted."""
    try:
        return Cut.of(cut).told
    except ParameterError:
        return f"an unknown part ({quoted(cut)})"


def _long(of: PivotTable, ask: PivotQuery) -> Iterator[Record]:
    """Yield one record for each cell of a table of means, for JSON and CSV."""
    rows, columns = check_factor(ask.rows), check_factor(ask.columns) if ask.columns else "column"
    for (row, column), found in sorted(of.cells.items(), key=lambda item: tuple(map(order_of, item[0]))):
        yield {
            "metric": ask.value,
            **({ask.by: of.label} if ask.by else {}),
            rows: row,
            columns: column,
            "mean": found.mean.value,
            "half": found.mean.half,
            "runs": found.runs,
            "seeds": found.seeds,
            "best": found.best,
            "overloaded": found.overloaded,
        }


OF_RUNS = ("trace", "policy", "seed")
"""Factors that always are columns of the table; others only if they differ between the runs."""
WHOLE = ("rank", "width", "hour")
DERIVED = ("slowdown", "bounded_slowdown")


def write_jobs(path: str, results: Results, where: Sequence[RunFilter]) -> None:
    """Write the jobs of all runs that meet the conditions `where` to a file, one run after the other."""
    taken = (record for record in sorted(records(results, [], where), key=in_order) if not record["error"])
    found = [record | {"policy": record["spec"]} for record in taken]
    names = (
        [name for name in found[0] if name not in ("key", *OF_RUNS, "spec", "parameters", "overload")] if found else []
    )
    varying = [name for name in names if len({record[name] for record in found}) > 1]
    labels = {group: labels_of(results, group) for group in results.groupings()}
    with table_file(path) as writer:
        for record in found:
            kept = results.jobs_of(record["key"])
            many = len(kept)
            columns: dict[str, object] = {name: [record[name]] * many for name in (*OF_RUNS, *varying)}
            columns |= {name: kept.columns[name] for name in COLUMNS}
            columns |= {name: kept.columns[name].astype(np.int64) for name in WHOLE}
            columns |= {name: kept.quantity(name) for name in DERIVED}
            for group, of in labels.items():
                if (places := kept.group(group)) is not None:
                    known = of.get(record["key"], {})
                    columns[group] = [known.get(place) for place in places.astype(np.int64).tolist()]
            writer.write(columns)


def against_table(of: PairedRuns, ask: PivotQuery, baseline: str, ratio: bool, width: int | None) -> list[str]:
    """Return a table as lines, with a row for each comparison with the baseline: differences or, with `ratio`, ratios.
    A row has confidence intervals, and the number of further seeds (or batches) that would make the difference
    significant. `width` is the largest width in columns; None for any width.
    """
    entry = ask.metric
    group = f" · {ask.by} {printable(shortened(of.label))}" if ask.by else ""
    name = printable(shortened(baseline))
    what = "ratio to" if ratio else "difference from"
    sample = "batch" if ask.interval == "batches" else "seed"
    more = f"{'batches' if sample == 'batch' else 'seeds'} more"
    head = [ask.rows, *([ask.columns] if ask.columns else []), "ratio" if ratio else "difference"]
    head += ["95 % by t", "95 % by bootstrap", "better in", "", more]
    rows = []
    for (row, column), found in of.cells.items():
        places = [row, *([column] if ask.columns else [])]
        rows.append([*map(value_in_words, places), *_numbers(found, ask, ratio)])
    leads: list[Align] = ["left"] * (len(head) - 6)
    sides: list[Align] = [*leads, "right", "right", "right", "right", "left", "right"]
    lines = [f"{titled(entry)}{group}: {what} {name}", "", *split([head, *rows], width, sides, labels=len(leads))]
    return [*lines, "", *_method(of, ask, sample, ratio, name)]


def _numbers(found: Paired, ask: PivotQuery, ratio: bool) -> list[str]:
    def told(value: float) -> str:
        return f"{value:.3f}" if ratio else f"{'+' if value > 0 else ''}{cell(ask.metric, value)}"

    def interval(edges: tuple[float, float] | None) -> str:
        return "–" if edges is None else f"{told(edges[0])} .. {told(edges[1])}"

    better = "–" if found.better is None else f"{percent(found.better, 0)} of {found.samples}"
    more = f"> {number(MOST_SEEDS)}" if found.more is None and found.student else "–"
    more = more if found.more is None else number(found.more)
    sign = ("*" if found.is_separated else " ") + ("!" if found.overloaded else " ")
    return [told(found.value), interval(found.student), interval(found.bootstrap), better, sign, more]


def _method(of: PairedRuns, ask: PivotQuery, sample: str, ratio: bool, baseline: str) -> Iterator[str]:
    if sample == "seed":
        pairs = "a pair has the same trace, options and seed; pairs of a seed are one sample"
    else:
        pairs = "a sample is a batch of submissions, the same in both runs"
    how = "geometric mean of the ratios" if ratio else "mean of the differences"
    yield (
        f"method: {how}; {pairs}; t: Student's interval{' of the logarithms' if ratio else ''};"
        f" bootstrap: percentiles of {number(RESAMPLES)} resamples"
    )
    if any(found.is_separated for found in of.cells.values()):
        edge = "1" if ratio else "0"
        yield f"* differs from {baseline}: the interval by t leaves out {edge} (not corrected for several)"
    if any(found.more for found in of.cells.values()):
        yield f"{sample}s more: would separate the two if mean and spread stayed as they are"
    if all(found.samples < 2 for found in of.cells.values()):
        yield f"one {sample}: no intervals (sweep with --seeds, or --interval batches)"
    if overloaded := sum(found.overloaded for found in of.cells.values()):
        pairs = count(overloaded, "pair")
        yield f"! overloaded ({pairs}): the queue only grows, so that a mean says how long the run was"


def against_rows(of: PairedRuns, ask: PivotQuery, baseline: str, ratio: bool) -> Iterator[Record]:
    """Yield a record for each comparison with the baseline, for JSON and CSV; with `ratio`, ratios, not differences."""
    rows, columns = check_factor(ask.rows), check_factor(ask.columns) if ask.columns else "column"
    for (row, column), found in of.cells.items():
        low, high = found.student or (None, None)
        low_drawn, high_drawn = found.bootstrap or (None, None)
        yield {
            "metric": ask.value, "against": baseline, "how": "ratio" if ratio else "difference",
            **({ask.by: of.label} if ask.by else {}), rows: row, columns: column, "value": found.value,
            "t_low": low, "t_high": high, "bootstrap_low": low_drawn, "bootstrap_high": high_drawn,
            "samples": found.samples, "better": found.better, "more": found.more, "overloaded": found.overloaded,
        }  # fmt: skip
