"""Attendance of visitors and their processes: a process outlives its connection, and its place is kept for a day.

A page sends a key that names its visit. After a reload, a closed lid or a change of network it sends the same key.
"""

from __future__ import annotations

import asyncio
import json
import re
import secrets
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from time import monotonic
from typing import Any, NamedTuple, Protocol
from weakref import WeakValueDictionary

from aiohttp import web

from tui.web.fork_server import Child
from tui.web.place import Places

OUTLIVES = 600.0
"""Seconds for which a process waits for its page to reconnect."""
A_DAY = 86400.0
"""Seconds for which the place of an ended visit is kept."""
MOST_KEPT = 500
"""Largest number of places that are kept; the oldest is dropped first."""
MOST_OF_A_PLACE = 2**16
"""Largest number of characters of a place that is kept."""
TAKEN, ENDED, IDLE = 4001, 1000, 4002
"""Codes with which a connection is closed: the visit continues in another page, it has ended, or there was no input for
too long.
"""
A_SECOND = 1.0
BEGIN = b"\x1b[?1049h\x1b[?1000h\x1b[?1003h\x1b[?1015h\x1b[?1006h\x1b[?25l\x1b[?2004h\x1b[2J"
"""Escape sequences that prepare a terminal for output that began earlier."""
KEY = re.compile(r"[A-Za-z0-9_-]{16,64}")


class Server(Protocol):
    """Interface of the server, which starts and ends processes, and delivers files."""

    async def start(self, size: tuple[int, int], **told: object) -> Child: ...

    async def let_go(self, child: Child) -> None: ...

    async def hand_over(self, socket: web.WebSocketResponse, told: dict[str, Any]) -> None: ...

    async def note(self, key: str, told: dict[str, Any]) -> None: ...


class Page(NamedTuple):
    """Connection to a browser, with the queue that sends to it."""

    socket: web.WebSocketResponse
    transport: asyncio.Transport | None


class Visitor:
    """Visitor's process, and the page that shows it now, if any."""

    def __init__(self, server: Server, child: Child, browser: str, key: str) -> None:
        self.child, self.browser, self.key = child, browser, key
        self._server = server
        self.page: Page | None = None
        self.left = 0.0
        """Time at which the last page disconnected."""
        self.has_ended = self.is_dismissed = False
        self._has_whole = True
        self.places = Places()

    async def read(self) -> None:
        """Forward the output of the process until it ends."""
        try:
            while True:
                kind, payload = await self.child.read()
                if kind == b"D":
                    if self._has_whole:
                        await self._send(payload)
                elif kind == b"M":
                    await self._hear(json.loads(payload))
        except (EOFError, ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            self.has_ended = True
            self.places.close()

    async def _send(self, payload: bytes) -> None:
        if self.page is not None:
            with suppress(ConnectionError):
                await self.page.socket.send_bytes(payload)

    async def _hear(self, told: dict[str, Any]) -> None:
        kind = told.get("type")
        if kind == "whole":
            self._has_whole = True
            await self._send(BEGIN + str(told.get("text", "")).encode())
        elif kind == "place":
            self.places.answer(told)
        elif kind in ("stands", "score"):
            await self._server.note(self.key, told)
        elif self.page is not None:
            with suppress(ConnectionError):
                await self._server.hand_over(self.page.socket, told)

    async def attach(self, page: Page, size: tuple[int, int]) -> None:
        """Show the process in this page, beginning with the whole picture."""
        self._has_whole = False
        self.take(page)
        await self.child.tell("resize", width=size[0], height=size[1])
        await self.child.tell("whole")

    def take(self, page: Page) -> None:
        """Make this the page of the visit; tell the earlier page that the visit continues elsewhere."""
        old, self.page = self.page, page
        if old is not None:
            _close(old, TAKEN)


_closing: set[asyncio.Task[Any]] = set()


def _close(page: Page, code: int) -> None:
    """Close a connection without waiting for a browser that may have disappeared."""
    task = asyncio.create_task(_closed(page, code))
    _closing.add(task)
    task.add_done_callback(_closing.discard)


async def _closed(page: Page, code: int) -> None:
    with suppress(ConnectionError, TimeoutError):
        await asyncio.wait_for(page.socket.close(code=code), A_SECOND)
    if page.transport is not None:
        page.transport.abort()


class Attendance:
    """Attendance list of all visits, by their keys."""

    def __init__(self, server: Server, outlives: float = OUTLIVES, now: Callable[[], float] = monotonic) -> None:
        self._server, self._outlives, self._now = server, outlives, now
        self._visitors: dict[str, Visitor] = {}
        self._kept: dict[str, tuple[float, dict[str, Any]]] = {}
        """Places of ended visits, with the times until which they are kept."""
        self._tasks: set[asyncio.Task[Any]] = set()
        self._begun: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._starting = 0
        """Processes that are being started."""

    @property
    def away(self) -> list[str]:
        """Return the keys of the visits without a page, the one that left first at the front."""
        found = [key for key, visitor in self._visitors.items() if visitor.page is None]
        return sorted(found, key=lambda key: self._visitors[key].left)

    @property
    def count(self) -> int:
        """Return the number of processes, with and without a page."""
        return len(self._visitors) + self._starting

    def has(self, key: str) -> bool:
        return key in self._visitors and not self._visitors[key].has_ended

    def knows(self, browser: str) -> bool:
        """Return True if a visit of this browser is still running."""
        return bool(browser) and any(visitor.browser == browser for visitor in self._visitors.values())

    async def visit(
        self,
        page: Page,
        key: str,
        size: tuple[int, int],
        browser: str,
        told: Mapping[str, object],
        listen: Callable[[Child], Awaitable[bool]],
    ) -> None:
        """Show the visit of this key, or a new one, until the page disconnects. Without a key it ends with the page.

        `listen` returns False if the visitor must be disconnected after a flood of input.
        """
        outlives, key = bool(key), key or secrets.token_urlsafe(18)
        async with self._begun.setdefault(key, asyncio.Lock()):  # of pages that come at once only one starts a process
            visitor = self._visitors.get(key)
            if visitor is not None and not visitor.has_ended:
                await visitor.attach(page, size)
            else:
                visitor = await self._start(page, key, size, browser, told)
        stays = False
        try:
            stays = await listen(visitor.child)
        finally:
            if visitor.page is page:
                visitor.page, visitor.left = None, self._now()
                if outlives and stays and not visitor.has_ended:
                    self._spawn(self._wait_for(key, visitor))
                else:
                    await self._dismiss(key, visitor)

    async def _start(
        self, page: Page, key: str, size: tuple[int, int], browser: str, told: Mapping[str, object]
    ) -> Visitor:
        """Return a new visit, which counts as soon as its process is asked for."""
        offered = self._offered(key) if not told else {}
        self._starting += 1
        try:
            visitor = Visitor(self._server, await self._server.start(size, **{**told, **offered}), browser, key)
        finally:
            self._starting -= 1
        visitor.take(page)
        self._visitors[key] = visitor
        self._spawn(self._lives(key, visitor))
        return visitor

    async def tell_best(self, text: str) -> None:
        """Send every process the best games of the class."""
        for visitor in [*self._visitors.values()]:
            with suppress(ConnectionError):
                await visitor.child.tell("best", text=text)

    async def make_room(self) -> bool:
        """End the visit that has had no page for the longest time; return False if there is none."""
        away = self.away
        if away:
            await self._end(away[0], self._visitors[away[0]])
        return bool(away)

    async def _end(self, key: str, visitor: Visitor) -> None:
        """Keep the place of a visit for a day, and end its process, unless its page reconnects before."""
        place = await visitor.places.ask(visitor.child)
        if visitor.page is not None or self._visitors.get(key) is not visitor:
            return
        if place and len(json.dumps(place)) <= MOST_OF_A_PLACE:
            while len(self._kept) >= MOST_KEPT:
                del self._kept[next(iter(self._kept))]
            self._kept[key] = self._now() + A_DAY, place
        await self._dismiss(key, visitor)

    async def _dismiss(self, key: str, visitor: Visitor) -> None:
        """End a visitor's process, only once."""
        if self._visitors.get(key) is visitor:
            del self._visitors[key]
        if not visitor.is_dismissed:
            visitor.is_dismissed = True
            await self._server.let_go(visitor.child)

    async def close(self) -> None:
        """End all visits with the server."""
        for task in [*self._tasks]:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)

    def _offered(self, key: str) -> dict[str, object]:
        """Return what was kept of the visit with this key, and forget it."""
        until, place = self._kept.pop(key, (0.0, {}))
        return {"offer": place} if place and self._now() < until else {}

    async def _lives(self, key: str, visitor: Visitor) -> None:
        """Wait for the end of a process, and remove its visit."""
        try:
            await visitor.read()
        finally:
            if visitor.page is not None:
                _close(visitor.page, ENDED)
            await self._dismiss(key, visitor)

    async def _wait_for(self, key: str, visitor: Visitor) -> None:
        """End a visit whose page does not reconnect in time."""
        left = visitor.left
        await asyncio.sleep(self._outlives)
        if visitor.page is None and visitor.left == left:
            await self._end(key, visitor)

    def _spawn(self, what: Any) -> None:
        task = asyncio.create_task(what)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def key_of(given: object) -> str:
    """Return the key of a visit that a page sent; "" for an invalid one.

    >>> key_of("0123456789abcdef"), key_of("short"), key_of(None)
    ('0123456789abcdef', '', '')
    """
    return given if isinstance(given, str) and KEY.fullmatch(given) else ""
