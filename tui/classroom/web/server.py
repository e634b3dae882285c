"""Web server: it serves pages, and connects each browser with a process for the program's output and the user's input.

The terminal in the browser is that of textual-serve; the packets to and from a process have Textual's own format.
"""

from __future__ import annotations

import asyncio
import json
import secrets
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from html import escape
from importlib.resources import files
from pathlib import Path
from time import monotonic
from typing import Any, Protocol

from aiohttp import WebSocketError, WSMsgType, web
from aiohttp.typedefs import Handler

from tui.classroom.web.access import HEADERS, MOST_MESSAGE, OF_TERMINAL, Budget, Door, size_of, told_of
from tui.classroom.web.attendance import IDLE as IDLE_CODE
from tui.classroom.web.attendance import OUTLIVES, Attendance, Page, key_of
from tui.classroom.web.classroom import Classroom, page_of, send
from tui.classroom.web.fork_server import Child
from tui.classroom.web.plain_pages import PlainPage
from tui.classroom.web.roster import LONGEST_ANSWER, MOST
from tui.classroom.web.shared_screen import SharedScreen
from tui.look.fonts import FILES
from tui.look.text import file_name

IDLE = 1800.0
"""Seconds without input after which a visitor is disconnected."""
A_MOVE = 0.05
"""Shortest time in seconds between two moves in a plain page, whose pictures take the server some time."""
MOST_FILES = 200
"""Largest number of saved files that are kept until they are downloaded."""
_HERE = Path(__file__).parent
_LETTERS = 16
BROWSER = "schedscope"
"""Name of the cookie that identifies a browser, which with a running visit is let in even if the server is full."""


class ProcessSource(Protocol):
    async def start(self, told: dict[str, Any]) -> Child: ...

    def end(self, pid: int) -> None: ...


class Server:
    """Server with a process for each visitor, or with one screen for all (`shared`)."""

    def __init__(
        self,
        fork_server: ProcessSource,
        door: Door,
        most: int = 40,
        idle: float = IDLE,
        present: tuple[int, int] | None = None,
        say: Callable[[str], object] = lambda told: None,
        outlives: float = OUTLIVES,
        room: Classroom | None = None,
        terminal: Child | None = None,
        over: Callable[[], object] = lambda: None,
        most_of_address: int | None = None,
        plain: Callable[[], PlainPage] | None = None,
    ) -> None:
        """Make the server. `present` is (columns, rows) of the common screen that all visitors share, None if each has
        a process.

        `most` is the largest number of connected browsers, and `most_of_address` of those with one network address;
        None if all may have the same. A browser is disconnected after `idle` seconds without input. `say` is called
        with text on the number of visitors. A process waits for `outlives` seconds for its page to connect again.

        `room` is the class, or None. `plain` begins the plain page of a lesson or game; None for traces.
        `terminal` is the presenter's own terminal, if that draws the common screen; `over` is called when it ends.
        """
        self._processes, self.door, self._most, self._idle, self._say = fork_server, door, most, idle, say
        self.there = 0
        self._most_of_address = most if most_of_address is None else most_of_address
        self._of_address: Counter[str] = Counter()
        self._attendance = Attendance(self, outlives)
        self._files: dict[str, tuple[str, str]] = {}
        self.shared = None if present is None else SharedScreen(self, present, terminal, over)
        self.room, self._plain = room, plain
        self._pages: dict[str, PlainPage] = {}
        if room is not None:
            room.tell_all = self._attendance.tell_best
            if self.shared is not None:
                room.tell_wall = self.shared.tell_wall

    def app(self) -> web.Application:
        app = web.Application(middlewares=[web.middleware(self._host_guard())])
        app.add_routes(
            [
                web.get("/", self._page),
                web.get("/ws/{word}", self._socket),
                web.get("/download/{key}", self._file),
                web.get("/font/{which:regular|bold}.ttf", self._font),
                web.get("/{name:(?:page|plain|student|teacher|wall|bars)\\.(?:css|js)}", self._static_file),
                web.static("/static", str(files("textual_serve").joinpath("static")), show_index=False),
            ]
        )
        if self.room is not None:
            app.add_routes(self.room.routes(lambda: self.door))
        app.on_shutdown.append(self._close)
        self._app = app
        return app

    async def _close(self, app: web.Application) -> None:
        if self.shared is not None:
            await self.shared.close()
        await self._attendance.close()

    def _host_guard(self) -> Any:
        async def guard(request: web.Request, handler: Handler) -> web.StreamResponse:
            """Return the answer with security headers added; refuse requests that name another host."""
            try:
                if not self.door.knows_host(request.headers):
                    raise web.HTTPMisdirectedRequest(text="this server has another name")
                response: web.StreamResponse = await handler(request)
            except web.HTTPException as refused:
                refused.headers.update(HEADERS)
                raise
            if not response.prepared:
                response.headers.update({**dict(HEADERS), **response.headers})
            return response

        return guard

    # Pages

    async def _page(self, request: web.Request) -> web.Response:
        word = request.query.get("token", "")
        if why := self.door.refusal(word, _address_of(request)):
            page = page_of("join.html", title="Join the class", why=why, hidden="")
            raise web.HTTPForbidden(text=page.text, content_type="text/html")
        if not self.door.opens(word):
            raise web.HTTPSeeOther(f"/?token={self.door.token}")
        browser, visit = request.cookies.get(BROWSER, ""), request.query.get("visit")
        if not (self._attendance.knows(browser) if visit is None else self._goes_on(request)):
            self._refuse_if_full(request)
        columns, rows, told, leads = 0, 0, "", self.door.leads(word)
        if self.shared is not None:
            (columns, rows), told = self.shared.size, self.shared.told(leads)
        scheme = "wss" if f"https://{request.host.lower()}" in self.door.origins else "ws"
        websocket = escape(f"{scheme}://{request.host}/ws/{word}")
        has_plain = self._plain is not None and not leads
        if has_plain and "terminal" not in request.query:
            response = page_of("plain.html", websocket=websocket, unnamed="hidden" if self.room is None else "")
        else:
            response = page_of(
                "page.html", columns=columns or "", rows=rows or "", told=escape(told), font_size=_LETTERS,
                websocket=websocket, alone="hidden" if leads or self.shared is None else "",
                plain="" if has_plain else "hidden",
            )  # fmt: skip
            response.headers.update(OF_TERMINAL)
        if not key_of(browser):
            response.set_cookie(BROWSER, secrets.token_urlsafe(18), httponly=True, samesite="Strict")
        return response

    def _goes_on(self, request: web.Request) -> bool:
        """Return True if the request belongs to a running visit, which keeps its process and needs no further place."""
        is_common = self.shared is not None and request.query.get("again") != "1"
        return not is_common and self._attendance.has(key_of(request.query.get("visit")))

    def _refuse_if_full(self, request: web.Request) -> None:
        here = self._of_address[_address_of(request)]
        if self.there >= self._most:
            why = f"All places are taken: {told_of(self.there, self._most)}."
        elif here >= self._most_of_address:
            why = (
                f"Your network address has {told_of(here, self._most_of_address)}. Close other tabs with this link. If"
                " a class shares the address, its teacher can allow more with --per-address."
            )
        else:
            return
        why += " This page asks again every ten seconds, and opens as soon as there is room."
        page = page_of("join.html", title="There is no room at the moment", why=why, hidden="hidden")
        raise web.HTTPServiceUnavailable(text=page.text, content_type="text/html", headers={"Refresh": "10"})

    async def _static_file(self, request: web.Request) -> web.FileResponse:
        return web.FileResponse(_HERE / request.match_info["name"])

    async def _font(self, request: web.Request) -> web.FileResponse:
        return web.FileResponse(FILES[request.match_info["which"] == "bold"])

    async def _file(self, request: web.Request) -> web.Response:
        """Return a saved file to the visitor who knows its key; it can be downloaded once."""
        name, text = self._files.pop(request.match_info["key"], ("", ""))
        if not name:
            raise web.HTTPNotFound(text="this was fetched before, or never was")
        disposition = f'attachment; filename="{file_name(name).encode("ascii", "replace").decode().replace("?", "_")}"'
        return web.Response(
            body=text.encode(), headers={"Content-Disposition": disposition}, content_type="application/octet-stream"
        )

    def keep(self, name: str, text: str) -> str:
        """Store a file until it is downloaded, and return its random key; beyond `MOST_FILES` the oldest is dropped."""
        while len(self._files) >= MOST_FILES:
            del self._files[next(iter(self._files))]
        key = secrets.token_urlsafe(18)
        self._files[key] = name, text
        return key

    # Sockets

    async def _socket(self, request: web.Request) -> web.WebSocketResponse:
        word = request.match_info["word"]
        if not self.door.knows_origin(request.headers):
            raise web.HTTPForbidden(text="requested by a page of another site")
        if why := self.door.refusal(word, _address_of(request)):
            raise web.HTTPForbidden(text=why)
        key = key_of(request.query.get("visit"))
        if not (goes_on := self._goes_on(request)):
            self._refuse_if_full(request)
        socket = web.WebSocketResponse(heartbeat=15, autoping=False, max_msg_size=MOST_MESSAGE)
        self.there += 1
        self._of_address[_address_of(request)] += 1
        self._say(told_of(self.there, self._most))
        try:
            await socket.prepare(request)
            size = size_of(dict(request.query))
            alone = partial(self._alone, Page(socket, request.transport), key, key_of(request.cookies.get(BROWSER)))
            plain = self._plain if "plain" in request.query else None
            watches, leads = self.shared is not None and bool(plain or not goes_on), self.door.leads(word)
            if self.room is not None and key and not leads:
                await self.room.enter(socket, key, watches)
            if plain is not None:
                await self._show_plain(socket, key, self._pages.get(key) or plain())
            elif self.shared is not None and watches:
                await self.shared.welcome(socket, size, leads, alone)
            else:
                await alone(size)
        except (ConnectionError, EOFError, asyncio.IncompleteReadError):
            pass  # the visitor has gone
        finally:
            self.there -= 1
            self._of_address -= Counter([_address_of(request)])
            if self.room is not None:
                self.room.go(socket)
            self._say(told_of(self.there, self._most))
            with suppress(ConnectionError):
                await socket.close()
        return socket

    async def _show_plain(self, socket: web.WebSocketResponse, key: str, page: PlainPage) -> None:
        """Show a plain page until it disconnects; with a common screen, the class tells the page what to show."""

        async def show(kind: str, about: Any) -> bool:
            nonlocal page
            if self.shared is not None or kind not in ("", "answer", "move") or not isinstance(about, str):
                return False
            page = await asyncio.to_thread(page.moved(kind, about[:LONGEST_ANSWER]).settled)
            if key:
                self._pages[key] = page
            while len(self._pages) > MOST:
                del self._pages[next(iter(self._pages))]
            await self.note(key, page.report)
            await send(socket, page.view([] if self.room is None else self.room.roster.best()))
            await asyncio.sleep(A_MOVE)
            return False

        if self.shared is not None:
            await self.shared.begin()
        await show("", "")
        await self.listen(socket, show)

    async def _alone(self, page: Page, key: str, browser: str, size: tuple[int, int], **told: object) -> None:
        if self.room is not None:
            self.room.go_alone(page.socket)
        while not self._attendance.has(key) and self._attendance.count >= self._most:
            if not await self._attendance.make_room():
                break
        await self._attendance.visit(
            page, key, size, browser, told, lambda child: self.listen(page.socket, typed(child))
        )

    async def let_go(self, child: Child) -> None:
        self._processes.end(child.pid)
        child.writer.close()
        with suppress(ConnectionError):
            await child.writer.wait_closed()

    async def start(self, size: tuple[int, int], **told: object) -> Child:
        best = self.room.roster.best() if self.room is not None else []
        return await self._processes.start(
            {"columns": size[0], "rows": size[1], **told, **({"best": best} if best else {})}
        )

    async def note(self, key: str, told: dict[str, Any]) -> None:
        if self.room is not None:
            await self.room.note(key, told)

    async def note_common(self, told: dict[str, Any]) -> None:
        if self.room is not None:
            await self.room.note_common(told)

    async def hand_over(self, socket: web.WebSocketResponse, told: dict[str, Any]) -> None:
        """Execute a message other than output: offer a file for download, or close when the process ends."""
        if told["type"] == "file":
            await socket.send_json(["deliver_file_start", self.keep(told["name"], told["text"])])
        elif told["type"] == "exit":
            await socket.close()

    async def listen(self, socket: web.WebSocketResponse, heard: Callable[[str, Any], Awaitable[bool]]) -> bool:
        """Pass each message to `heard` until it returns True or the browser is idle; False if it sent too much."""
        budget, last = Budget(), monotonic()
        while True:
            try:
                message = await socket.receive(timeout=max(last + self._idle - monotonic(), 0.01))
            except TimeoutError:
                with suppress(ConnectionError):
                    await socket.close(code=IDLE_CODE)
                return True
            if message.type not in (WSMsgType.TEXT, WSMsgType.BINARY, WSMsgType.PING, WSMsgType.PONG):
                return not isinstance(message.data, WebSocketError)  # too long a message, or none of the protocol
            await asyncio.sleep(budget.wait_for(len(message.data or b"") + 8))
            if budget.is_flood:
                return False
            if message.type == WSMsgType.PING:
                await socket.pong(message.data)
            if message.type != WSMsgType.TEXT:
                continue
            kind, about = _parsed(message.data)
            if kind == "ping":
                await socket.send_json(["pong", about if isinstance(about, int | float | str) else 0])
                continue
            if kind in ("stdin", "name", "answer", "move"):
                last = monotonic()
            if self.room is not None and await self.room.hear(socket, kind, about):
                continue
            if await heard(kind, about):
                return True


def _address_of(request: web.Request) -> str:
    return request.remote or ""


def _parsed(data: str) -> tuple[str, Any]:
    """Return kind and content of a message from a browser; ("", None) if it has another form than textual-serve's."""
    try:
        kind, about = json.loads(data)
    except (ValueError, TypeError, RecursionError):
        return "", None
    return (kind, about) if isinstance(kind, str) else ("", None)


def typed(child: Child) -> Callable[[str, Any], Awaitable[bool]]:
    async def heard(kind: str, about: Any) -> bool:
        if kind == "stdin" and isinstance(about, str):
            await child.send(b"D", about.encode("utf-8", "replace"))
        elif kind == "resize":
            columns, rows = size_of(about)
            await child.tell("resize", width=columns, height=rows)
        elif kind in ("focus", "blur"):
            await child.tell(kind)
        elif kind == "session" and isinstance(about, str):
            await child.tell("session", text=about)
        return False

    return heard
