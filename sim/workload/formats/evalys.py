"""Batsim's jobs.csv, as Evalys reads it: the jobs of another simulation, with the waits it gave them.

It is a table with names of its own, which `table.SYNONYMS` knows. The processors that it says were allocated
are not kept: here a policy places the jobs itself.
"""

from __future__ import annotations

from sim.workload.formats import table
from sim.workload.model import Trace

OUTCOMES = {"startingtime", "executiontime", "finishtime", "waitingtime", "turnaroundtime", "success"}


def is_header(line: str) -> bool:
    """Return whether a line names the columns of a jobs.csv."""
    columns = {table.plain_name(column) for column in line.split(table.separator(line))}
    return {"jobid", "submissiontime"} <= columns and len(columns & OUTCOMES) >= 3


def read(text: str, name: str, path: object) -> Trace:
    """Return the jobs of a jobs.csv."""
    return table.read(text, name, path, format="evalys")
