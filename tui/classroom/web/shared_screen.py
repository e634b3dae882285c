"""Common screen: the presenter types, and all others watch. A viewer can leave it and continue alone from its present
place.

One process draws for all: the process of a visitor, or the program in the presenter's own terminal. A browser that
connects later or is too slow first gets a picture of the whole screen.
"""

from __future__ import annotations

import asyncio
import json
from asyncio import Queue, QueueFull
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

from aiohttp import web

from tui.classroom.web.access import size_of
from tui.classroom.web.attendance import Server
from tui.classroom.web.fork_server import Child, Places

ALONE = "\r"
"""Key with which a viewer leaves the common screen and continues alone."""
BEHIND = 200
"""Largest number of pieces of output that are queued for a slow browser."""
_BEGIN = b"\x1b[?1049h\x1b[?25l\x1b[2J"


GOES_ALONE = "You continue on your own; reload the page to return to the presenter."
"""Text above the screen of a viewer who has left the common screen."""


class SharedScreen:
    def __init__(
        self, server: Server, size: tuple[int, int], terminal: Child | None = None,
        over: Callable[[], object] = lambda: None,
    ) -> None:  # fmt: skip
        """Make the screen. `terminal` is the process that draws, if it already runs; `over` is called when it ends."""
        self._server, self.size, self._terminal, self._over = server, size, terminal, over
        self._child: Child | None = None
        self._reading: asyncio.Task[None] | None = None
        self._begun = asyncio.Lock()
        self._watching: dict[Queue[bytes | str], bool] = {}
        """For each viewer's queue of output: True once the viewer has got a picture of the whole screen"""
        self._places = Places()
        self._leader: web.WebSocketResponse | None = None

    def told(self, leads: bool) -> str:
        if leads:
            return "You are presenting: all viewers see this screen."
        return "You are watching the presenter. Press enter to continue on your own; reload the page to return."

    async def welcome(
        self, socket: web.WebSocketResponse, size: tuple[int, int], leads: bool, alone: Callable[..., Awaitable[None]]
    ) -> None:
        """Show the common screen in a browser; a viewer's Enter calls `alone`, which shows a process of their own."""
        child = await self.begin()
        pieces: Queue[bytes | str] = Queue(BEHIND)
        self._watching[pieces] = False
        drawing = asyncio.create_task(self._show(pieces, socket))
        await child.tell("whole")
        try:
            if leads:
                self._leader = socket
                await self._server.listen(socket, self._forward_input)
                return
            seen = [size]
            await self._server.listen(socket, lambda kind, about: self._watched(kind, about, seen))
        finally:
            del self._watching[pieces]
            drawing.cancel()
            if self._leader is socket:
                self._leader = None
        if not socket.closed:
            await socket.send_str(json.dumps(["alone", GOES_ALONE]))
            there = await self._places.ask(child)
            await socket.send_bytes(_BEGIN)
            await alone(seen[-1], **there)

    async def tell_wall(self, text: str) -> None:
        if self._child is not None:
            with suppress(ConnectionError):
                await self._child.tell("wall", text=text)

    async def close(self) -> None:
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.wait([self._reading])

    # The common screen

    async def begin(self) -> Child:
        """Return the process that draws the common screen: the presenter's terminal if there is one, else a new one."""
        async with self._begun:
            if self._child is None:
                self._child = self._terminal or await self._server.start(self.size)
                self._reading = asyncio.create_task(self._read(self._child))
        return self._child

    async def _read(self, child: Child) -> None:
        try:
            await child.pass_on(self._draw, self._hear)
        finally:
            self._child = None
            await self._server.let_go(child)
            self._over()
            self._places.close()
            for pieces in self._watching:
                with suppress(QueueFull):
                    pieces.put_nowait(b"")

    async def _draw(self, payload: bytes) -> None:
        for pieces, has_whole in self._watching.items():
            if has_whole:
                self._queue_piece(pieces, payload)

    def _queue_piece(self, pieces: Queue[bytes | str], payload: bytes | str) -> None:
        """Queue output for a viewer; a full queue drops it, and the viewer gets the whole screen later."""
        try:
            pieces.put_nowait(payload)
        except QueueFull:
            self._watching[pieces] = False

    async def _hear(self, told: dict[str, Any]) -> None:
        if told["type"] == "whole":
            for pieces, has_whole in self._watching.items():
                if not has_whole and pieces.qsize() < BEHIND - 2:
                    self._watching[pieces] = True
                    self._queue_piece(pieces, _BEGIN + told["text"].encode())
        elif told["type"] == "place":
            self._places.answer(told)
        elif told["type"] == "size":
            self.size = size_of(told)
            for pieces in self._watching:
                self._queue_piece(pieces, json.dumps(["size", self.size]))
        elif told["type"] in ("stands", "wall"):
            await self._server.note_common(told)
        elif told["type"] == "file" and self._leader is not None:
            await self._server.hand_over(self._leader, told)

    # Viewers

    async def _show(self, pieces: Queue[bytes | str], socket: web.WebSocketResponse) -> None:
        while piece := await pieces.get():
            await (socket.send_str(piece) if isinstance(piece, str) else socket.send_bytes(piece))
            if not self._watching.get(pieces, True) and pieces.empty() and self._child is not None:
                await self._child.tell("whole")
        await socket.close()

    async def _forward_input(self, kind: str, about: Any) -> bool:
        """Pass on what the presenter types to the process that draws; return True if that has ended."""
        if kind == "stdin" and isinstance(about, str) and self._child is not None:
            await self._child.send(b"D", about.encode("utf-8", "replace"))
        return self._child is None

    async def _watched(self, kind: str, about: Any, seen: list[tuple[int, int]]) -> bool:
        """Return True if a viewer pressed the key to continue alone; a new size of the browser goes to `seen`."""
        if kind == "resize":
            seen[:] = [size_of(about)]
        return kind == "stdin" and isinstance(about, str) and ALONE in about
