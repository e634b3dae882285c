"""Command `schedscope papers`: compute the tables of the papers, and show the results next to the published values."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from statistics import median

import click

from sim.lab.papers import GAIN, MISSED, PaperTable, PaperValue, table, tables
from sim.lab.results import Results
from sim.lab.sweep import sweep
from sim.metrics.catalogue import Metric, metric
from sim.support.formatting import count
from tui.cli.options import of_file
from tui.cli.terminal import say, seen_columns, shows_unicode, wrapped_lines, wrapped_table
from tui.lab.cli.sweep_progress import Filling, shown_where_seen
from tui.look.text import cell, plain, titled
from tui.look.text import table as lines_of


@click.command("papers")
@click.argument("name", required=False)
@click.option("--list", "listing", is_flag=True, help="List the tables and the logs they need (default without NAME).")
@click.option("--logs", metavar="FOLDER", default=".", help="Where the archive's logs are; default: here.")
@click.option("--jobs", type=click.IntRange(1), metavar="N", help="Only the first N jobs: quicker, but not the same.")
@click.option("-o", "--output", "path", metavar="FILE", help="Keep the runs in this file of results.")
@click.option("--workers", type=click.IntRange(1), metavar="N", help="Default: one a core.")
def command(name: str | None, listing: bool, logs: str, jobs: int | None, path: str | None, workers: int | None) -> int:
    """Compute the papers' tables again and compare them with the published values."""
    of_file("-o", path)
    if name is None or listing:
        say(_listed(logs))
        return 0
    of = table(name)
    plan = of.plan(logs, jobs)
    with shown_where_seen(Filling.of(plan)) as told:
        progress = sweep(plan, path or _kept(), workers=workers or 0, told=told)
    cut = "" if jobs is None else f" (here of the first {count(jobs, 'job')} only)"
    with Results(path or _kept()) as results:
        lines = [of.title + cut, "", *_shown(list(of.figures(plan, results))), "", of.note]
    say("\n".join(lines if shows_unicode() else map(plain, lines)))
    return 1 if progress.failed else 0


def _kept() -> Path:
    from platformdirs import user_cache_path

    return user_cache_path("schedscope", ensure_exists=True) / "papers.sqlite"


def _listed(logs: str) -> str:
    rows = [["table", "what it is", "needs"]]
    rows += [[name, of.title.partition(": ")[2], _needs(of, logs)] for name, of in tables().items()]
    hint = "schedscope papers NAME --logs FOLDER makes one; logs are those of the Parallel Workloads Archive"
    width = seen_columns()
    return "\n".join([*wrapped_table(rows, width), "", *wrapped_lines([hint], width)])


def _needs(of: PaperTable, logs: str) -> str:
    return ", ".join(log if os.path.isfile(os.path.join(logs, log)) else f"{log} (missing)" for log in of.logs)


def _shown(figures: list[PaperValue]) -> Iterator[str]:
    """Yield a row of the paper's table with three numbers per metric: the paper's, ours and the difference."""
    metrics = list(dict.fromkeys(figure.metric for figure in figures))
    head = [""]
    for name in metrics:
        head += [titled(_metric(name)), "here", "difference"]
    rows: dict[int, list[str]] = {}
    for at, figure in enumerate(figures):
        row = rows.setdefault(at // len(metrics), [figure.row])
        entry = _metric(figure.metric)
        paper = (figure.paper or "·") if isinstance(figure.paper, str) else cell(entry, figure.paper)
        row += [paper, "failed" if figure.ours is None else cell(entry, figure.ours), _difference(figure)]
    yield from lines_of([head, *rows.values()])
    yield ""
    for name in metrics:
        of_metric = [figure for figure in figures if figure.metric == name]
        if off := [figure.off for figure in of_metric if figure.off is not None]:
            yield f"{_metric(name).title}: median difference {median(off):+.1%}, the largest {max(off, key=abs):+.1%}"
        if held := [figure.holds for figure in of_metric if figure.holds is not None]:
            yield f"{_metric(name).title}: above or below 0 as the paper says in {sum(held):,} of {len(held):,} cases"


def _difference(figure: PaperValue) -> str:
    if figure.holds is not None:
        return "yes" if figure.holds else "no"
    return "" if figure.off is None else f"{figure.off:+.1%}"


def _metric(name: str) -> Metric:
    if name.startswith(GAIN):
        of = _metric(name.removeprefix(GAIN))
        return Metric(name, f"R of {of.title}", "factor", "greater", "(s1 - s) / min(s1, s)")
    if name == MISSED:
        return Metric(MISSED, "missed reservations", "share", "smaller", "share of the requested ones")
    return metric(name)
