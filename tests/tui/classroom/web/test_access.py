from __future__ import annotations

import asyncio
import errno
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

web: Any = pytest.importorskip("aiohttp.web", reason="aiohttp is missing: pip install 'schedscope[web]'")

from tests.tui.replays import PATIENCE, wait_until  # noqa: E402
from tui.classroom.web import access  # noqa: E402
from tui.classroom.web.access import (  # noqa: E402
    AT_ONCE,
    MOST_ADDRESSES,
    TRIES,
    Budget,
    Door,
    Limits,
    Tries,
    origins_of,
    tell_in_a_line,
)


def test_floods_wait_and_end() -> None:
    time = 0.0
    budget = Budget(lambda: time)
    assert budget.wait_for(AT_ONCE) == 0
    assert budget.wait_for(8000) == 1.0
    time = 1.0
    assert budget.wait_for(10) > 0
    time = 100.0
    assert budget.wait_for(AT_ONCE) == 0
    assert not budget.is_flood
    time = 0.0
    budget = Budget(lambda: time)
    sent = 0
    while not budget.is_flood:
        time += budget.wait_for(6000)
        sent += 1
    assert 10 < sent < 50
    time += 60
    assert budget.wait_for(10) == 0
    assert not budget.is_flood


def test_doors_open_to_their_names_and_words() -> None:
    door = Door(origins_of("127.0.0.1", 8000))
    assert door.knows_host({"Host": "LOCALHOST:8000"})
    for name in ("localhost", "localhost:80", "127.0.0.1:8000.evil.test", "evil.test", ""):
        assert not door.knows_host({"Host": name})
    for origin in ("https://localhost:8000", "http://localhost:8000/", "http://localhost:8000.evil", "null", ""):
        assert not door.knows_origin({"Origin": origin})
    assert not door.knows_origin({})
    door = Door(frozenset())
    assert door.opens(door.token)
    assert door.opens(door.teacher)
    assert not door.opens("")
    assert door.leads(door.teacher)
    assert not door.leads(door.token)
    assert Door(frozenset()).token != door.token


def test_a_code_opens_until_its_address_has_to_wait() -> None:
    door = Door(frozenset(), code="maple-river-42")
    for _ in range(20):
        assert door.refusal("", "here") == "Type the code of your class."
    assert door.refusal("Maple River 42", "here") == ""
    for _ in range(TRIES):
        assert "not the code" in door.refusal("maple-river-43", "here")
    for word in ("maple-river-42", "maple-river-43"):
        assert re.fullmatch(
            r"Too many wrong codes .* Wait \d+ seconds, then type the code again\.", door.refusal(word, "here")
        )
    assert door.refusal(door.token, "here") == ""
    assert door.refusal(door.teacher, "here") == ""
    assert door.refusal("maple-river-42", "there") == ""


async def slow(request: Any) -> Any:
    await asyncio.sleep(1)
    return web.Response(text="done")


@asynccontextmanager
async def limited(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[int]:
    """Run a server with limits so low that the tests reach them; yield its port."""
    for name, value in (("NO_REQUEST", 0.3), ("EVERY", 0.02), ("OF_AN_ADDRESS", 5)):
        monkeypatch.setattr(access, name, value)
    app = web.Application()
    app.router.add_get("/", slow)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    watching = asyncio.create_task(Limits(lambda: runner.server.connections).watch())
    yield runner.addresses[0][1]
    watching.cancel()
    await runner.cleanup()


async def is_closed(reader: asyncio.StreamReader) -> bool:
    try:
        return await asyncio.wait_for(reader.read(1), PATIENCE) == b""
    except ConnectionError:
        return True


@pytest.mark.parametrize("sent", [b"", b"GET / HTTP/1.1\r\nHost: x\r\n", b"\x16\x03\x01"])
async def test_a_connection_without_a_request_is_closed(sent: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    async with limited(monkeypatch) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(sent)
        while await reader.read(100):  # nonsense is answered, then closed
            pass
        writer.close()


async def test_a_request_that_takes_longer_is_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    async with limited(monkeypatch) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        assert b"done" in await reader.read()
        writer.close()


async def test_an_address_has_so_many_connections(monkeypatch: pytest.MonkeyPatch) -> None:
    async with limited(monkeypatch) as port:
        monkeypatch.setattr(access, "NO_REQUEST", 60.0)
        opened = [await asyncio.open_connection("127.0.0.1", port) for _ in range(8)]
        closed = [asyncio.create_task(is_closed(reader)) for reader, _ in opened]
        await wait_until(lambda: sum(task.done() for task in closed) >= 3)
        done, waiting = await asyncio.wait(closed, timeout=0.5)
        assert (len(done), len(waiting)) == (3, 5)
        for task in waiting:
            task.cancel()
        for _, writer in opened:
            writer.close()


async def test_a_full_table_of_files_is_said_once(caplog: pytest.LogCaptureFixture) -> None:
    told: list[str] = []
    tell, loop = tell_in_a_line(told.append), asyncio.get_running_loop()
    for _ in range(3):
        tell(loop, {"message": "x", "exception": OSError(errno.EMFILE, "Too many open files")})
    assert len(told) == 1
    assert "ulimit" in told[0]
    assert not caplog.records
    tell(loop, {"message": "another"})
    assert "another" in caplog.text


def test_ten_wrong_codes_in_a_minute_make_an_address_wait() -> None:
    time = 0.0
    tries = Tries(lambda: time)
    for second in range(TRIES):
        time = float(second)
        assert tries.wait_of("10.0.0.5") == 0
        tries.note("10.0.0.5")
    assert tries.wait_of("10.0.0.5") == 51
    assert tries.wait_of("10.0.0.6") == 0
    time = 60.0
    assert tries.wait_of("10.0.0.5") == 0
    tries.note("10.0.0.5")
    assert tries.wait_of("10.0.0.5") == 1


def test_an_ipv6_subscriber_is_one_address() -> None:
    tries = Tries(lambda: 0.0)
    for number in range(TRIES):
        tries.note(f"2001:db8:7:{number}::{number}")
    assert tries.wait_of("2001:db8:7:ffff::1") == 60
    assert tries.wait_of("2001:db8:8::1") == 0


def test_only_so_many_addresses_are_remembered() -> None:
    tries = Tries(lambda: 0.0)
    for number in range(MOST_ADDRESSES + 50):
        tries.note(f"name {number}")
    assert len(tries._wrong) == MOST_ADDRESSES
    assert f"name {MOST_ADDRESSES + 49}" in tries._wrong
