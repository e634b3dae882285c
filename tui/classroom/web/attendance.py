"""Visits: each has a process, which goes on if the connection to its page ends. Its place (session or scene) is kept
for a day.

A page sends a key that names its visit. After a reload, a closed lid or a change of network it sends the same key, and
finds the same process.
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

from tui.classroom.web.fork_server import Child, Places

OUTLIVES = 600.0
"""Seconds for which a process waits for its page to connect again."""
A_DAY = 86400.0
"""Seconds for which the place (session or scene) of a visit is kept after its end."""
MOST_KEPT = 500
"""Largest number of places that are kept; if there are more, the oldest is dropped."""
MOST_OF_A_PLACE = 2**16
"""Largest number of characters of a place as JSON; a longer one is not kept."""
TAKEN, ENDED, IDLE = 4001, 1000, 4002
"""Codes with which a connection is closed: another page shows the visit, the visit has ended, or there was no input."""
A_SECOND = 1.0
BEGIN = b"\x1b[?1049h\x1b[?1000h\x1b[?1003h\x1b[?1015h\x1b[?1006h\x1b[?25l\x1b[?2004h\x1b[2J"
"""Escape sequences that set up a terminal, sent to a page when it connects to a process that began with another page"""
KEY = re.compile(r"[A-Za-z0-9_-]{16,64}")


class Server(Protocol):
    """Protocol of the server, with what visits and the common screen need of it: processes, messages and browsers."""

    async def start(self, size: tuple[int, int], **told: object) -> Child: ...

    async def let_go(self, child: Child) -> None: ...

    async def listen(self, socket: web.WebSocketResponse, heard: Callable[[str, Any], Awaitable[bool]]) -> bool: ...

    async def hand_over(self, socket: web.WebSocketResponse, told: dict[str, Any]) -> None: ...

    async def note(self, key: str, told: dict[str, Any]) -> None: ...

    async def note_common(self, told: dict[str, Any]) -> None: ...


class Page(NamedTuple):
    """Connection to a browser, with the queue of messages to be sent to it."""

    socket: web.WebSocketResponse
    transport: asyncio.Transport | None


class Visitor:
    """Visit with its process and the page that shows it now; `page` is None while no page is connected."""

    def __init__(self, server: Server, child: Child, browser: str, key: str) -> None:
        self.child, self.browser, self.key = child, browser, key
        self._server = server
        self.page: Page | None = None
        self.left = 0.0
        """Time of the monotonic clock, in seconds, at which the last page disconnected"""
        self.has_ended = self.is_dismissed = False
        self._has_whole = True
        self.places = Places()

    async def read(self) -> None:
        """Send the output of the process to the page of the visit, until the process ends."""
        try:
            await self.child.pass_on(self._draw, self._hear)
        finally:
            self.has_ended = True
            self.places.close()

    async def _draw(self, payload: bytes) -> None:
        if self._has_whole:
            await self._send(payload)

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
        self._has_whole = False
        self.take(page)
        await self.child.tell("resize", width=size[0], height=size[1])
        await self.child.tell("whole")

    def take(self, page: Page) -> None:
        """Make this the page of the visit; the code that closes the earlier page says that the visit has moved."""
        old, self.page = self.page, page
        if old is not None:
            _close(old, TAKEN)


_closing: set[asyncio.Task[Any]] = set()


def _close(page: Page, code: int) -> None:
    """Close a connection without waiting for the browser, which may be gone."""
    task = asyncio.create_task(_closed(page, code))
    _closing.add(task)
    task.add_done_callback(_closing.discard)


async def _closed(page: Page, code: int) -> None:
    with suppress(ConnectionError, TimeoutError):
        await asyncio.wait_for(page.socket.close(code=code), A_SECOND)
    if page.transport is not None:
        page.transport.abort()


class Attendance:
    def __init__(self, server: Server, outlives: float = OUTLIVES, now: Callable[[], float] = monotonic) -> None:
        self._server, self._outlives, self._now = server, outlives, now
        self._visitors: dict[str, Visitor] = {}
        self._kept: dict[str, tuple[float, dict[str, Any]]] = {}
        """Place of each ended visit by key, and until when (of the monotonic clock, in seconds) it is kept"""
        self._tasks: set[asyncio.Task[Any]] = set()
        self._begun: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._starting = 0

    @property
    def away(self) -> list[str]:
        """Return the keys of visits without a page, in the order in which they lost it."""
        found = [key for key, visitor in self._visitors.items() if visitor.page is None]
        return sorted(found, key=lambda key: self._visitors[key].left)

    @property
    def count(self) -> int:
        return len(self._visitors) + self._starting

    def has(self, key: str) -> bool:
        return key in self._visitors and not self._visitors[key].has_ended

    def knows(self, browser: str) -> bool:
        """Return True if a visit is running that this browser (value of its cookie) began."""
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
        """Show in the page the running visit `key` or, without one, a new visit, until the page disconnects. If `key`
        is "", the visit ends at that time.

        A new visit belongs to `browser` (the value of its cookie), and its process starts with the values `told`.
        `listen` passes on the page's input to the process; it returns False if the page must be disconnected because it
        sent too much.
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
        for visitor in [*self._visitors.values()]:
            with suppress(ConnectionError):
                await visitor.child.tell("best", text=text)

    async def make_room(self) -> bool:
        """End the visit that has been without a page for longest; return False if all visits have one."""
        away = self.away
        if away:
            await self._end(away[0], self._visitors[away[0]])
        return bool(away)

    async def _end(self, key: str, visitor: Visitor) -> None:
        place = await visitor.places.ask(visitor.child)
        if visitor.page is not None or self._visitors.get(key) is not visitor:
            return
        if place and len(json.dumps(place)) <= MOST_OF_A_PLACE:
            while len(self._kept) >= MOST_KEPT:
                del self._kept[next(iter(self._kept))]
            self._kept[key] = self._now() + A_DAY, place
        await self._dismiss(key, visitor)

    async def _dismiss(self, key: str, visitor: Visitor) -> None:
        if self._visitors.get(key) is visitor:
            del self._visitors[key]
        if not visitor.is_dismissed:
            visitor.is_dismissed = True
            await self._server.let_go(visitor.child)

    async def close(self) -> None:
        for task in [*self._tasks]:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)

    def _offered(self, key: str) -> dict[str, object]:
        until, place = self._kept.pop(key, (0.0, {}))
        return {"offer": place} if place and self._now() < until else {}

    async def _lives(self, key: str, visitor: Visitor) -> None:
        try:
            await visitor.read()
        finally:
            if visitor.page is not None:
                _close(visitor.page, ENDED)
            await self._dismiss(key, visitor)

    async def _wait_for(self, key: str, visitor: Visitor) -> None:
        left = visitor.left
        await asyncio.sleep(self._outlives)
        if visitor.page is None and visitor.left == left:
            await self._end(key, visitor)

    def _spawn(self, what: Any) -> None:
        task = asyncio.create_task(what)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def key_of(given: object) -> str:
    """Return the key of a visit that a page sent; "" if it is invalid."""
    return given if isinstance(given, str) and KEY.fullmatch(given) else ""
