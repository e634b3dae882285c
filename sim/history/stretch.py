"""Stretch of a job: a time in which it holds a set of processors, with its kind and the kind of its end."""

from __future__ import annotations

from typing import NamedTuple

KINDS = ("run", "speculative", "suspending", "resuming", "gang", "turn")
RUN, SPECULATIVE, SUSPENDING, RESUMING, GANG, TURN = range(len(KINDS))
ENDINGS = ("done", "killed", "cut", "suspended", "queued", "moved", "interrupted")
"""Ways in which a stretch can end.

"done" and "killed" (at the estimate) end the job. After "cut" (the limit of a speculative run) and "interrupted" (a
failure of its processors) the job waits again. "suspended" begins when the job's memory has been written, if that takes
time. "queued" means that the matrix was given up before the job had a turn; the job waits again. "moved" means that the
job continues at once in another stretch, in other rows or of another kind.
"""
DONE, KILLED, CUT, SUSPENDED, QUEUED, MOVED, INTERRUPTED = range(len(ENDINGS))


class Stretch(NamedTuple):
    """Time from `start` until `end` in which one job holds a set of processors; `end` is None until it is known."""

    rank: int
    start: float
    end: float | None
    kind: str
    processors: int
    rows: tuple[int, ...] = ()
    """Rows of the Ousterhout matrix that hold the job; it uses the processors while one of them is active"""
    ended_by: str | None = None
    """How the stretch ended, one of `ENDINGS`; None while it is open."""

    @property
    def is_cut(self) -> bool:
        """Return True if the end of the stretch was not the job's own: a kill, the limit of a speculative run, or a
        failure.
        """
        return self.ended_by in ("killed", "cut", "interrupted")

    @property
    def is_suspended(self) -> bool:
        """Return True if the job was suspended at the end of the stretch."""
        return self.ended_by == ENDINGS[SUSPENDED]

    def turn(self, start: float, end: float, rows: tuple[int, ...]) -> Stretch:
        """Return the part of the stretch from `start` until `end`, as a stretch of kind "turn"; one of `rows` is active
        in it.
        """
        ended_by = self.ended_by if end == self.end else ENDINGS[MOVED]
        return self._replace(start=start, end=end, kind=KINDS[TURN], rows=rows, ended_by=ended_by)
