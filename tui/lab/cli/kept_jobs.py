"""Table of the jobs that a sweep has stored: a row for each, with the factors of its run (trace, policy, ...)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sim.lab.distributions import labels_of
from sim.lab.kept import COLUMNS
from sim.lab.pivot import RunFilter, in_order, records
from sim.lab.results import Results
from sim.workload.model import Floats, Ints
from tui.cli.parquet import table_file

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
            columns |= {name: _typed(name, kept.columns[name]) for name in COLUMNS}
            columns |= {name: kept.quantity(name) for name in DERIVED}
            for group, of in labels.items():
                if (places := kept.group(group)) is not None:
                    known = of.get(record["key"], {})
                    columns[group] = [known.get(place) for place in places.astype(np.int64).tolist()]
            writer.write(columns)


def _typed(name: str, values: Floats) -> Floats | Ints:
    return values.astype(np.int64) if name in WHOLE else values
