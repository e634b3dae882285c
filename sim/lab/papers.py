"""Tables of papers as plans of sweeps: the papers' values, the runs that repeat them, and the results.

A table is a TOML file in `paper_plans`. One of them, shortened:

    metrics = ["aggregate_slowdown", "gain:aggregate_slowdown"]
    head = ["trace", "procs", "reserve"]
    rows = [["KTH 1%", "KTH-SP2-1996-2.swf.gz", 100, 0.01, "", ">0"]]

A row has a name, a cell for each name in `head`, and the paper's value for each of the `metrics`. A cell is the value
of a factor of the plan or, under `label`, a group of jobs. A paper's value is a number, a sign (">0" or "<0"), or "" if
the paper draws only a curve. `[options]` hold for all rows.

The metric `gain:METRIC` compares METRIC under the row's policy with METRIC under the policy `against` (an option or a
cell), for the same jobs. It is the ratio R of Lawson & Smirni, above 0 if METRIC is smaller under the row's policy.

If cells have ranges, the row stands for several rows: the first values of all ranges, then the second ones, and so on.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from operator import gt, lt
from pathlib import Path
from typing import Any, NamedTuple

from sim.lab.plan import SweepPlan
from sim.lab.results import Results
from sim.metrics.aggregates import ratio
from sim.support.errors import FileError, ParameterError, SchedscopeError, near
from sim.support.files import TextKind
from sim.support.formatting import quoted
from sim.workload.options import expand

PLANS = Path(__file__).parent / "paper_plans"
MISSED = "missed_share"
GAIN = "gain:"
_OF = {MISSED: ("missed_reservations", "reservations")}
"""For each metric that is computed as a ratio of stored metrics: the numerator and the denominator"""
STATEMENTS = {">0": gt, "<0": lt}


class PaperValue(NamedTuple):
    """Value in a paper (a number, a sign such as ">0", or "" for a curve), and here (None if the run failed)."""

    row: str
    metric: str
    paper: float | str
    ours: float | None

    @property
    def holds(self) -> bool | None:
        """Return True if the sign is that of the paper; None if the paper gives no sign or the run failed."""
        if not isinstance(self.paper, str) or not self.paper or self.ours is None:
            return None
        return bool(STATEMENTS[self.paper](self.ours, 0))

    @property
    def off(self) -> float | None:
        """Return the excess over the paper's value as a share of it (0.1 for 10 %); None if either is no number."""
        if isinstance(self.paper, str) or not self.paper or self.ours is None:
            return None
        return self.ours / self.paper - 1


@dataclass(frozen=True)
class PaperTable:
    """Table of a paper, with its values and the settings of the runs that repeat it."""

    name: str
    title: str
    note: str
    metrics: tuple[str, ...]
    head: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    options: Mapping[str, Any]
    group: str = ""

    @property
    def compares(self) -> bool:
        return "against" in self.options or "against" in self.head

    @property
    def logs(self) -> tuple[str, ...]:
        """Return the names of the logs that the table needs, as in the Parallel Workloads Archive."""
        return tuple(dict.fromkeys(setting["trace"] for setting in self._settings()))

    def plan(self, folder: str | Path, jobs: int | None = None) -> SweepPlan:
        """Return the plan of the table's runs; the logs are files in `folder`, of which the first `jobs` are used."""
        for log in self.logs:
            if not os.path.isfile(os.path.join(folder, log)):
                raise SchedscopeError(
                    f"{self.name} needs the log {log} of the Parallel Workloads Archive: put it into {folder}, or say "
                    "with --logs FOLDER where it is"
                )
        settings = [*self._settings(), *(self._settings(compared=True) if self.compares else ())]
        if jobs is not None:
            settings = [setting | {"jobs": str(jobs)} for setting in settings]
        factors = {name: [setting[name] for setting in settings] for name in settings[0]}
        plan = SweepPlan.of(factors, [list(factors)], [self.group] if self.group else [])
        return plan.with_traces(lambda log: os.path.join(folder, log))

    def figures(self, plan: SweepPlan, results: Results) -> Iterator[PaperValue]:
        """Yield each value of the paper together with the value computed from `results`, in the order of the table."""
        found, runs = self._values_found(results), list(plan.runs_of_settings())
        many = len(self.rows)
        for row, run, other in zip(self.rows, runs[:many], runs[many:] or runs, strict=True):
            label = str(row[1 + self.head.index("label")]) if "label" in self.head else ""
            values, others = (found.get((of.key, label), {}) for of in (run, other))
            for metric, paper in zip(self.metrics, row[1 + len(self.head) :], strict=True):
                name = metric.removeprefix(GAIN)
                ours = _value(values, name)
                if name != metric:
                    ours = ratio(_value(others, name), ours)
                yield PaperValue(str(row[0]), metric, paper if isinstance(paper, str) else float(paper), ours)

    def _settings(self, compared: bool = False) -> Iterator[dict[str, str]]:
        """Yield factor -> value of each row's run or, if `compared`, of the run with the policy `against`."""
        for row in self.rows:
            of = {**self.options, **dict(zip(self.head, row[1:], strict=False))}
            of.pop("label", None)
            against = of.pop("against", "")
            of |= {"policy": against} if compared and against else {}
            yield {
                name: ("yes" if value else "no") if isinstance(value, bool) else str(value)
                for name, value in of.items()
            }

    def _values_found(self, results: Results) -> dict[tuple[str, str], dict[str, Any]]:
        names = list(dict.fromkeys(part for metric in self.metrics for part in _metrics_behind(metric)))
        found = {(row[0], ""): dict(zip(names, row[1:], strict=True)) for row in results.rows(["key"], also=names)}
        if self.group:
            for key, label, *values in results.rows(["key"], self.group, ["label", *names]):
                found[key, label] = dict(zip(names, values, strict=True))
        return found


def _metrics_behind(metric: str) -> tuple[str, ...]:
    name = metric.removeprefix(GAIN)
    return _OF.get(name, (name,))


def _value(values: Mapping[str, Any], metric: str) -> float | None:
    of, *over = (values.get(name) for name in _metrics_behind(metric))
    if of is None or (over and not over[0]):
        return None
    return float(of / over[0] if over else of)


@cache
def tables() -> dict[str, PaperTable]:
    return {path.stem: _read(path) for path in sorted(PLANS.glob("*.toml"))}


def table(name: str) -> PaperTable:
    if name not in tables():
        raise ParameterError(f"no table {quoted(name)}{near(name, tables())}")
    return tables()[name]


_PAPER = TextKind("table of a paper", 2**20, FileError)


def _read(path: Path) -> PaperTable:
    found = _PAPER.toml(_PAPER.read(path), path)
    return PaperTable(
        path.stem,
        found["title"],
        found["note"],
        tuple(found["metrics"]),
        tuple(found["head"]),
        tuple(row for written in found["rows"] for row in _rows(written)),
        found.get("options", {}),
        found.get("group", ""),
    )


def _rows(written: list[Any]) -> Iterator[tuple[Any, ...]]:
    """Yield the rows that a row of the file stands for: one for each position in the ranges of its cells.

    >>> list(_rows(["load {0.5,0.6}", "easy", "{1..2}", ""]))
    [('load 0.5', 'easy', '1', ''), ('load 0.6', 'easy', '2', '')]
    """
    cells = [expand(cell) if isinstance(cell, str) else [cell] for cell in written]
    many = max(map(len, cells))
    return zip(*(cell * many if len(cell) == 1 else cell for cell in cells), strict=True)
