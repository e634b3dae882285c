"""Entry of a tree of accounts with shares (fair share)."""

from __future__ import annotations

from typing import NamedTuple


class ShareEntry(NamedTuple):
    """Entry of the tree: an account, or a user in an account."""

    account: str
    user: str = ""
    """Name of the user; "" for the account itself."""
    parent: str = ""
    """For an account: account above it, "" below the root."""
    shares: int | None = 1
    """Shares relative to the other entries at the same place; None if the entry takes part with those of its parent."""
    usage: float = 0.0
    """Usage before the trace begins, in processor seconds, of which older ones count less."""
