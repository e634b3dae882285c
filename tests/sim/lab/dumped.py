"""Content of a results file, to compare it with that of another one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sim.lab.results import _TABLES, Results


def dump(path: str | Path) -> list[tuple[Any, ...]]:
    """Return factors and results of all runs, without computing times, so that two files can be compared."""
    with Results(path) as results:
        names = [name for name in _TABLES["runs"] if name not in ("cpu", "trace")]
        found = list(results.rows(names, also=_TABLES["metrics"][1:]))
        for grouping in results.groupings():
            found += results.rows(["key"], grouping, _TABLES["groups"][2:])
        return found
