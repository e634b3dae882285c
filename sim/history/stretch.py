"""Stretch of a job: a span of time in which it holds a set of processors, with its kind and the way it ended."""

from __future__ import annotations

from typing import Final, NamedTuple

KINDS = ("run", "speculative", "suspending", "resuming", "gang", "turn")
RUN: Final = 0
SPECULATIVE: Final = 1
SUSPENDING: Final = 2
RESUMING: Final = 3
GANG: Final = 4
TURN: Final = 5
ENDINGS = ("done", "killed", "cut", "suspended", "queued", "moved", "interrupted")
"""Ways in which a stretch can end.

"done" and "killed" (at the estimate) end the job. After "cut" (at the limit of a speculative run) and "interrupted" (by
a failure of its processors) the job waits again. "suspended": the job is suspended; if the writing of its memory takes
time, the stretch ends after it. "queued": the matrix was dissolved before the job had a turn, and the job waits again.
"moved": the job continues at once in another stretch, in other rows or of another kind.
"""
DONE: Final = 0
KILLED: Final = 1
CUT: Final = 2
SUSPENDED: Final = 3
QUEUED: Final = 4
MOVED: Final = 5
INTERRUPTED: Final = 6


class Stretch(NamedTuple):
    """Span of time from `start` to `end` in which one job holds the same set of processors; `end` is None until it is
    known.
    """

    rank: int
    start: float
    end: float | None
    kind: str
    processors: int
    rows: tuple[int, ...] = ()
    """Rows of the Ousterhout matrix that hold the job, which uses its processors while one of these rows is active;
    empty without a matrix
    """
    ended_by: str | None = None
    """Way in which the stretch ended, one of `ENDINGS`; None while it is open."""

    @property
    def is_cut(self) -> bool:
        return self.ended_by in ("killed", "cut", "interrupted")

    @property
    def is_suspended(self) -> bool:
        return self.ended_by == ENDINGS[SUSPENDED]

    def turn(self, start: float, end: float, rows: tuple[int, ...]) -> Stretch:
        """Return the part of the stretch from `start` until `end`, as a stretch of the kind "turn". `rows` are rows
        that hold the job, of which one is active in this time.
        """
        ended_by = self.ended_by if end == self.end else ENDINGS[MOVED]
        return self._replace(start=start, end=end, kind=KINDS[TURN], rows=rows, ended_by=ended_by)
