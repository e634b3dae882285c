import asyncio
import json
import socket

import pytest

aiohttp = pytest.importorskip("aiohttp", reason="aiohttp is missing: pip install 'schedscope[web]'")
pytest.importorskip("textual_serve", reason="textual_serve is missing: pip install 'schedscope[web]'")

from tests.tui.classroom.web.processes import served  # noqa: E402
from tui.classroom.web.fork_server import Child  # noqa: E402
from tui.classroom.web.shared_screen import GOES_ALONE  # noqa: E402

SIZE = (60, 18)


async def test_all_see_what_one_process_draws_and_only_who_leads_types() -> None:
    async with served(present=SIZE) as (client, fork_server, _), client.ws_connect("/ws/chalk") as leader:
        process = await fork_server.born.get()
        assert process.told == {"columns": 60, "rows": 18}
        assert await process.heard_of(b"M") == {"type": "whole"}
        process.tell(type="whole", text="all")
        assert (await leader.receive()).data.endswith(b"all")
        async with client.ws_connect("/ws/word") as watcher:
            assert await process.heard_of(b"M") == {"type": "whole"}
            process.draw(b"early")  # a visitor gets it only after the whole picture
            process.tell(type="whole", text="again")
            process.draw(b"more")
            assert (await watcher.receive()).data.endswith(b"again")
            assert (await watcher.receive()).data == b"more"
            assert [(await leader.receive()).data for _ in range(2)] == [b"early", b"more"]
            await watcher.send_json(["stdin", "q"])
            await watcher.send_json(["resize", {"width": 200, "height": 50}])
            await leader.send_json(["stdin", " "])
            assert await process.heard() == (b"D", b" ")
            assert fork_server.born.empty()


async def test_with_one_key_one_goes_on_alone_from_there() -> None:
    async with (
        served(present=SIZE) as (client, fork_server, _),
        client.ws_connect("/ws/word?width=90&height=20") as watcher,
    ):
        common = await fork_server.born.get()
        assert (await common.heard_of(b"M"))["type"] == "whole"
        await watcher.send_json(["stdin", "\r"])
        assert (await common.heard_of(b"M"))["type"] == "place"
        common.tell(type="place", line="schedscope1:abc", scene=3, evil="x")
        own = await fork_server.born.get()
        assert own.told == {"columns": 90, "rows": 20, "line": "schedscope1:abc", "scene": 3}
        await watcher.send_json(["stdin", "p"])
        assert await own.heard() == (b"D", b"p")
        own.draw(b"mine")
        common.draw(b"theirs")
        drawn = [(await watcher.receive()).data for _ in range(3)]
        assert json.loads(drawn[0]) == ["alone", GOES_ALONE]
        assert drawn[-1] == b"mine"
    assert fork_server.ended[0] == 2


async def test_slow_browser_gets_a_whole_picture_later() -> None:
    from tui.classroom.web.shared_screen import BEHIND

    async with served(present=SIZE) as (client, fork_server, server), client.ws_connect("/ws/word") as slow:
        process = await fork_server.born.get()
        await process.heard_of(b"M")
        process.tell(type="whole", text="all")
        await slow.receive()
        shared = server.shared
        assert shared is not None
        (pieces,) = shared._watching
        for _ in range(BEHIND + 1):
            shared._queue_piece(pieces, b"x")
        assert shared._watching[pieces] is False
        for _ in range(BEHIND):
            assert (await slow.receive()).data == b"x"
        assert await process.heard_of(b"M") == {"type": "whole"}
        process.tell(type="whole", text="caught up")
        assert (await slow.receive()).data.endswith(b"caught up")


async def test_shared_screen_begins_again_with_the_next_viewer() -> None:
    async with served(present=SIZE) as (client, fork_server, _):
        async with client.ws_connect("/ws/word") as watcher:
            (await fork_server.born.get()).end()
            await asyncio.wait_for(watcher.receive(), 10)
        async with client.ws_connect("/ws/word"):
            assert json.dumps((await fork_server.born.get()).told)


async def test_pages_hear_the_new_size_of_the_presenters_terminal() -> None:
    async with served(present=SIZE) as (client, fork_server, server), client.ws_connect("/ws/word") as watcher:
        process = await fork_server.born.get()
        process.tell(type="size", width=100, height=30)
        assert (await watcher.receive()).json() == ["size", [100, 30]]
        async with client.get("/?token=word") as page:
            assert 'data-columns="100" data-rows="30"' in await page.text()
        assert server.shared is not None
        process.tell(type="size", width="\x1b[2J", height=-1)
        assert (await watcher.receive()).json() == ["size", [80, 8]]


async def test_server_ends_with_the_presenters_terminal() -> None:
    ours, theirs = socket.socketpair()
    theirs.setblocking(False)
    terminal = Child(0, *await asyncio.open_unix_connection(sock=ours))
    over = asyncio.Event()
    async with served(present=SIZE, terminal=terminal, over=over.set) as (client, fork_server, _):
        async with client.ws_connect("/ws/word") as watcher:
            theirs.close()
            await asyncio.wait_for(over.wait(), 10)
            assert (await watcher.receive()).type is aiohttp.WSMsgType.CLOSE
        assert fork_server.born.empty()
