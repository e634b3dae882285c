"""Presentation in the presenter's own terminal, whose screen students see in browsers."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from signal import SIG_IGN, SIGINT, signal
from socket import MSG_WAITALL, socket, socketpair
from typing import Any

from textual import events, on
from textual.driver import Driver

from sim.support.errors import SchedscopeError
from tui.app import run_app
from tui.classroom.web.fork_server import Child, ForkServer, packet
from tui.classroom.web.serving import Wanted, run
from tui.classroom.web.visitor import ServerResources, live
from tui.classroom.web.wall import Reporting, Wall
from tui.memory import give_back_at_once
from tui.replay.opening import Opening, Prepared


def present(opening: Opening, wanted: Wanted) -> int:
    """Present in this terminal, and serve the screen to students; return the exit code."""
    give_back_at_once()
    shared = ServerResources.of((opening,))
    assert shared.first is not None
    ours, pid = _start_server(shared, wanted)
    try:
        address = _address(ours)
        prepared = replace(shared.first, opening=replace(shared.first.opening, projected=True))
        code = run_app(Podium(prepared, ours, address))
    finally:
        ours.close()
        with suppress(ChildProcessError):
            os.waitpid(pid, 0)
    return code


def _start_server(shared: ServerResources, wanted: Wanted) -> tuple[socket, int]:
    """Start the web server as another process; return the connection to it, and its process id."""
    fork_server = ForkServer(live(shared, wanted.theme))  # before the connection is made: no visitor inherits it
    ours, theirs = socketpair()
    pid = os.fork()
    if pid:
        theirs.close()
        fork_server.leave()
        return ours, pid
    code = 1
    try:
        ours.close()
        os.setsid()
        signal(SIGINT, SIG_IGN)
        _serve(fork_server, shared, wanted, theirs)
        code = 0
    finally:
        os._exit(code)


def _serve(fork_server: ForkServer, shared: ServerResources, wanted: Wanted, theirs: socket) -> None:
    """Run the web server without output to the terminal; send its error to the program or, if that ended, print it."""
    terminal, nowhere = os.dup(2), os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    told, theirs_too = "", theirs.dup()
    try:
        run(fork_server, shared, wanted, theirs)
    except SchedscopeError as error:
        told = str(error)
    fork_server.close()
    if told:
        with suppress(OSError):
            theirs_too.sendall(packet(b"M", json.dumps({"type": "failed", "text": told}).encode()))
            return
        os.write(terminal, f"schedscope: {told}\n".encode(errors="replace"))


def _address(ours: socket) -> str:
    kind, told = _read(ours)
    if kind != "address":
        raise SchedscopeError(told)
    return told


def _read(ours: socket) -> tuple[str, str]:
    length = int.from_bytes(ours.recv(5, MSG_WAITALL)[1:], "big")
    told = json.loads(ours.recv(length, MSG_WAITALL)) if length else {}
    return str(told.get("type", "")), str(told.get("text", "the server for the students did not start"))


class Podium(Reporting):
    """Program in the presenter's terminal, which sends its screen to the server."""

    def __init__(self, prepared: Prepared, line: socket, address: str) -> None:
        super().__init__(prepared)
        self._line, self._address = line, address
        self._server: Child | None = None
        self._hearing: asyncio.Task[None] | None = None

    def get_driver_class(self) -> type[Driver]:
        return mirrored(super().get_driver_class(), self._mirror)

    @on(events.Load)
    async def _connect(self) -> None:
        self._of_app = asyncio.get_running_loop()
        self._server = Child(0, *await asyncio.open_unix_connection(sock=self._line))

    def on_mount(self) -> None:
        self.call_after_refresh(self._listen)
        if not self.in_lesson:
            self.call_after_refresh(self.action_turn_wall)

    def action_turn_wall(self) -> None:
        """Show the next state of the wall; outside of a lesson there are no questions: show or remove the address."""
        if self.in_lesson:
            super().action_turn_wall()
        else:
            self.show_wall("" if isinstance(self.screen, Wall) else json.dumps({"address": self._address}))

    def on_resize(self, event: events.Resize) -> None:
        self.report(type="size", width=event.size.width, height=event.size.height)

    def report(self, **told: object) -> None:
        self._send(b"M", json.dumps(told).encode())

    def _mirror(self, drawn: str) -> None:
        """Send the server a copy of the text written to the terminal. Any thread may call this."""
        with suppress(RuntimeError, AttributeError):  # the app has ended, or not begun
            self._of_app.call_soon_threadsafe(self._send, b"D", drawn.encode("utf-8", "replace"))

    def _send(self, kind: bytes, payload: bytes) -> None:
        if self._server is not None and not self._server.writer.is_closing():
            self._server.writer.write(packet(kind, payload))

    async def on_unmount(self) -> None:
        if self._hearing is not None:
            self._hearing.cancel()
            await asyncio.wait([self._hearing])
        if self._server is not None:
            self._server.writer.close()
            with suppress(ConnectionError):
                await self._server.writer.wait_closed()

    def _listen(self) -> None:
        self._hearing = asyncio.create_task(self._hear())

    async def _hear(self) -> None:
        assert self._server is not None
        await self._server.pass_on(self._ignore, self._obey)
        self.notify("The server for the students has ended.", severity="warning", timeout=12)

    async def _ignore(self, drawn: bytes) -> None: ...

    async def _obey(self, told: dict[str, Any]) -> None:
        kind = told.get("type")
        if kind == "wall":
            self.show_wall(str(told.get("text", "")))
        elif kind in ("whole", "place"):
            answer = {"type": kind, **(self.whole() if kind == "whole" else self.place())}
            # After what has been drawn until now, which is on its way.
            asyncio.get_running_loop().call_soon(self._send, b"M", json.dumps(answer).encode())


def mirrored(driver: type[Driver], send: Callable[[str], object]) -> type[Driver]:
    class Mirrored(driver):  # type: ignore[valid-type, misc]  # mypy knows no base that is a value
        def write(self, data: str) -> None:
            super().write(data)
            send(data)

    return Mirrored
