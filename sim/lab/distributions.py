"""Figures of how a quantity, such as the jobs' wait, is distributed over the jobs of the runs in a results file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from typing import NamedTuple

import numpy as np

from sim.lab.intervals import Mean, mean
from sim.lab.kept import WEEKLY, Kept, Quantity, mean_by_hour, quantity
from sim.lab.pivot import RunFilter, check_factor, factor, order_of, records
from sim.lab.results import Results
from sim.lab.series import Panel, Point, log_names, said
from sim.metrics.measure import group_of
from sim.support.errors import NotThereError
from sim.support.formatting import quoted
from sim.workload.model import Bools, Floats

GRID = 240
MOST_DOTS = 4_000
"""Largest number of jobs drawn for one colour of a scatter plot; of more, only every n-th is drawn."""
MOST_LINES, MOST_PLACES = 8, 16
"""Largest number of groups of jobs by colour, and along the horizontal axis; further groups are left out."""


@dataclass(frozen=True)
class DistributionAsk:
    """Figure of distributions to draw: the quantity, and how jobs are divided by colour and axis."""

    value: str = "wait"
    by: str = "policy"
    """Factor of the runs (such as policy), or grouping of their jobs (such as class), with a colour for each value."""
    over: str = ""
    """Grouping of jobs whose groups are shown along the horizontal axis; "" for none."""
    where: tuple[RunFilter, ...] = ()
    per: float = 1.0
    """Number by which values are divided before they are drawn, such as 3600 to show seconds as hours."""
    least: float = 0.0
    """Smallest value that is drawn; smaller values are drawn as this one, because a logarithmic axis cannot show 0."""

    @property
    def quantity(self) -> Quantity:
        return quantity(self.value)


Samples = dict[str, dict[tuple[str, str], dict[object, list[Floats]]]]
"""Title of the panel -> (label of the colour, label on the axis) -> seed -> an array of jobs' values for each run. Runs
with the same seed count as one sample.
"""


@dataclass(frozen=True)
class Spread:
    """Panel of boxes or violins: for each colour and each label on the axis, the values of all jobs of this group."""

    title: str
    ticks: tuple[str, ...]
    values: Mapping[str, Mapping[str, Floats]]
    """Mapping from the label of a colour, then the label on the axis, to the values of the jobs."""


@dataclass(frozen=True)
class Week:
    """Panel of a heat map with a cell for each hour of the week: 7 days by 24 hours."""

    title: str
    values: Floats


@dataclass(frozen=True)
class Cloud:
    """Scatter plot with a dot for each job: x is its number of processors, y the chosen quantity."""

    title: str
    dots: Mapping[str, tuple[Floats, Floats]]


def shares(results: Results, ask: DistributionAsk, complement: bool = False) -> list[Panel]:
    """Return a panel for each trace: a line for each label shows the share of jobs at most x, or above (`complement`).

    Each seed gives a curve. A line is the mean of these curves; its band is the confidence interval of that mean.
    """
    made = []
    for title, of in _samples(results, ask).items():
        pooled = np.concatenate([values for sample in of.values() for values in chain(*sample.values())])
        grid = _grid(pooled)
        lines = {}
        for (label, _), sample in of.items():
            curves = [_share(np.sort(np.concatenate(parts)), grid, complement) for parts in sample.values()]
            at = zip(grid.tolist(), zip(*(curve.tolist() for curve in curves), strict=True), strict=True)
            lines[label] = [Point(x, _clipped(mean(ys)), overloaded=False) for x, ys in at]
        made.append(Panel(title, lines))
    return made


def _grid(values: Floats) -> Floats:
    """Return the x values of a curve's points: quantiles of `values`, with more of them in the upper tail."""
    tail = 1 - np.geomspace(1 / max(len(values), 2), 0.1, GRID // 3)
    levels = np.concatenate([np.linspace(0, 1, GRID), tail])
    grid: Floats = np.unique(np.quantile(values, levels, method="inverted_cdf"))
    return grid


def _share(ordered: Floats, grid: Floats, complement: bool) -> Floats:
    below = np.searchsorted(ordered, grid, side="right") / len(ordered)
    return 1 - below if complement else below


def _clipped(of: Mean) -> Mean:
    return of if of.half is None else Mean(of.value, min(of.half, max(of.value, 1 - of.value)))


def spreads(results: Results, ask: DistributionAsk) -> list[Spread]:
    """Return a panel for each trace, with the values of all jobs for each colour and each label on the axis."""
    made = []
    for title, of in _samples(results, ask).items():
        ticks = tuple(dict.fromkeys(place for _, place in of))
        values: dict[str, dict[str, Floats]] = {}
        for (label, place), sample in of.items():
            values.setdefault(label, {})[place] = np.concatenate(list(chain(*sample.values())))
        made.append(Spread(title, ticks, values))
    return made


def clouds(results: Results, ask: DistributionAsk) -> list[Cloud]:
    """Return a panel for each trace, with the dots of each label: every job, or every n-th of more than `MOST_DOTS`."""
    widths = _samples(results, DistributionAsk("width", ask.by, "", ask.where))
    heights = _samples(results, replace(ask, over=""))
    made = []
    for title, of in heights.items():
        dots = {}
        for at, sample in of.items():
            x, y = (np.concatenate(list(chain(*each.values()))) for each in (widths[title][at], sample))
            step = -(-len(x) // MOST_DOTS)
            dots[at[0]] = x[::step], y[::step]
        made.append(Cloud(title, dots))
    return made


def weeks(results: Results, ask: DistributionAsk) -> list[Week]:
    """Return a panel for each trace and label, with a value for each hour of the week: the mean over the runs. It is
    one of the machine (such as utilization), or the mean of a quantity over the jobs submitted then.
    """
    found: dict[str, list[Floats]] = {}
    for _, title, label, _, kept in _runs(results, ask, groups=False):
        if ask.value in WEEKLY:
            values = kept.week(ask.value)
        else:
            values = mean_by_hour(kept.columns["hour"].astype(np.int64), kept.quantity(ask.quantity.name)) / ask.per
        if values is not None and len(values):
            found.setdefault(", ".join(filter(None, (title, label))), []).append(values)
    made = [Week(title, _mean_of_known(np.array(of)).reshape(7, 24)) for title, of in found.items()]
    if not made:
        raise NotThereError(f"{results.path}: there is nothing to draw: no run passes --where")
    return made


def _mean_of_known(rows: Floats) -> Floats:
    known = ~np.isnan(rows)
    means: Floats = np.where(known.any(axis=0), np.nansum(rows, axis=0) / np.maximum(known.sum(axis=0), 1), np.nan)
    return means


class _Taken(NamedTuple):
    """Run whose jobs are drawn, with the title of its panel and its label (colour)."""

    key: str
    title: str
    label: str
    seed: object
    kept: Kept


def _runs(results: Results, ask: DistributionAsk, groups: bool = True) -> Iterator[_Taken]:
    by = ask.by.replace("-", "_")
    is_group = groups and by in results.groupings()
    if by and not is_group:
        if group_of(by) is not None:
            raise _ungrouped(results, by)
        check_factor(by)
    names = log_names(results, ask.where)
    found = [record for record in records(results, [], ask.where) if not record["error"]]
    for record in sorted(found, key=lambda of: (order_of(of["trace"]), order_of(factor(of, by or "policy")))):
        name = names[str(record["trace"])]
        label = "" if is_group or not by else name if by == "trace" else said(factor(record, by))
        title = "" if by == "trace" else name
        yield _Taken(record["key"], title, label, record["seed"], results.jobs_of(record["key"]))


def _ungrouped(results: Results, group: str) -> NotThereError:
    return NotThereError(f"{results.path} has no groups {quoted(group)} of jobs: sweep again with --groups {group}")


def _samples(results: Results, ask: DistributionAsk) -> Samples:
    name, by, over = ask.quantity.name, ask.by.replace("-", "_"), ask.over.replace("-", "_")
    known = results.groupings()
    if over and over not in known:
        raise _ungrouped(results, over)
    labels = {group: labels_of(results, group) for group in {by, over} & set(known)}
    ranks: dict[str, int] = {}
    for of_run in (of_run for of in labels.values() for of_run in of.values()):
        for rank, label in of_run.items():
            ranks.setdefault(label, rank)
    made: Samples = {}
    for run in _runs(results, ask):
        values = np.maximum(run.kept.quantity(name), ask.least) / ask.per
        for named, chosen in _group_flags(run, labels, by, MOST_LINES):
            for place, also in _group_flags(run, labels, over, MOST_PLACES):
                if len(part := values[chosen & also]):
                    at = named or run.label, place
                    made.setdefault(run.title, {}).setdefault(at, {}).setdefault(run.seed, []).append(part)
    if not made:
        raise NotThereError(f"{results.path}: there is nothing to draw: no run with jobs passes --where")
    # stable: labels of runs stay in the order of the runs
    return {
        title: dict(sorted(of.items(), key=lambda item: [ranks.get(label, 0) for label in item[0]]))
        for title, of in made.items()
    }


def labels_of(results: Results, group: str) -> dict[str, dict[int, str]]:
    """Return, for the key of each run, a mapping from each group's number in the grouping `group` to its label."""
    found: dict[str, dict[int, str]] = {}
    for key, label, place in results.rows(["key"], group, ["label", "place"]):
        found.setdefault(key, {})[int(place or 0)] = str(label)
    return found


def _group_flags(
    run: _Taken, labels: Mapping[str, Mapping[str, Mapping[int, str]]], group: str, most: int
) -> Iterator[tuple[str, Bools]]:
    """Yield (label, True for each job in it) for the first `most` groups of a run's jobs; without a grouping, one."""
    if group not in labels:
        yield "", np.ones(len(run.kept), dtype=np.bool_)
        return
    places = run.kept.group(group)
    if places is None:
        raise NotThereError(f"the jobs were kept without groups {quoted(group)}: sweep again with --groups {group}")
    for place, label in sorted(labels[group].get(run.key, {}).items())[:most]:
        yield label, places == place
