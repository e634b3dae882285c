"""Fake processes of visitors: they record the messages that they receive, and draw what a test tells them."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from typing import Any

from aiohttp.test_utils import TestClient, TestServer

from tests.tui.replays import wait_until
from tui.classroom.web.access import Door, Tries
from tui.classroom.web.fork_server import Child
from tui.classroom.web.server import Server

ORIGIN = "http://class.test"
DOOR = Door(frozenset({ORIGIN}), code="maple-river-42", token="word", teacher="chalk")
KNOWN = {"Host": "class.test", "Origin": ORIGIN}


class Process:
    """A visitor's fake process: the other end of the server's connection to it."""

    def __init__(self, told: dict[str, Any], reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.told, self._reader, self._writer = told, reader, writer

    async def heard(self) -> tuple[bytes, Any]:
        head = await asyncio.wait_for(self._reader.readexactly(5), 10)
        payload = await self._reader.readexactly(int.from_bytes(head[1:], "big"))
        return head[:1], payload if head[:1] == b"D" else json.loads(payload)

    async def heard_of(self, kind: bytes) -> Any:
        while (heard := await self.heard())[0] != kind:
            pass
        return heard[1]

    def draw(self, what: bytes) -> None:
        self._writer.write(b"D" + len(what).to_bytes(4, "big") + what)

    def tell(self, **what: object) -> None:
        told = json.dumps(what).encode()
        self._writer.write(b"M" + len(told).to_bytes(4, "big") + told)

    def end(self) -> None:
        self._writer.close()

    async def wait(self) -> None:
        self.end()
        with suppress(ConnectionError):
            await self._writer.wait_closed()


class FakeForkServer:
    """A fork server that starts such fake processes."""

    def __init__(self) -> None:
        self.born: asyncio.Queue[Process] = asyncio.Queue()
        self.ended: list[int] = []
        self.all: list[Process] = []
        self._count = 0

    async def start(self, told: dict[str, Any]) -> Child:
        ours, theirs = socket.socketpair()
        process = Process(told, *await asyncio.open_connection(sock=theirs))
        self._count += 1
        child = Child(self._count, *await asyncio.open_connection(sock=ours))
        self.all.append(process)
        await self.born.put(process)
        return child

    def end(self, pid: int) -> None:
        self.ended.append(pid)


@asynccontextmanager
async def served(**how: Any) -> AsyncIterator[tuple[TestClient[Any, Any], FakeForkServer, Server]]:
    """Run a server with fake processes; yield (client with the headers of one of the server's pages, fake fork server,
    server)."""
    fork_server = FakeForkServer()
    server = Server(fork_server, replace(DOOR, tries=Tries()), **how)
    async with TestClient(TestServer(server.app()), headers=KNOWN) as client:
        yield client, fork_server, server
    for process in fork_server.all:
        await process.wait()


async def until(what: Any) -> None:
    """Wait until `what` returns a true value; fail after `PATIENCE` seconds."""
    await wait_until(what)
