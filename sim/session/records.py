"""What a session says of branches and moments: plain records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


class Intervention(NamedTuple):
    """After `step` steps, at `time`, the policy became `policy`."""

    step: int
    time: float
    policy: str


@dataclass(frozen=True)
class BranchRecord:
    """A run: the first one, or one that was forked from its parent after `forked` steps."""

    name: str
    parent: str | None = None
    forked: int = 0
    switches: tuple[Intervention, ...] = ()
    """Those of this branch alone."""


class Bookmark(NamedTuple):
    """A moment that somebody wants to find again."""

    name: str
    branch: str
    step: int
    note: str = ""
