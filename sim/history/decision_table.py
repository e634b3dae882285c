"""Decisions of a run as a table with these columns: step, time, kind of decision, first job that the decision is about,
and a sentence that describes the decision.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import takewhile

import numpy as np

from sim.decisions.sentences import jobs_in, say
from sim.history.past import Past
from sim.support.notebook import Table

DECISIONS = ("step", "time", "decision", "job", "sentence")


def decision_rows(past: Past) -> Iterator[tuple[int, float, str, str, str]]:
    """Yield (step, time, kind, job, sentence) for each decision, in the order in which they were made."""
    for step, decision in past.all_decisions():
        jobs = jobs_in(decision)
        job = jobs[0].id if jobs else ""
        yield step, past.time_of(step), type(decision).__name__.lower(), job, say(decision)


def decision_table(past: Past, steps: int) -> Table:
    rows = list(takewhile(lambda row: row[0] < steps, decision_rows(past)))
    made = zip(*rows, strict=True) if rows else ([] for _ in DECISIONS)
    kinds = (np.int64, np.float64, object, object, object)
    columns = {name: np.array(column, dtype=kind) for name, column, kind in zip(DECISIONS, made, kinds, strict=True)}
    return Table("decisions", columns)
