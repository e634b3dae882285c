"""Differences between a workload and its file: values that were left out, assumed or invented."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from sim.workload.columns import chosen


@dataclass(frozen=True)
class Note:
    """Note about a change on reading: what was changed (`what`), how often, and the place of the first change."""

    what: str
    count: int
    first: str = ""
    jobs: Sequence[str] = field(default=(), compare=False, repr=False)
    """Ids of the jobs that were left out; empty if the note is about something else."""


UNMODELLED = "not modelled, so a start is never held up by"
"""Beginning of the note about requests that no policy models."""


@dataclass(frozen=True)
class Fidelity:
    """Differences between the workload and its file.

    skipped: jobs or lines left out. assumed: missing values and their replacements. invented: values that the file does
    not have at all, such as submit times in a format without them.
    """

    skipped: tuple[Note, ...] = ()
    assumed: tuple[Note, ...] = ()
    invented: tuple[Note, ...] = ()

    def unmodelled(self) -> Fidelity:
        return Fidelity(assumed=tuple(note for note in self.assumed if note.what.startswith(UNMODELLED)))

    def why_skipped(self, *ids: str) -> str:
        """Return text on why a job with one of these ids was left out; "" if none was."""
        return next((note.what for note in self.skipped if any(one in note.jobs for one in ids)), "")

    def __add__(self, other: Fidelity) -> Fidelity:
        return Fidelity(self.skipped + other.skipped, self.assumed + other.assumed, self.invented + other.invented)

    def __bool__(self) -> bool:
        return bool(self.skipped or self.assumed or self.invented)


def notes_of(ids: Sequence[str], *found: tuple[str, NDArray[np.bool_]]) -> tuple[Note, ...]:
    """Return a note for each fact (text, column with True for each job concerned) that concerns a job."""
    hits = [(what, np.flatnonzero(where)) for what, where in found]
    return tuple(Note(what, len(jobs), f"job {ids[jobs[0]]}", chosen(ids, jobs)) for what, jobs in hits if len(jobs))
