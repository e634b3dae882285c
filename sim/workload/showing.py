"""First view of a sample: a policy, a time and a note."""

from __future__ import annotations

from typing import NamedTuple


class Showing(NamedTuple):
    """First view of a sample: the policy under which it is replayed, and the time to look at."""

    title: str
    policy: str
    at: int
    """Time in seconds that the replay shows first; decisions are made at this time."""
    note: str
    """Text on what can be seen at this time."""
    by_event: bool = True
    """True if the replay goes from event to event, False if it goes by the clock."""
