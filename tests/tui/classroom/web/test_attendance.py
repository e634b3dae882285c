"""Also tests tui.classroom.web.fork_server."""

import asyncio

import pytest

aiohttp = pytest.importorskip("aiohttp", reason="aiohttp is missing: pip install 'schedscope[web]'")
pytest.importorskip("textual_serve", reason="textual_serve is missing: pip install 'schedscope[web]'")

from tests.tui.classroom.web.processes import served, until  # noqa: E402
from tui.classroom.web.attendance import BEGIN, TAKEN  # noqa: E402

ONE, OTHER = "0123456789abcdef", "fedcba9876543210"


def at(key: str, more: str = "") -> str:
    return f"/ws/word?width=90&height=30&visit={key}{more}"


async def test_a_reload_finds_its_process_with_all_that_it_shows() -> None:
    async with served() as (client, fork_server, server):
        async with client.ws_connect(at(ONE)):
            process = await fork_server.born.get()
        await until(lambda: server.there == 0)
        process.draw(b"unseen")
        async with client.ws_connect(at(ONE).replace("90", "100")) as again:
            assert await process.heard() == (b"M", {"type": "resize", "width": 100, "height": 30})
            assert await process.heard() == (b"M", {"type": "whole"})
            process.draw(b"too early")
            process.tell(type="whole", text="all")
            process.draw(b"more")
            assert [(await again.receive()).data for _ in range(2)] == [BEGIN + b"all", b"more"]
            await again.send_json(["stdin", "x"])
            assert await process.heard() == (b"D", b"x")
        assert (len(fork_server.all), fork_server.ended) == (1, [])


async def test_a_page_whose_network_was_lost_takes_its_visit_back() -> None:
    """The server may not have noticed that the first connection is lost."""
    async with served() as (client, fork_server, _), client.ws_connect(at(ONE)) as lost:
        process = await fork_server.born.get()
        async with client.ws_connect(at(ONE, "&again=1")) as back:
            process.tell(type="whole", text="all")
            assert (await back.receive()).data.endswith(b"all")
            closed = await lost.receive()
            assert (closed.type, closed.data) == (aiohttp.WSMsgType.CLOSE, TAKEN)
        assert fork_server.ended == []


async def test_two_tabs_are_two_visits() -> None:
    async with served() as (client, fork_server, _), client.ws_connect(at(ONE)), client.ws_connect(at(OTHER)):
        await until(lambda: fork_server.born.qsize() == 2)


async def test_a_visit_away_for_too_long_is_kept_for_the_day_and_offered() -> None:
    async with served(outlives=0.05) as (client, fork_server, _):
        async with client.ws_connect(at(ONE)):
            process = await fork_server.born.get()
        assert await process.heard_of(b"M") == {"type": "place"}
        process.tell(type="place", scene=3, answers=[[1, True]], evil="x")
        await until(lambda: fork_server.ended == [1])
        async with client.ws_connect(at(OTHER)):
            assert "offer" not in (await fork_server.born.get()).told
        async with client.ws_connect(at(ONE)):
            assert (await fork_server.born.get()).told["offer"] == {"scene": 3, "answers": [[1, True]]}


async def test_whoever_quits_begins_anew() -> None:
    async with served() as (client, fork_server, _):
        async with client.ws_connect(at(ONE)) as socket:
            process = await fork_server.born.get()
            process.tell(type="exit")
            process.end()
            await socket.receive()
            assert socket.close_code == 1000
        await until(lambda: fork_server.ended == [1])
        async with client.ws_connect(at(ONE)):
            assert (await fork_server.born.get()).told == {"columns": 90, "rows": 30}


async def test_a_visit_without_a_page_makes_room_for_another_visitor() -> None:
    async with served(most=1) as (client, fork_server, server):
        async with client.ws_connect(at(ONE)):
            away = await fork_server.born.get()
        await until(lambda: server.there == 0)
        async with client.ws_connect(at(OTHER)):
            await away.heard_of(b"M")
            away.tell(type="place", line="schedscope1:abc")
            assert (await fork_server.born.get()).told == {"columns": 90, "rows": 30}
            assert fork_server.ended == [1]
        await until(lambda: server.there == 0)
        newest = fork_server.all[-1]
        async with client.ws_connect(at(ONE)):
            await newest.heard_of(b"M")
            newest.tell(type="place")
            assert (await fork_server.born.get()).told["offer"] == {"line": "schedscope1:abc"}


async def test_a_flood_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tui.classroom.web.access.FLOOD", 0.0)
    monkeypatch.setattr("tui.classroom.web.access.AT_ONCE", 100)
    async with served() as (client, fork_server, _), client.ws_connect(at(ONE)) as socket:
        await socket.send_json(["stdin", "x" * 300])
        await until(lambda: fork_server.ended == [1])


async def test_a_full_house_lets_a_visit_that_goes_on_back_in() -> None:
    async with served(most=1) as (client, fork_server, _):
        async with client.get("/?token=word") as page:
            browser = page.cookies["schedscope"].value
        client.session.cookie_jar.clear()
        known = {"Cookie": f"schedscope={browser}"}
        async with client.ws_connect(at(ONE), headers=known):
            await fork_server.born.get()
            async with client.get("/?token=word", headers=known) as page:
                assert page.status == 200
            async with client.get("/?token=word", headers={"Cookie": "schedscope=0123456789abcdef0"}) as page:
                assert page.status == 503
            async with client.ws_connect(at(ONE), headers=known):
                await asyncio.sleep(0)
        assert len(fork_server.all) == 1


@pytest.mark.parametrize("key", ["", "short", "a" * 65, "0123456789abcde%2F"])
async def test_without_a_key_a_visit_ends_with_its_page(key: str) -> None:
    async with served() as (client, fork_server, _):
        async with client.ws_connect(at(key)):
            await fork_server.born.get()
        await until(lambda: fork_server.ended == [1])


async def test_pages_of_one_visit_that_come_at_once_start_one_process() -> None:
    async with served() as (client, fork_server, server):
        sockets = await asyncio.gather(*(client.ws_connect(at(ONE)) for _ in range(5)))
        await until(lambda: fork_server.all)
        await asyncio.sleep(0.2)
        assert len(fork_server.all) == server._attendance.count == 1
        for socket in sockets:
            await socket.close()
