"""What a stretch is: one job on some processors for some time, of which kind, and why it ended."""

from __future__ import annotations

from typing import NamedTuple

KINDS = ("run", "speculative", "suspending", "resuming", "gang", "turn")
RUN, SPECULATIVE, SUSPENDING, RESUMING, GANG, TURN = range(len(KINDS))
ENDINGS = ("done", "killed", "cut", "suspended", "queued", "moved", "interrupted")
"""How a stretch ends: the job is done, or killed at its estimate; a trial is cut, and the job waits again; it is
suspended (once its memory has been written, where that takes time); it waits again, as it had never been on turn when
its matrix was given up; it goes on at once in another stretch, in other rows or as another kind; or it is interrupted
because its processors go, and waits again."""
DONE, KILLED, CUT, SUSPENDED, QUEUED, MOVED, INTERRUPTED = range(len(ENDINGS))


class Stretch(NamedTuple):
    """One job on some processors for some time; `end` is None while it goes on."""

    rank: int
    start: float
    end: float | None
    kind: str
    processors: int
    rows: tuple[int, ...] = ()
    """The rows of the matrix in which the job stands: it has the processors when one of them is on turn."""
    ended_by: str | None = None
    """As in `ENDINGS`; None while it goes on."""

    @property
    def is_cut(self) -> bool:
        """Does it end with the job killed, for good or to be tried again, or interrupted?"""
        return self.ended_by in ("killed", "cut", "interrupted")

    def turn(self, start: float, end: float, rows: tuple[int, ...]) -> Stretch:
        """A part of it, in which one of these rows is on turn."""
        ended_by = self.ended_by if end == self.end else ENDINGS[MOVED]
        return self._replace(start=start, end=end, kind=KINDS[TURN], rows=rows, ended_by=ended_by)
