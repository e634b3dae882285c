"""Questions to a process about its place in the program, so that another process can continue there."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from tui.web.fork_server import Child

A_WHILE = 10.0
"""Seconds within which a process must answer with its place."""
PARTS = "line", "scene", "answers"
"""Parts of a place: a session, or a scene of the lesson and the answers so far."""


class Places:
    """Open questions for the place of one process."""

    def __init__(self) -> None:
        self._asked: list[asyncio.Future[dict[str, Any]]] = []

    async def ask(self, child: Child) -> dict[str, Any]:
        """Return the place of the process; empty if it does not answer in time."""
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
        """End all open questions, because the process has ended."""
        for place in self._asked:
            place.cancel()
