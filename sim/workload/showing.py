"""View of a sample: a policy and a time."""

from __future__ import annotations

from typing import NamedTuple


class Showing(NamedTuple):
    """View of a sample: a policy and a time."""

    title: str
    policy: str
    at: int
    """Time of the view in seconds, at which decisions are made."""
    note: str
    """Description of the view."""
    by_event: bool = True
    """True if it is played from event to event, False if by the clock."""
