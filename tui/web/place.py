"""Asking a process where it stands, so that another one can go on from there."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from tui.web.fork_server import Child

A_WHILE = 10.0
"""Seconds within which a process says where it stands."""
PARTS = "line", "scene", "answers"
"""Parts of a place: a session, or a scene of the lesson and the answers so far."""


class Places:
    """Questions to one process that have not been answered yet."""

    def __init__(self) -> None:
        self._asked: list[asyncio.Future[dict[str, Any]]] = []

    async def ask(self, child: Child) -> dict[str, Any]:
        """Return where the process stands; empty if it does not say so in time."""
        place: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._asked.append(place)
        try:
            await child.tell("place")
            return await asyncio.wait_for(place, A_WHILE)
        except (TimeoutError, ConnectionError, asyncio.CancelledError):
            return {}

    def answer(self, told: Mapping[str, Any]) -> None:
        for place in self._asked:
            if not place.done():
                place.set_result({key: told[key] for key in PARTS if key in told})
        self._asked.clear()

    def close(self) -> None:
        """Note that the process has ended."""
        for place in self._asked:
            place.cancel()
