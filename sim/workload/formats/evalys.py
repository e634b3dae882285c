"""Reader of Batsim's jobs.csv in the form that Evalys reads: the jobs of another simulation, with their waits.

It is a table with names of its own, which `table.SYNONYMS` knows. Its allocated processors are not kept: here a policy
chooses the processors.
"""

from __future__ import annotations

from sim.workload.formats import table
from sim.workload.model import Trace

OUTCOMES = {"startingtime", "executiontime", "finishtime", "waitingtime", "turnaroundtime", "success"}


def is_header(line: str) -> bool:
    """Return True if the line has the column names of a jobs.csv."""
    columns = {table.plain_name(column) for column in line.split(table.separator(line))}
    return {"jobid", "submissiontime"} <= columns and len(columns & OUTCOMES) >= 3


def read(text: str, name: str, path: object) -> Trace:
    """Return the trace of a jobs.csv."""
    return table.read(text, name, path, format="evalys")
