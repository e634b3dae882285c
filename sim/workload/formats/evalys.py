"""Reader of jobs.csv as Batsim writes it and Evalys reads it: the jobs of another simulation, with their waits."""

from __future__ import annotations

from sim.workload.formats import table
from sim.workload.model import Trace

OUTCOMES = {"startingtime", "executiontime", "finishtime", "waitingtime", "turnaroundtime", "success"}


def is_header(line: str) -> bool:
    columns = {table.plain_name(column) for column in line.split(table.separator(line))}
    return {"jobid", "submissiontime"} <= columns and len(columns & OUTCOMES) >= 3


def read(text: str, name: str, path: object) -> Trace:
    return table.read(text, name, path, format="evalys")
