"""Schedules of the same jobs that were made elsewhere, such as by another simulator: CSV with the start of each job."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from sim.engine.schedule import Schedule
from sim.support.errors import FileError
from sim.support.files import TextKind
from sim.support.formatting import clock, count, printable, quoted, span
from sim.workload.formats.table import SYNONYMS, number, plain_name, separator
from sim.workload.model import Floats, Workload

NEAR = 1.0
"""Seconds by which submissions and run times may differ, because other programs round them"""


class ScheduleFileError(FileError):
    """Error for a file that is no schedule of these jobs."""


SCHEDULE = TextKind("schedule", 2**28, ScheduleFileError)


@dataclass(frozen=True)
class Elsewhere:
    """Schedule in a file: the workload with its starts as the recorded ones, for the policy `recorded`."""

    workload: Workload
    start: Floats
    """Start of each job by rank, in seconds of the workload; nan if the file has none"""
    end: Floats

    def notes(self, schedule: Schedule, path: str) -> Iterator[str]:
        """Yield a sentence on each thing in which the run `schedule` of this workload could not follow the file."""
        jobs, of = self.workload.ids, printable(path)
        if absent := int(np.isnan(self.start).sum()):
            yield f"{of} has no start of {count(absent, 'job')}: they start when they fit"
        late = np.flatnonzero(schedule.start - self.start > NEAR)
        if len(late):
            rank = late[np.argmin(self.start[late])]
            first = f"the first is J{printable(jobs[rank])} at {clock(float(self.start[rank]))}"
            yield f"{count(len(late), 'job')} of {of} cannot start when it says, as others hold the processors: {first}"
        other = np.flatnonzero(np.abs((self.end - self.start) - (schedule.end - schedule.start)) > NEAR)
        if len(other):
            rank = other[0]
            times = [span(float(of.end[rank] - of.start[rank])) for of in (self, schedule)]
            first = f"J{printable(jobs[rank])} runs for {times[0]} there, for {times[1]} here"
            yield f"{count(len(other), 'job')} of {of} end after another time than in this trace: {first}"


def read_schedule(path: str, workload: Workload) -> Elsewhere:
    """Return the schedule of the workload's jobs in a CSV file. It has columns for job and start; those for submission
    and end are used if they are there. Times may count from another beginning if submissions are there.
    """
    lines = SCHEDULE.read(path).splitlines()
    begin = next((at for at, line in enumerate(lines) if line.strip() and not line.startswith("#")), 0)
    head = lines[begin] if lines else ""
    rows = csv.reader(lines[begin + 1 :], delimiter=separator(head))
    names = [plain_name(word) for word in next(csv.reader([head], delimiter=separator(head)), [])]
    at = {name: next((names.index(word) for word in SYNONYMS[name] if word in names), -1) for name in WANTED}
    if min(at["job"], at["start"]) < 0:
        raise ScheduleFileError(f"expected columns for job and start, got {quoted(head)}", path, begin + 1)
    ranks = {job: rank for rank, job in enumerate(workload.ids)}  # of an id that stands twice the last
    start, end = np.full(len(workload), np.nan), np.full(len(workload), np.nan)
    shift: float | None = None if at["submit"] >= 0 else 0.0
    try:
        for line, row in enumerate(rows, begin + 2):
            if not row or (rank := ranks.get(_job(row, at["job"]))) is None:
                continue
            submit, starts, ends = (_time(row, at[name]) for name in WANTED[1:])
            if submit is not None:
                off = submit - float(workload.submit[rank])
                shift = off if shift is None else shift
                if abs(off - shift) > NEAR:
                    told = f"job {workload.ids[rank]} is submitted {span(abs(off - shift))}"
                    told += f" {'later' if off > shift else 'earlier'} than in {workload.name}, next to the jobs before"
                    raise ScheduleFileError(told, path, line)
            if starts is None:
                continue
            start[rank] = starts - (shift or 0.0)
            end[rank] = np.nan if ends is None else ends - (shift or 0.0)
            if start[rank] < workload.submit[rank] - NEAR:
                raise ScheduleFileError(f"job {workload.ids[rank]} starts before its submission", path, line)
    except csv.Error as error:
        raise ScheduleFileError(f"is no CSV: {error}", path, begin + rows.line_num) from None
    if np.isnan(start).all():
        raise ScheduleFileError(f"has the start of no job of {workload.name}", path)
    wait = np.where(np.isnan(start), -1.0, np.maximum(start - workload.submit, 0.0))
    return Elsewhere(replace(workload, wait=wait), start, end)


WANTED = ("job", "submit", "start", "end")


def _job(row: list[str], at: int) -> str:
    """Return the id of the job, without the name of a workload in front, as in Batsim's w0!7."""
    return row[at].strip().rpartition("!")[2] if at < len(row) else ""


def _time(row: list[str], at: int) -> float | None:
    return number(row[at].strip()) if 0 <= at < len(row) else None
