import asyncio
import socket
import sys
from pathlib import Path
from typing import Any

import pytest

aiohttp = pytest.importorskip("aiohttp", reason="aiohttp is missing: pip install 'schedscope[web]'")
pytest.importorskip("textual_serve", reason="textual_serve is missing: pip install 'schedscope[web]'")

from tests.tui.classroom.web.processes import KNOWN, ORIGIN, served, until  # noqa: E402
from tui.classroom.web.fork_server import Child  # noqa: E402
from tui.classroom.web.serving import Wanted  # noqa: E402


@pytest.mark.parametrize(("headers", "word", "status"), [
    ({"Origin": "http://evil.test"}, "word", 403), ({"Origin": ORIGIN + "0"}, "word", 403),
    ({"Origin": "null"}, "word", 403), ({"Origin": ""}, "word", 403), ({"Host": "evil.test"}, "word", 421),
    ({}, "wor", 403), ({}, "wordy", 403), ({}, "wörd", 403),
])  # fmt: skip
async def test_a_socket_is_for_our_pages_and_who_has_the_word(headers: dict[str, str], word: str, status: int) -> None:
    async with served() as (client, fork_server, _):
        with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
            await client.ws_connect(f"/ws/{word}", headers={**KNOWN, **headers})
        assert refused.value.status == status
        assert fork_server.born.empty()


@pytest.mark.parametrize(("path", "host", "status"), [
    ("/?token=word", "class.test", 200), ("/", "class.test", 403), ("/?token=w", "class.test", 403),
    ("/?token=word", "evil.test", 421), ("/page.js", "class.test", 200), ("/page.html", "class.test", 404),
    ("/server.py", "class.test", 404), ("/static/", "class.test", 403), ("/static/../server.py", "class.test", 404),
    ("/static/%2e%2e/server.py", "class.test", 404), ("/font/bold.ttf", "class.test", 200),
    ("/download/guessed", "class.test", 404),
])  # fmt: skip
async def test_a_page_is_for_those_who_have_the_link(path: str, host: str, status: int) -> None:
    async with served() as (client, _, _server), client.get(path, headers={"Host": host}) as answer:
        assert answer.status == status
        assert "default-src 'none'" in answer.headers["Content-Security-Policy"]


async def test_typed_code_is_exchanged_for_the_token() -> None:
    async with served() as (client, _, _server):
        async with client.get("/", params={"token": " Maple River 42"}) as page:
            assert (page.status, page.url.query_string) == (200, "token=word")
        async with client.get("/", params={"token": "<b>"}) as page:
            assert page.status == 403
            told = await page.text()
            assert 'name="token"' in told
            assert "<b>" not in told
        async with client.ws_connect("/ws/maple-river-42"):
            pass


async def test_wrong_codes_make_an_address_wait_but_not_its_pages() -> None:
    async with served() as (client, _, _server):
        for number in range(5):
            async with client.get(f"/?token=maple-river-{number}") as page:
                assert "not the code" in await page.text()
            with pytest.raises(aiohttp.WSServerHandshakeError):
                await client.ws_connect(f"/ws/maple-river-{number}")
        async with client.get("/?token=maple-river-42") as page:
            assert page.status == 403
            assert "Wait 60 seconds" in await page.text()
        with pytest.raises(aiohttp.WSServerHandshakeError):
            await client.ws_connect("/ws/maple-river-42")
        async with client.get("/?token=word") as page, client.ws_connect("/ws/word"):
            assert page.status == 200


async def test_nothing_of_a_page_comes_from_elsewhere() -> None:
    async with served() as (client, _, _server):
        for path in ("/?token=word", "/page.css", "/page.js"):
            async with client.get(path) as answer:
                text = await answer.text()
                assert "https://" not in text
                assert text.count("http://") == 0
        async with client.get("/?token=word") as answer:
            assert "ws://class.test/ws/word" in await answer.text()


async def test_each_visitor_has_a_separate_process() -> None:
    async with served() as (client, fork_server, server):
        async with client.ws_connect("/ws/word?width=100&height=30") as socket:
            process = await fork_server.born.get()
            assert process.told == {"columns": 100, "rows": 30}
            await socket.send_json(["stdin", "ab"])
            assert await process.heard() == (b"D", b"ab")
            await socket.send_json(["resize", {"width": 1e9, "height": "x"}])
            assert await process.heard() == (b"M", {"type": "resize", "width": 80, "height": 24})
            process.draw(b"J1")
            assert (await socket.receive()).data == b"J1"
            assert server.there == 1
        await until(lambda: fork_server.ended == [1] and server.there == 0)


async def test_nonsense_harms_nothing() -> None:
    async with served() as (client, fork_server, _), client.ws_connect("/ws/word?width=x&height=-3") as socket:
        process = await fork_server.born.get()
        assert process.told == {"columns": 80, "rows": 8}
        for nonsense in ("", "{}", "[]", "[1, 2]", '["stdin", 3]', '["resize", null]', "[" * 5000, '["x"]', "null"):
            await socket.send_str(nonsense)
        await socket.send_bytes(b"\0\xff")
        await socket.send_json(["stdin", "\ud800"])
        assert (await process.heard())[1]["type"] == "resize"
        assert await process.heard() == (b"D", b"?")


async def test_there_are_so_many_and_no_more() -> None:
    told: list[str] = []
    async with served(most=1, say=told.append) as (client, fork_server, _):
        async with client.ws_connect("/ws/word"):
            async with client.get("/?token=word") as answer:
                assert answer.status == 503
            with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
                await client.ws_connect("/ws/word")
            assert refused.value.status == 503
        await until(lambda: fork_server.ended == [1])
        async with client.ws_connect("/ws/word"):
            await until(lambda: fork_server.born.qsize() == 2)
    assert told[:2] == ["1 visitor, at most 1", "no visitors, at most 1"]


async def test_an_address_has_only_its_share_of_the_places() -> None:
    async with served(most=3, most_of_address=1) as (client, _, server):
        async with client.ws_connect("/ws/word"):
            for visit in ("", "&visit=0123456789abcdef"):
                async with client.get(f"/?token=word{visit}") as answer:
                    assert answer.status == 503
                    assert "Your network address has 1 visitor, at most 1." in await answer.text()
            with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
                await client.ws_connect("/ws/word")
            assert refused.value.status == 503
        await until(lambda: server.there == 0)
        async with client.get("/?token=word") as answer:
            assert answer.status == 200


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has the address 127.0.0.2 without setup")
async def test_a_full_address_leaves_room_for_others() -> None:
    async with (
        served(most=3, most_of_address=1) as (client, _, _server),
        client.ws_connect("/ws/word"),
        aiohttp.ClientSession(connector=aiohttp.TCPConnector(local_addr=("127.0.0.2", 0)), headers=KNOWN) as other,
        other.get(client.make_url("/?token=word")) as answer,
    ):
        assert answer.status == 200


@pytest.mark.parametrize(("more", "share"), [({}, 20), ({"public": "https://x.test"}, 40), ({"per_address": 7}, 7)])
def test_an_address_may_hold_half_of_the_places(more: dict[str, Any], share: int) -> None:
    usual: dict[str, Any] = {"public": None, "visitors": 40, "per_address": None}
    wanted = Wanted("0.0.0.0", 8000, idle=60, present=None, theme="dark", **{**usual, **more})
    assert wanted.most_of_address == share


async def test_who_does_nothing_has_left() -> None:
    async with served(idle=0.05) as (client, fork_server, _), client.ws_connect("/ws/word") as socket:
        assert (await socket.receive()).type == aiohttp.WSMsgType.CLOSE
        await until(lambda: fork_server.ended == [1])


async def test_connections_end_with_either_side() -> None:
    async with served() as (client, fork_server, _), client.ws_connect("/ws/word") as socket:
        (await fork_server.born.get()).end()
        assert (await socket.receive()).type == aiohttp.WSMsgType.CLOSE
    async with served() as (client, fork_server, _):
        async with client.ws_connect("/ws/word") as socket:
            await socket.send_str("x" * 2**17)
            assert (await socket.receive()).type in (aiohttp.WSMsgType.CLOSE, aiohttp.WSMsgType.CLOSED)
        await until(lambda: fork_server.ended == [1])


async def test_a_process_that_reads_nothing_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tui.classroom.web.fork_server.PATIENCE", 0.2)
    ours, theirs = socket.socketpair()
    with theirs:
        child = Child(0, *await asyncio.open_connection(sock=ours))
        with pytest.raises(ConnectionError, match="does not read"):
            await child.send(b"D", bytes(10_000_000))
        with pytest.raises((EOFError, ConnectionError)):
            await child.read()


async def test_a_file_that_is_saved_is_fetched_once() -> None:
    async with served() as (client, fork_server, _), client.ws_connect("/ws/word") as socket:
        process = await fork_server.born.get()
        process.tell(type="file", name='../a "b"\r\nX: y.session', text="é")
        what, key = (await socket.receive()).json()
        assert what == "deliver_file_start"
        async with client.get(f"/download/{key}") as answer:
            assert await answer.text() == "é"
            assert answer.headers["Content-Disposition"] == 'attachment; filename="..-a-b-X-y.session"'
        async with client.get(f"/download/{key}") as answer:
            assert answer.status == 404


def test_the_page_is_ours() -> None:
    import tui.classroom.web.server

    assert Path(tui.classroom.web.server.__file__).with_name("page.html").exists()
