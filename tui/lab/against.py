"""Tables of comparisons with a baseline, from runs of the same jobs: `schedscope results FILE --against easy`."""

from __future__ import annotations

from collections.abc import Iterator

from sim.lab.paired import MOST_SEEDS, RESAMPLES, Paired, PairedRuns
from sim.lab.pivot import PivotQuery, Record, check_factor
from sim.lab.series import said
from sim.support.formatting import count, percent, printable, shortened
from tui.cli.terminal import split
from tui.look.text import Align, cell, number, titled


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
        words = [printable(shortened(said(place), 28)) for place in places]
        rows.append([*words, *_numbers(found, ask, ratio)])
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
