"""What a session says of branches and moments: plain records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from sim.history.history import Switch


@dataclass(frozen=True)
class BranchRecord:
    """A run: the first one, or one that was forked from its parent after `forked` steps."""

    name: str
    parent: str | None = None
    forked: int = 0
    switches: tuple[Switch, ...] = ()
    """Those of this branch alone; of the first one all that it was opened with, made or still to come."""


class Bookmark(NamedTuple):
    """A moment that somebody wants to find again."""

    name: str
    branch: str
    step: int
    note: str = ""
