import asyncio
import json
import os
import re
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from sim.classroom.lessons.lesson_file import found_lesson
from sim.classroom.lessons.walk import Walk
from sim.workload.source import Source
from tests.tui.cli.program import error
from tests.tui.terminals import terminal
from tui.classroom.guide import walk_of
from tui.classroom.opening import lesson_opening
from tui.replay.opening import Opening, opening_of

aiohttp = pytest.importorskip("aiohttp", reason="aiohttp is missing: pip install 'schedscope[web]'")
pytest.importorskip("textual_serve", reason="textual_serve is missing: pip install 'schedscope[web]'")

from tests.tui.classroom.web.processes import until  # noqa: E402
from tests.tui.classroom.web.test_roster import NEXT  # noqa: E402
from tui.classroom.web.fork_server import Child  # noqa: E402
from tui.classroom.web.podium import Podium  # noqa: E402
from tui.classroom.web.visitor import ServerResources  # noqa: E402
from tui.classroom.web.wall import Wall  # noqa: E402

ADDRESS = "http://10.0.0.5:8000/?token=word"


@asynccontextmanager
async def presenting(opening: Opening) -> AsyncIterator[tuple[Podium, Any, Child]]:
    """Run the app of the presenter's terminal; yield (app, its pilot, the server's end of the connection to it)."""
    ours, theirs = socket.socketpair()
    prepared = ServerResources.of((opening,)).first
    assert prepared is not None
    app = Podium(prepared, ours, ADDRESS)
    server = Child(0, *await asyncio.open_unix_connection(sock=theirs))
    async with app.run_test(size=(70, 20)) as pilot:
        await pilot.pause()
        yield app, pilot, server
    server.writer.close()
    with suppress(ConnectionError):
        await server.writer.wait_closed()


async def reports(server: Child, kind: str) -> dict[str, Any]:
    """Return the next report of this kind that the server receives."""
    while True:
        letter, payload = await asyncio.wait_for(server.read(), 10)
        told: dict[str, Any] = json.loads(payload) if letter == b"M" else {}
        if told.get("type") == kind:
            return told


def wall(app: Podium) -> str:
    return app.screen._answers.asks if isinstance(app.screen, Wall) else ""


async def test_podium_reports_its_scene_and_shows_answers() -> None:
    async with presenting(lesson_opening(found_lesson("backfilling"), NEXT)) as (app, pilot, server):
        assert await reports(server, "size") == {"type": "size", "width": 70, "height": 20}
        assert await reports(server, "stands") == {"type": "stands", "scene": NEXT, "open": True}
        await pilot.press("I")
        assert await reports(server, "wall") == {"type": "wall"}
        await server.tell("wall", text=json.dumps({"asks": "[b]Which?\x1b[2J", "bars": []}))
        await until(lambda: wall(app) == "[b]Which??[2J")
        await pilot.press("space")
        assert await reports(server, "wall") == {"type": "wall", "closed": True}
        await server.tell("whole")
        assert "Which job starts next?" in re.sub(r"\x1b\[[0-9;]*m", "", (await reports(server, "whole"))["text"])
        await server.tell("place")
        assert (await reports(server, "place"))["scene"] == NEXT
        assert not isinstance(app.screen, Wall)


async def test_trace_shows_the_address_alone() -> None:
    async with presenting(opening_of(Source("z-figure4"))) as (app, pilot, _):
        await until(lambda: isinstance(app.screen, Wall))
        await pilot.press("I")
        await until(lambda: not isinstance(app.screen, Wall))
        await pilot.press("I")
        await until(lambda: isinstance(app.screen, Wall) and app.screen._answers.address == ADDRESS)


async def test_terminal_goes_on_without_its_server() -> None:
    async with presenting(lesson_opening(found_lesson("backfilling"), NEXT)) as (app, pilot, server):
        server.writer.close()
        await until(lambda: len(app._notifications))
        await pilot.press("space")
        await until(lambda: app.replay is not None and _asks_nothing(walk_of(app.replay.state.guide)))


def _asks_nothing(walk: Walk | None) -> bool:
    return walk is not None and walk.open_question is None


async def test_student_answers_what_is_presented_in_a_terminal(tmp_path: Path) -> None:
    table = tmp_path / "answers.csv"
    given = ["present", "backfilling", "--scene", "3", "--students", "--port", "0", "--csv", str(table)]
    with terminal(*given, cwd=tmp_path) as screen:
        screen.wait_for(lambda: re.search(rb"[a-z]-[a-z]+-\d\d", screen.written))
        found = [re.search(part, screen.written) for part in (rb"http://[\w.:]+", rb"[a-z]+-[a-z]+-\d\d")]
        address, code = (part[0].decode() for part in found if part is not None)
        async with aiohttp.ClientSession(headers={"Origin": address}) as browser:
            async with browser.get(f"{address}/?token={code.upper()}") as page:
                token = page.url.query["token"]
                assert f"/ws/{token}" in await page.text()
            async with browser.ws_connect(f"{address}/ws/{token}?visit={'a' * 32}") as socket:
                drawn = b""
                is_asked = False
                while not (is_asked and b"Follow and answer" in drawn):
                    message = await asyncio.wait_for(socket.receive(), 30)
                    if message.type == aiohttp.WSMsgType.BINARY:
                        drawn += message.data
                    elif message.type == aiohttp.WSMsgType.TEXT:
                        is_asked = is_asked or "Which job" in message.json()[1].get("asks", "")
                await socket.send_json(["stdin", "q"])  # no key of a student reaches the terminal
                await socket.send_json(["answer", "4"])
                while "Your answer is J4" not in str((message := await socket.receive()).data):
                    assert message.type is not aiohttp.WSMsgType.CLOSED
                screen.type("II")
                screen.wait_for(lambda: b"1 of 1 have answered" in screen.written)
                assert screen.program.poll() is None
        screen.type(" q")
        screen.program.wait(30)
        assert screen.program.returncode == 0
    assert table.read_text().splitlines()[1].startswith("1,,3,May a job start early?,Which job starts next?,J4,1,")


def test_what_cannot_be_served_is_told_before_the_screen_begins(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        with terminal("present", "backfilling", "--students", "--port", port, cwd=tmp_path) as screen:
            screen.program.wait(30)
            screen.wait_for(lambda: b"cannot listen on 127.0.0.1" in screen.written)
            assert screen.program.returncode == 1


def test_options_of_the_server_need_students() -> None:
    for given in (("--port", "1"), ("--host", "0.0.0.0"), ("--csv", os.devnull)):
        assert f"{given[0]} is for the students' browsers: add --students" in error("present", "backfilling", *given)[1]
