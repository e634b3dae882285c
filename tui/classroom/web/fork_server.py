"""Fork server: a process that has imported and read everything once, and is copied (forked) for each visitor.

The fork server is itself forked before the web server starts, while the process has only one thread. All children share
the memory of what was read. The fork server and its children end when the web server ends.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import signal
import socket
from asyncio import StreamReader, StreamWriter
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any, NamedTuple, TypeAlias, TypeVar

PATIENCE = 10.0
"""Longest time in seconds for which a process may leave messages to it unread."""
T = TypeVar("T")
Take: TypeAlias = Callable[[T], Awaitable[None]]
_SIZE = 32
"""Length in bytes of an order (a request to fork) to the fork server."""


def packet(kind: bytes, payload: bytes) -> bytes:
    """Return a message in the form in which it is sent: a letter for its kind, its length, and the content."""
    return kind + len(payload).to_bytes(4, "big") + payload


class Child(NamedTuple):
    """Process of a visitor. Messages in both directions are packets: a letter, a length of four bytes, the content."""

    pid: int
    reader: StreamReader
    writer: StreamWriter

    async def send(self, kind: bytes, payload: bytes) -> None:
        """Send a message; if it is not read within `PATIENCE` seconds, disconnect and raise `ConnectionError`."""
        self.writer.write(packet(kind, payload))
        try:
            async with asyncio.timeout(PATIENCE):
                await self.writer.drain()
        except TimeoutError:
            self.writer.transport.abort()
            raise ConnectionError("the program does not read") from None

    async def tell(self, what: str, **about: object) -> None:
        await self.send(b"M", json.dumps({"type": what, **about}).encode())

    async def read(self) -> tuple[bytes, bytes]:
        """Return kind and content of the next message; raise `EOFError` when the process has ended."""
        head = await self.reader.readexactly(5)
        return head[:1], await self.reader.readexactly(int.from_bytes(head[1:], "big"))

    async def pass_on(self, draw: Take[bytes], hear: Take[dict[str, Any]]) -> None:
        """Give its output to `draw` and its messages to `hear` until the process ends."""
        with suppress(EOFError, ConnectionError):
            while True:
                kind, payload = await self.read()
                if kind == b"D":
                    await draw(payload)
                elif kind == b"M":
                    await hear(json.loads(payload))


class ForkServer:
    """Connection to the fork server; each child process calls `live` with the first message sent to it."""

    def __init__(self, live: Callable[[dict[str, Any]], object]) -> None:
        self._orders, theirs = socket.socketpair()
        gc.collect()
        gc.freeze()
        self.pid = os.fork()
        if not self.pid:
            self._orders.close()
            _serve(theirs, live)
        theirs.close()

    async def start(self, told: dict[str, Any]) -> Child:
        ours, theirs = socket.socketpair()
        with theirs:
            socket.send_fds(self._orders, [b"fork".ljust(_SIZE)], [theirs.fileno()])
        ours.setblocking(False)
        reader, writer = await asyncio.open_unix_connection(sock=ours, limit=2**20)
        first = json.dumps(told).encode() + b"\n"
        writer.write(first)
        pid = int(await reader.readline())
        while (line := await reader.readline()) != b"__GANGLION__\n":
            if not line:
                raise ConnectionError("the program did not start")
        return Child(pid, reader, writer)

    def end(self, pid: int) -> None:
        """Kill a child process; it has nothing to save."""
        with suppress(OSError):
            self._orders.sendall(f"end {pid}".encode().ljust(_SIZE))

    def leave(self) -> None:
        """Close this process's end of the connection to the fork server: another process uses it."""
        self._orders.close()

    def close(self) -> None:
        self._orders.close()
        with suppress(ChildProcessError):
            os.waitpid(self.pid, 0)


def _serve(orders: socket.socket, live: Callable[[dict[str, Any]], object]) -> None:
    os.setsid()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    children: set[int] = set()
    signal.signal(signal.SIGCHLD, lambda *_: _reap(children))
    while True:
        data, descriptors, _, _ = socket.recv_fds(orders, _SIZE, 1)
        _reap(children)
        if not data:
            for pid in children:
                os.kill(pid, signal.SIGKILL)
            os._exit(0)
        order = data.decode().split()
        if order[0] == "end" and int(order[1]) in children:
            os.kill(int(order[1]), signal.SIGKILL)
            _reap(children)
        elif order[0] == "fork" and descriptors:
            if pid := os.fork():
                children.add(pid)
                _reap(children)  # it may have ended before it was entered
                os.close(descriptors[0])
            else:
                orders.close()
                _live(descriptors[0], live)


def _reap(children: set[int]) -> None:
    for pid in [*children]:
        with suppress(ChildProcessError):
            if os.waitpid(pid, os.WNOHANG)[0]:
                children.discard(pid)


def _live(descriptor: int, live: Callable[[dict[str, Any]], object]) -> None:
    code = 1
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        for source, target in ((descriptor, 0), (descriptor, 1), (nowhere, 2)):
            os.dup2(source, target)
        for spare in {descriptor, nowhere} - {0, 1, 2}:
            os.close(spare)
        os.write(1, b"%d\n" % os.getpid())
        told = b""
        while not told.endswith(b"\n"):
            more = os.read(0, 1)
            if not more:
                os._exit(1)
            told += more
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        live(json.loads(told))
        code = 0
    finally:
        os._exit(code)


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
