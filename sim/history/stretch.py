"""Stretch: one job on a set of processors for some time, with its kind and the reason of its end."""

from __future__ import annotations

from typing import NamedTuple

KINDS = ("run", "speculative", "suspending", "resuming", "gang", "turn")
RUN, SPECULATIVE, SUSPENDING, RESUMING, GANG, TURN = range(len(KINDS))
ENDINGS = ("done", "killed", "cut", "suspended", "queued", "moved", "interrupted")
"""Endings of a stretch.

"done" and "killed" (at the estimate) end the job. A "cut" trial waits again, as does an "interrupted" job, whose
processors failed. "suspended" counts from the end of writing its memory, if that takes time. A "queued" job had no turn
before its matrix was given up, and waits again. "moved" continues at once in another stretch, in other rows or as
another kind.
"""
DONE, KILLED, CUT, SUSPENDED, QUEUED, MOVED, INTERRUPTED = range(len(ENDINGS))


class Stretch(NamedTuple):
    """One job on some processors for some time; `end` is None until it ends."""

    rank: int
    start: float
    end: float | None
    kind: str
    processors: int
    rows: tuple[int, ...] = ()
    """Rows of the matrix that hold the job; it has the processors when one of them is on turn"""
    ended_by: str | None = None
    """Name from `ENDINGS`; None while it is open."""

    @property
    def is_cut(self) -> bool:
        """Return True if the stretch ends by a kill, a cut or an interruption."""
        return self.ended_by in ("killed", "cut", "interrupted")

    @property
    def is_suspended(self) -> bool:
        """Return True if the job was suspended at its end."""
        return self.ended_by == ENDINGS[SUSPENDED]

    def turn(self, start: float, end: float, rows: tuple[int, ...]) -> Stretch:
        """Return the part of it in which one of these rows is active."""
        ended_by = self.ended_by if end == self.end else ENDINGS[MOVED]
        return self._replace(start=start, end=end, kind=KINDS[TURN], rows=rows, ended_by=ended_by)
