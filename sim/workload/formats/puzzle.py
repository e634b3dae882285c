"""Puzzle: a small machine with its jobs in one line of text, short enough to be typed or pasted.

`10 procs; 5x10m@0; 4x20m/30m@2m` is a machine of 10 processors and two jobs. A job is PROCESSORSxRUNTIME@SUBMIT, with
/ESTIMATE after the run time if the estimate differs.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from sim.support.errors import ParameterError, TraceError
from sim.support.formatting import quoted
from sim.workload.job_changes import PuzzleJob, parse_job
from sim.workload.model import Field, Header, Trace

MOST_JOBS = 60
MOST_PROCS = 1000
LONGEST = 4000
"""Largest number of characters of a puzzle's line."""
NAME = "puzzle"
_BEGIN = re.compile(r"\s*(\d{1,99})\s*(?:procs?|processors?)\s*(?:;|$)", re.IGNORECASE)


@dataclass(frozen=True)
class Puzzle:
    """Puzzle: a machine with `procs` processors and its jobs, the first of which is J1."""

    procs: int = 10
    jobs: tuple[PuzzleJob, ...] = ()

    @property
    def line(self) -> str:
        return "; ".join([f"{self.procs} procs", *(job.text for job in self.jobs)])

    @property
    def trace(self) -> Trace:
        table = np.full((len(self.jobs), len(Field)), -1.0)
        if self.jobs:
            table[:, Field.ID] = np.arange(1, len(self.jobs) + 1)
            for field in (Field.PROCS_ASKED, Field.PROCS_USED):
                table[:, field] = [job.procs for job in self.jobs]
            table[:, Field.RUN] = [job.run for job in self.jobs]
            table[:, Field.ESTIMATE] = [job.estimate for job in self.jobs]
            table[:, Field.SUBMIT] = [job.submit for job in self.jobs]
            table[:, Field.STATUS] = 1
        ids = tuple(str(number + 1) for number in range(len(self.jobs)))
        return Trace(NAME, "puzzle", ids, table, Header(max_procs=self.procs, comments=(f"Note: {self.line}",)))

    def with_job(self, number: int, job: PuzzleJob) -> Puzzle:
        """Return the puzzle with job `number` (from 0) replaced or, after the last one, added."""
        return replace(self, jobs=(*self.jobs[:number], job, *self.jobs[number + 1 :]))

    def without(self, number: int) -> Puzzle:
        return replace(self, jobs=(*self.jobs[:number], *self.jobs[number + 1 :]))


def is_puzzle(text: str) -> bool:
    """Return True if a text begins like a puzzle, with a number of processors and a semicolon or line end.

    >>> is_puzzle("10 procs; 5x10m@0"), is_puzzle("10 procs"), is_puzzle("kth.swf"), is_puzzle("10 procs.swf")
    (True, True, False, False)
    """
    return _BEGIN.match(text) is not None


def parse_puzzle(text: str, where: str | Path | None = None) -> Puzzle:
    """Return the puzzle in a line; a TraceError names the wrong job, the expected form, and the file `where`."""
    where = NAME if where is None else where
    begin = _BEGIN.match(text)
    if begin is None:
        raise TraceError(f"expected a machine first, like 10 procs; got {quoted(text.strip()[:40])}", where)
    if len(text) > LONGEST:
        raise TraceError(f"{len(text):,} characters, at most {LONGEST:,} make a puzzle", where)
    procs = int(begin[1])
    if not 1 <= procs <= MOST_PROCS:
        raise TraceError(f"a machine has 1 to {MOST_PROCS:,} processors here, got {procs:,}", where)
    parts = [part.strip() for part in text[begin.end() :].replace("\n", ";").split(";")]
    written = [part for part in parts if part]
    if len(written) > MOST_JOBS:
        raise TraceError(f"{len(written)} jobs, at most {MOST_JOBS} make a puzzle", where)
    jobs = tuple(_job(part, f"J{number}", procs, where) for number, part in enumerate(written, 1))
    return Puzzle(procs, jobs)


def _job(text: str, name: str, procs: int, where: str | Path) -> PuzzleJob:
    try:
        return parse_job(text, procs)
    except ParameterError as error:
        raise TraceError(f"{name}: {error}", where) from None
