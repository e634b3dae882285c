"""Queries of a results file: its runs as records, conditions on runs, and means in rows and columns."""

from __future__ import annotations

import operator
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isfinite
from statistics import fmean
from typing import Any, Literal, NamedTuple, TypeAlias

from sim.lab.intervals import Mean, mean, mean_of_batches, smaller
from sim.lab.measured import batches_of, measured_metric
from sim.lab.results import FACTORS, Results
from sim.metrics.catalogue import MEASURED, METRICS, Metric
from sim.support.errors import NotThereError, ParameterError, near
from sim.support.formatting import quoted

Value: TypeAlias = str | float | int | None
Record: TypeAlias = dict[str, Any]
Interval: TypeAlias = Literal["seeds", "batches"]
_KEPT = ("parameters", "error", "overload")
_OPERATORS = {
    "=": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
_CONDITION = re.compile(r"\s*([\w.-]+)\s*(?:(!=|<=|>=|=|<|>)(?![<>=!])\s*(.*?)\s*)?", re.DOTALL)


@dataclass(frozen=True)
class RunFilter:
    """Comparison of a run's factor with a value; one typed without a value is met if the factor is not empty."""

    name: str
    compare: str = "!="
    value: str = ""

    @classmethod
    def of(cls, text: str) -> RunFilter:
        """Return the condition that a user typed; no part of it is run as code."""
        if len(text) > 1000 or not (found := _CONDITION.fullmatch(text)):
            raise ParameterError(f"a condition is like load<=1.2 or policy=easy, got {quoted(text)}")
        return cls(found[1].replace("-", "_"), found[2] or "!=", found[3] or "")

    def holds(self, record: Record) -> bool:
        """Return True if the condition is met; numbers are compared as numbers, other values as text, missing as ""."""
        got: Value = factor(record, self.name)
        if isinstance(got, int | float):
            if (wanted := number_of(self.value)) is not None:
                return bool(_OPERATORS[self.compare](got, wanted))
            if self.compare not in ("=", "!="):
                raise ParameterError(f"{self.name}{self.compare} needs a number, got {quoted(self.value)}")
        return bool(_OPERATORS[self.compare]("" if got is None else str(got), self.value))


def number_of(value: Value) -> float | None:
    """Return the value as a number, or None for a missing value or other text."""
    try:
        return None if value is None else float(value)
    except ValueError:
        return None


def factor(record: Record, name: str) -> Value:
    """Return the value of a column, of `family` (the policy without its parameters) or of `policy.PARAMETER`."""
    if name == "family":
        return str(record["policy"]).partition(":")[0]
    if name.startswith("policy."):
        pairs = (part.partition("=") for part in str(record["parameters"]).partition(":")[2].split(","))
        text = next((value for key, _, value in pairs if key == name.removeprefix("policy.")), None)
        number = number_of(text)
        return text if number is None else number
    value: Value = record.get(name)
    return value


def check_factor(name: str) -> str:
    """Return the factor's name in the form of the file (with "_"). Raise an error if runs have no such factor."""
    name = name.replace("-", "_")
    if name not in (*FACTORS, "family") and not name.startswith("policy."):
        raise ParameterError(f"no factor {quoted(name)}{near(name, [*FACTORS, 'family'])}")
    return name


def records(
    results: Results, metrics: Sequence[str], where: Iterable[RunFilter] = (), by: str = "", also: Sequence[str] = ()
) -> Iterator[Record]:
    """Yield names of factors and metrics -> values for each run that meets all conditions.

    `policy` is the policy's label, and `spec` its spec without defaults; conditions may name either of them. With the
    grouping `by`, yield one for each group of jobs instead. `also` names further columns of runs.
    """
    labels = labels_in(results)
    specs = {label: spec for spec, label in labels.items()}
    conditions = [
        replace(each, value=specs.get(each.value, each.value)) if each.name == "policy" else each for each in where
    ]
    known = [entry.name for entry in (METRICS if by else MEASURED)]
    for condition in conditions:
        if condition.name not in (*_KEPT, *known):
            check_factor(condition.name)
    named = {condition.name for condition in conditions if condition.name not in FACTORS} & set(known)
    columns = ["key", *FACTORS, *_KEPT, *also]
    wanted = [*(["label", "place"] if by else []), *dict.fromkeys([*metrics, *sorted(named)])]
    if by and by not in results.groupings():
        has = results.groupings()
        hint = f"there is {', '.join(has)}" if has else "it has none"
        raise NotThereError(f"{results.path} has no groups {quoted(by)}; {hint}; sweep again with --groups {by}")
    for row in results.rows(columns, by, wanted):
        # a factor and a metric may have one name (jobs): the factor is what conditions are about
        record = dict(zip(wanted, row[len(columns) :], strict=True)) | dict(zip(columns, row, strict=False))
        if all(condition.holds(record) for condition in conditions):
            record |= {"policy": labels.get(record["policy"], record["policy"]), "spec": record["policy"]}
            yield record | {f"={name}": row[len(columns) + at] for at, name in enumerate(wanted)}


def labels_in(results: Results) -> dict[str, str]:
    """Return a mapping from the spec of each policy in the file to its label, which shows the values of a series."""
    return policy_labels((str(spec), str(full or "")) for spec, full in results.policies())


@dataclass(frozen=True)
class PivotQuery:
    """Query for tables of means: the metric, the factor in the rows, and the factor in the columns."""

    rows: str = "policy"
    columns: str = ""
    value: str = "mean_bounded_slowdown"
    by: str = ""
    where: tuple[RunFilter, ...] = ()
    interval: Interval = "seeds"

    @property
    def metric(self) -> Metric:
        return measured_metric(self.value)

    def of_trace(self, trace: str) -> PivotQuery:
        return replace(self, where=(*self.where, RunFilter("trace", "=", trace)))


class PivotCell(NamedTuple):
    """Cell of a table: a mean with its interval, and the number of runs over which it is the mean."""

    mean: Mean
    runs: int
    seeds: int
    best: bool = False
    """True if this mean is significantly better than all others of its group (see `_competitions`)."""
    overloaded: int = 0
    """Number of overloaded runs among the cell's runs; their values say little about the policy."""


@dataclass(frozen=True)
class PivotTable:
    """Table of means with rows and columns, over all jobs or over one group of jobs."""

    label: str
    rows: tuple[Value, ...]
    columns: tuple[Value, ...]
    cells: Mapping[tuple[Value, Value], PivotCell]
    mixed: Mapping[str, int] = field(default_factory=dict)
    """Factors that vary inside cells -> most values in one cell, without the seed and the table's own factors."""


def pivot(results: Results, ask: PivotQuery) -> list[PivotTable]:
    """Return the tables of the query: one table or, if jobs are grouped, one for each group."""
    rows, columns = check_factor(ask.rows), check_factor(ask.columns) if ask.columns else ""
    metric = ask.metric
    also = ["batches"] if ask.interval == "batches" else []
    if also and ask.by:
        raise ParameterError("batches are of all jobs: intervals by batches go without --by")
    found: dict[Value, list[Record]] = {}
    for record in records(results, [metric.name], ask.where, ask.by, also):
        if (value := record[f"={metric.name}"]) is not None and isfinite(value):
            found.setdefault(record.get("=label"), []).append(record)
    as_planned = sorted(found.items(), key=lambda item: (min(r.get("=place") or 0 for r in item[1]), str(item[0])))
    return [_table(str(label or ""), some, rows, columns, metric, ask.interval) for label, some in as_planned]


def _table(label: str, some: list[Record], rows: str, columns: str, metric: Metric, interval: Interval) -> PivotTable:
    places: dict[tuple[Value, Value], list[Record]] = {}
    for record in some:
        places.setdefault((factor(record, rows), factor(record, columns) if columns else None), []).append(record)
    shown = {"policy" if name == "family" or name.startswith("policy.") else name for name in (rows, columns)}
    others = [name for name in FACTORS if name not in shown]
    units = {at: _units(of, others, metric.name) for at, of in places.items()}
    cells = {at: _cell(of, metric.name, interval) for at, of in places.items()}
    down = sorted({row for row, _ in places}, key=order_of)
    across = sorted({column for _, column in places}, key=order_of)
    if metric.better is not None:
        for group in _competitions(down, across, rows, columns):
            _mark(group, cells, units, metric.better == "smaller")
    varies = {name: max(len({record[name] for record in of}) for of in places.values()) for name in others}
    mixed = {name: many for name, many in varies.items() if many > 1 and name != "seed"}
    return PivotTable(label, tuple(down), tuple(across), cells, mixed)


def in_order(record: Record) -> tuple[Any, ...]:
    return tuple(order_of(record[name]) for name in FACTORS)


def order_of(value: Value) -> tuple[Any, ...]:
    """Return the sort key of a value: None, then numbers, then text, in which numbers are compared by size.

    >>> sorted(["easy:depth=10", "easy:depth=9", "easy"], key=order_of)
    ['easy', 'easy:depth=9', 'easy:depth=10']
    """
    if value is None:
        return (0,)
    if isinstance(value, int | float):
        return (1, value)
    parts = re.split(r"(\d+(?:\.\d+)?)", value)
    return (2, *((1, float(part)) if at % 2 else (0, part) for at, part in enumerate(parts)))


def _units(of: list[Record], others: list[str], name: str) -> dict[object, float]:
    """Return values of the factors `others` -> value of `name` for each run; runs with the same key are a pair."""
    return {tuple(record[other] for other in others): record[f"={name}"] for record in of}


def _cell(of: list[Record], name: str, interval: Interval) -> PivotCell:
    """Return the cell for the runs `of`: mean and interval; of "seeds", runs with the same seed are one sample. Other
    factors that vary in a cell are not random, so that they give no further samples.
    """
    by_seed: dict[Value, list[float]] = {}
    for record in of:
        by_seed.setdefault(record["seed"], []).append(record[f"={name}"])
    if interval == "batches":
        batches = [batches_of(record["batches"] or "").get(name, []) for record in of]
        found = mean_of_batches([record[f"={name}"] for record in of], batches)
    else:
        found = mean([fmean(values) for values in by_seed.values()])
    return PivotCell(found, len(of), len(by_seed), overloaded=sum(1 for record in of if record["overload"]))


def _competitions(
    down: list[Value], across: list[Value], rows: str, columns: str
) -> Iterator[list[tuple[Value, Value]]]:
    """Yield the groups of cells in which the best is marked: rows if only columns are policies, else columns."""
    if columns.startswith(("policy", "family")) and not rows.startswith(("policy", "family")):
        yield from ([(row, column) for column in across] for row in down)
    else:
        yield from ([(row, column) for row in down] for column in across)


def _mark(
    group: list[tuple[Value, Value]],
    cells: dict[tuple[Value, Value], PivotCell],
    units: Mapping[tuple[Value, Value], Mapping[object, float]],
    is_smaller_better: bool,
) -> None:
    known = [at for at in group if at in cells]
    if len(known) < 2:
        return
    sign = 1 if is_smaller_better else -1
    best = min(known, key=lambda at: sign * cells[at].mean.value)
    signed = {at: {unit: sign * value for unit, value in units[at].items()} for at in known}
    if all(smaller(signed[best], signed[at], len(known) - 1) for at in known if at != best):
        cells[best] = cells[best]._replace(best=True)


# Labels of policies

_PAIRS = re.compile(r":(?=\w+=)")


class _Spec(NamedTuple):
    """Spec of a policy, split into the policy's name and the text of each parameter that the spec contains."""

    name: str
    pairs: dict[str, str]

    @classmethod
    def of(cls, text: str) -> _Spec:
        name, *rest = _PAIRS.split(text, maxsplit=1)
        pairs = (pair.partition("=") for pair in rest[0].split(",")) if rest else ()
        return cls(name, {key: value for key, _, value in pairs})

    @property
    def text(self) -> str:
        pairs = ",".join(f"{key}={value}" for key, value in self.pairs.items())
        return f"{self.name}:{pairs}" if pairs else self.name


def policy_labels(specs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return spec -> label for pairs (spec without defaults, spec with all parameters).

    If one policy occurs with several values of a parameter that is a number, every label has this parameter, also where
    its value is the default.

    >>> policy_labels([("relaxed", "relaxed:omega=2"), ("relaxed:omega=0", "relaxed:omega=0")])
    {'relaxed': 'relaxed:omega=2', 'relaxed:omega=0': 'relaxed:omega=0'}
    """
    known = {short: (_Spec.of(short), _Spec.of(full).pairs) for short, full in specs}
    varied: dict[str, set[str]] = {}
    for spec, full in known.values():
        varied.setdefault(spec.name, set()).update(key for key in spec.pairs if number_of(full.get(key)) is not None)
    return {
        short: _Spec(spec.name, spec.pairs | {k: v for k, v in full.items() if k in varied[spec.name]}).text
        for short, (spec, full) in known.items()
    }
