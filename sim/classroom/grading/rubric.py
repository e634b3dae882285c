"""Marks: how many a submission gets for what, by a small TOML file; what it leaves out counts nothing.

The page of the lessons has an example with all names.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from pathlib import Path
from typing import Any, NamedTuple

from sim.metrics.catalogue import METRICS
from sim.support.errors import FileError, near
from sim.support.text_files import TextKind

USUAL = {"legal": 4, "deterministic": 1, "starvation": 1, "equal": 4, "tests": 5, "answers": 10, "questions": 10}


RUBRIC = TextKind("rubric", 2**16, FileError)


class Bound(NamedTuple):
    """Marks for a metric whose ratio to the reference's lies within bounds."""

    marks: float
    least: float = -inf
    most: float = inf


class Rubric(NamedTuple):
    """Marks for each part of a submission, and for metrics by name."""

    marks: Mapping[str, float] = USUAL
    metrics: Mapping[str, Bound] = {}


def read_rubric(path: Path) -> Rubric:
    found = RUBRIC.toml(RUBRIC.read(path), path)
    tables = found.pop("metrics", {})
    tables = tables if isinstance(tables, dict) else {}
    _heed(found, USUAL, path)
    _heed(dict.fromkeys(tables, 0), [metric.name for metric in METRICS], path)
    for name, table in tables.items():
        if not isinstance(table, dict) or "marks" not in table:
            raise FileError(f"metrics.{name} is expected to have marks, and most or least", path)
        _heed(table, Bound._fields, path)
    usual = dict.fromkeys(USUAL, 0) | {"questions": USUAL["questions"]}
    return Rubric(usual | found, {name: Bound(**table) for name, table in tables.items()})


def _heed(found: Mapping[str, Any], known: Any, path: Path) -> None:
    """Raise an error for a name that is not known, and for a value that is no number from 0 on."""
    for name, value in found.items():
        if name not in known:
            raise FileError(f"no marks for {name!r}{near(name, known)}", path)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < inf:
            raise FileError(f"{name} is expected to be a number, at least 0, got {value!r:.40}", path)
