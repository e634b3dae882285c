"""Differences between a workload and its file: values that were left out, assumed or invented."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Note:
    """Note about a change on reading: `what` was changed, how often, and where first."""

    what: str
    count: int
    first: str = ""


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
        """Return only the note about requests that no policy models."""
        return Fidelity(assumed=tuple(note for note in self.assumed if note.what.startswith(UNMODELLED)))

    def __add__(self, other: Fidelity) -> Fidelity:
        return Fidelity(self.skipped + other.skipped, self.assumed + other.assumed, self.invented + other.invented)

    def __bool__(self) -> bool:
        return bool(self.skipped or self.assumed or self.invented)
