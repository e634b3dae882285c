"""Paired comparison with a baseline: two runs with the same seed have the same jobs, so that their differences vary
less.

The runs of a pair differ only in the compared factor. A sample is the mean difference over all pairs with one seed, or
the geometric mean of their ratios. With batches, a sample is instead the difference of one batch of submissions, which
has the same jobs in both runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil, exp, isfinite, log, sqrt
from statistics import fmean, stdev

import numpy as np

from sim.lab.intervals import LEVEL, Mean, mean, student
from sim.lab.measured import batches_of
from sim.lab.pivot import PivotQuery, Record, Value, check_factor, factor, labels_in, number_of, order_of, records
from sim.lab.results import FACTORS, Results
from sim.lab.series import Panel, Point, check_panels, log_names, said
from sim.support.errors import NotThereError, ParameterError, near
from sim.support.formatting import quoted

RESAMPLES = 10_000
"""Number of resamples from which a bootstrap interval is computed."""
MOST_SEEDS = 10_000
"""Largest number of seeds that is suggested; a difference that needs more is too small to be shown."""


@dataclass(frozen=True)
class Paired:
    """Result of a comparison with the baseline over paired samples."""

    value: float
    """Mean of the differences from the baseline or, if ratios are compared, geometric mean of the ratios to it."""
    student: tuple[float, float] | None
    """95 % confidence interval of `value` by Student's t; None if there are fewer than two samples."""
    bootstrap: tuple[float, float] | None
    """95 % confidence interval of `value` by the bootstrap (resampling); None if there are fewer than two samples."""
    samples: int
    better: float | None
    """Share of the samples with a value better than the baseline's; None if the metric has no better direction."""
    more: int | None
    """Expected number of further seeds until the interval excludes equality with the baseline; 0 if it does. None if
    that number is unknown or above `MOST_SEEDS`.
    """
    overloaded: int = 0

    @property
    def is_separated(self) -> bool:
        return self.more == 0


@dataclass(frozen=True)
class PairedRuns:
    """Paired comparisons with the baseline over the jobs `label` ("": all), by (row value, column value)."""

    label: str
    cells: Mapping[tuple[Value, Value], Paired]


def paired(samples: Sequence[tuple[float, float]], smaller_is_better: bool | None, ratio: bool = False) -> Paired:
    """Return the comparison of pairs (value, value of the baseline) by differences or, with `ratio`, ratios.
    `smaller_is_better` is None if the metric has no better direction.

    >>> found = paired([(12.0, 10.0), (15.0, 12.0), (9.0, 8.0)], True)
    >>> found.value, found.better, found.is_separated, found.more
    (2.0, 0.0, False, 1)
    """
    if ratio and min(min(pair) for pair in samples) <= 0:
        raise ParameterError("a ratio needs values above 0, and some are 0: compare by differences")
    differences = [log(one / base) if ratio else one - base for one, base in samples]
    back = exp if ratio else float
    found = mean(differences)
    interval = None if found.half is None else (back(found.value - found.half), back(found.value + found.half))
    drawn = _bootstrap(differences)
    sign = {True: -1, False: 1, None: 0}[smaller_is_better]
    better = fmean(float(sign * difference > 0) for difference in differences) if sign else None
    edges = None if drawn is None else (back(drawn[0]), back(drawn[1]))
    return Paired(back(found.value), interval, edges, len(differences), better, more_seeds(differences))


def _bootstrap(values: Sequence[float]) -> tuple[float, float] | None:
    """Return the 95 % interval of the mean by resampling, None for one value; equal values give equal intervals."""
    if len(values) < 2:
        return None
    rng, data = np.random.default_rng(0), np.array(values)
    means = np.concatenate(
        [data[rng.integers(0, len(data), (RESAMPLES // 10, len(data)))].mean(axis=1) for _ in range(10)]
    )
    low, high = np.quantile(means, [(1 - LEVEL) / 2, (1 + LEVEL) / 2]).tolist()
    return low, high


def more_seeds(differences: Sequence[float]) -> int | None:
    """Return how many more such samples would make the interval exclude 0; None if unknown or too many.

    >>> more_seeds([2.0, 3.0, 1.0, 2.0]), more_seeds([5.0, -4.0, 1.0]), more_seeds([1.0])
    (0, 176, None)
    """
    if len(differences) < 2 or not (centre := abs(fmean(differences))):
        return None
    spread = stdev(differences)

    def separates(many: int) -> bool:
        return student(0.5 + LEVEL / 2, many - 1) * spread / sqrt(many) < centre

    if separates(len(differences)):
        return 0
    low, high = len(differences), max(len(differences) + 1, ceil(8 * (spread / centre) ** 2) + 10)
    if high > MOST_SEEDS or not separates(high):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if separates(middle) else (middle, high)
    return high - len(differences)


def compare(results: Results, ask: PivotQuery, baseline: str, ratio: bool = False) -> list[PairedRuns]:
    """Return a table for each group of jobs; in each column, every row is compared with the row `baseline`."""
    rows, columns = check_factor(ask.rows), check_factor(ask.columns) if ask.columns else ""
    name, better = ask.metric.name, ask.metric.better
    also = ["batches"] if ask.interval == "batches" else []
    found: dict[str, list[Record]] = {}
    places: dict[str, int] = {}
    for record in records(results, [name], ask.where, ask.by, also):
        if (value := record[f"={name}"]) is not None and isfinite(value):
            label = str(record.get("=label") or "")
            found.setdefault(label, []).append(record)
            places.setdefault(label, int(record.get("=place") or 0))
    baseline = labels_in(results).get(baseline, baseline) if rows == "policy" else baseline
    known = {said(factor(record, rows)) for some in found.values() for record in some}
    if baseline not in known:
        raise NotThereError(f"{results.path}: no run has {rows} {quoted(baseline)}{near(baseline, known)}")
    made = []
    for label in sorted(found, key=lambda label: places[label]):
        cells = {}
        for at, samples, overloaded in _samples(found[label], rows, columns, baseline, name, ask.interval, ratio):
            one = paired(samples, None if better is None else better == "smaller", ratio)
            cells[at] = replace(one, overloaded=overloaded)
        made.append(PairedRuns(label, cells))
    return made


def _samples(
    some: Sequence[Record], rows: str, columns: str, baseline: str, name: str, interval: str, ratio: bool
) -> Iterator[tuple[tuple[Value, Value], list[tuple[float, float]], int]]:
    """Yield (cell, samples, number of overloaded pairs); a sample is (value of `name`, value of the baseline)."""
    varied = "policy" if rows == "family" or rows.startswith("policy.") else rows
    others = [name for name in FACTORS if name != varied]
    bases = {
        tuple(record[other] for other in others): record for record in some if said(factor(record, rows)) == baseline
    }
    cells: dict[tuple[Value, Value], list[tuple[Record, Record]]] = {}
    for record in some:
        row = factor(record, rows)
        base = bases.get(tuple(record[other] for other in others))
        if base is not None and said(row) != baseline:
            at = row, factor(record, columns) if columns else None
            cells.setdefault(at, []).append((record, base))
    for at, pairs in sorted(cells.items(), key=lambda item: [order_of(value) for value in item[0]]):
        overloaded = sum(1 for pair in pairs if any(record["overload"] for record in pair))
        if interval == "batches":
            parts = [[batches_of(of["batches"] or "").get(name, []) for of in pair] for pair in pairs]
            yield at, [both for one, base in parts for both in zip(one, base, strict=False)], overloaded
            continue
        seeds: dict[object, list[tuple[float, float]]] = {}
        for record, base in pairs:
            seeds.setdefault(record["seed"], []).append((record[f"={name}"], base[f"={name}"]))
        average = _geometric_mean if ratio else fmean
        yield (
            at,
            [(average(one for one, _ in of), average(base for _, base in of)) for of in seeds.values()],
            overloaded,
        )


def _geometric_mean(values: Iterable[float]) -> float:
    """Return the geometric mean of these values; 0 if one of them is not above 0."""
    known = list(values)
    return exp(fmean(map(log, known))) if min(known) > 0 else 0.0


def panels_against(results: Results, ask: PivotQuery, baseline: str, ratio: bool = False) -> list[Panel]:
    """Return a panel for each trace and group of jobs, with differences from the baseline or, with `ratio`, ratios.

    `baseline` is one value of the factor in `ask.columns`; each other value of that factor has a line.
    """
    if not ask.columns:
        raise ParameterError("--against needs --by: the lines of which one is the baseline")
    names = log_names(results, ask.where)
    apart = "trace" not in (ask.rows, ask.columns)
    turned = PivotQuery(ask.columns, ask.rows, ask.value, ask.by, ask.where, ask.interval)
    made = []
    for trace in sorted(names, key=order_of) if apart else [""]:
        for of in compare(results, turned.of_trace(trace) if apart else turned, baseline, ratio):
            along = sorted({column for _, column in of.cells}, key=order_of)
            is_numeric = all(isinstance(number_of(value), float) for value in along)
            lines: dict[str, list[Point]] = {}
            for (row, column), cell in of.cells.items():
                x = number_of(column) if is_numeric else None
                half = None if cell.student is None else (cell.student[1] - cell.student[0]) / 2
                at = float(along.index(column)) if x is None else x
                point = Point(at, Mean(cell.value, half), bool(cell.overloaded), cell.student)
                lines.setdefault(said(row), []).append(point)
            title = ", ".join(filter(None, (names.get(trace, ""), of.label)))
            made.append(Panel(title, lines, () if is_numeric else tuple(map(said, along))))
    check_panels(results, ask, made)
    return made
