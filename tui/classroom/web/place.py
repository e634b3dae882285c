"""Place of a visitor's process (session, or scene of a lesson), so that another one can continue there."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from tui.classroom.web.fork_server import Child

A_WHILE = 10.0
"""Seconds in which a process must answer with its place."""
PARTS = "line", "scene", "answers"
"""Names of the parts of a place: a session as a line, a scene of the lesson, and the answers given before."""


class Places:
    def __init__(self) -> None:
        self._asked: list[asyncio.Future[dict[str, Any]]] = []

    async def ask(self, child: Child) -> dict[str, Any]:
        """Ask the process for its place and return it; empty if there is no answer within `A_WHILE` seconds."""
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
        for place in self._asked:
            place.cancel()
