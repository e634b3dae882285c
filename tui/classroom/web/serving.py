"""Start of the web server with the user's options; it runs until it is interrupted."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import dataclass, replace
from signal import SIGINT, SIGTERM
from socket import socket

import click
from aiohttp import web

from sim.support.errors import SchedscopeError
from sim.support.files import write_whole
from sim.workload.model import Workload
from tui.classroom.web.access import Door, Limits, address_of, is_loopback, origins_of, tell_in_a_line
from tui.classroom.web.classroom import JOIN, Classroom
from tui.classroom.web.codes import qr_rows
from tui.classroom.web.fork_server import Child, ForkServer
from tui.classroom.web.server import Server
from tui.classroom.web.visitor import ServerResources, live
from tui.replay.opening import Opening


@dataclass(frozen=True)
class Wanted:
    host: str
    port: int
    public: str | None
    visitors: int
    per_address: int | None
    idle: float
    present: tuple[int, int] | None
    theme: str
    is_seen: bool = False
    table: str | None = None

    @property
    def most_of_address(self) -> int:
        """Return the largest number of visitors with one network address. Behind a proxy all have the proxy's."""
        return self.per_address or (self.visitors if self.public else (self.visitors + 1) // 2)


def serve(openings: tuple[Opening, ...], wanted: Wanted, game: Workload | None = None, has_tasks: bool = False) -> None:
    """Read all traces and serve until interrupted; visits begin with a `game`, or with inverse puzzles."""
    shared = replace(ServerResources.of(openings), game=game, has_tasks=has_tasks)
    fork_server = ForkServer(live(shared, wanted.theme))
    try:
        run(fork_server, shared, wanted)
    finally:
        fork_server.close()


def run(fork_server: ForkServer, shared: ServerResources, wanted: Wanted, terminal: socket | None = None) -> None:
    """Serve until the end, then write the table of the class; `terminal` is the presenter's own."""
    room = shared.classroom(wanted.is_seen or wanted.present is not None)
    try:
        asyncio.run(_serve(fork_server, shared, wanted, room, terminal))
    finally:
        if room is not None and wanted.table is not None:
            with write_whole(wanted.table) as file:
                file.write(room.table())


async def _serve(
    fork_server: ForkServer, shared: ServerResources, wanted: Wanted, room: Classroom | None, terminal: socket | None
) -> None:
    loop, ended = asyncio.get_running_loop(), asyncio.Event()
    for number in (SIGINT, SIGTERM):
        loop.add_signal_handler(number, ended.set)
    child = None if terminal is None else Child(0, *await asyncio.open_unix_connection(sock=terminal))
    server = Server(
        fork_server, Door(frozenset()), wanted.visitors, wanted.idle, wanted.present, _print_status, room=room,
        terminal=child, over=ended.set if child is not None else lambda: None, most_of_address=wanted.most_of_address,
        plain=shared.plain(),
    )  # fmt: skip
    runner = web.AppRunner(server.app(), access_log=None, shutdown_timeout=2)
    await runner.setup()
    loop.set_exception_handler(tell_in_a_line(lambda told: click.echo(f"schedscope: {told}", err=True)))
    limits = loop.create_task(Limits(lambda: runner.server.connections if runner.server else []).watch())
    site = web.TCPSite(runner, wanted.host, wanted.port)
    try:
        await site.start()
    except OSError as error:
        raise SchedscopeError(f"cannot listen on {wanted.host}:{wanted.port}: {error.strerror or error}") from None
    port = runner.addresses[0][1]
    server.door = Door(origins_of(wanted.host, port, wanted.public))
    address = address_of(wanted.host, port, wanted.public)
    link = f"{address}/?token={server.door.code}"
    if room is not None:
        room.address = link
    if child is not None and server.shared is not None:
        await child.tell("address", text=link)
        await server.shared.begin()
        if room is not None:
            await room.show(JOIN)
    click.echo(link)
    if sys.stderr.isatty():
        click.secho("\n".join(qr_rows(link)), fg="bright_white", bg="black", err=True)
    if wanted.present:
        click.echo(f"{address}/?token={server.door.teacher}   presenter")
    if room is not None and wanted.is_seen:
        click.echo(f"{address}/teacher?token={room.word}   teacher's view: keep it to yourself")
        click.echo(f"{address}/wall?token={server.door.token}   wall: the answers that the teacher shows")
    whom = "on this machine only" if is_loopback(wanted.host) else "unencrypted, for anyone with the link"
    click.echo(f"schedscope: {whom}; ctrl+c ends it", err=True)
    sys.stdout.flush()
    try:
        await ended.wait()
    finally:
        limits.cancel()
        await runner.cleanup()


def _print_status(told: str) -> None:
    if sys.stderr is not None and sys.stderr.isatty():
        click.echo(f"\r\x1b[2Kschedscope: {told}", err=True, nl=False)
