"""Copies of what a policy remembers and of parts of the state, for checkpoints and snapshots."""

from __future__ import annotations

from typing import Any


def copied(value: Any) -> Any:
    """Return a copy of the value that shares no mutable object with it.

    >>> notes = {"bound": {1: 5.0}}
    >>> twin = copied(notes)
    >>> notes["bound"][1] = 6.0
    >>> twin
    {'bound': {1: 5.0}}
    """
    if isinstance(value, dict):
        if any(hasattr(item, "copy") for item in value.values()):
            return {key: copied(item) for key, item in value.items()}
        return value.copy()
    return value.copy() if hasattr(value, "copy") else value
