import asyncio
import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

aiohttp = pytest.importorskip("aiohttp", reason="aiohttp is missing: pip install 'schedscope[web]'")
pytest.importorskip("textual_serve", reason="textual_serve is missing: pip install 'schedscope[web]'")

from sim.classroom.play.game import Game, afternoon  # noqa: E402
from sim.classroom.play.scoring import GameScore  # noqa: E402
from sim.workload.source import Source  # noqa: E402
from tests.tui.classroom.web.processes import KNOWN, FakeForkServer, Process, served, until  # noqa: E402
from tests.tui.classroom.web.test_roster import NEXT, scenes  # noqa: E402
from tui.classroom.play.page import result  # noqa: E402
from tui.classroom.web import classroom  # noqa: E402
from tui.classroom.web.classroom import Classroom  # noqa: E402
from tui.classroom.web.plain_pages import GamePage  # noqa: E402
from tui.classroom.web.roster import Roster, best_of  # noqa: E402

KEYS = [letter * 16 for letter in "abc"]
EVIL = "<script>alert(1)</script>"


@asynccontextmanager
async def classes(**how: Any) -> AsyncIterator[tuple[Any, FakeForkServer, Classroom]]:
    room = Classroom(Roster(scenes()), "A lesson", word="secret")
    async with served(room=room, **how) as (client, fork_server, _):
        yield client, fork_server, room


async def seen(client: Any, scene: int | str = "") -> dict[str, Any]:
    async with client.get(f"/class/secret?scene={scene}") as answer:
        found: dict[str, Any] = await answer.json()
    return found


async def heard(page: Any) -> dict[str, Any]:
    """Return the next message about the class that a page receives."""
    while True:
        message = await asyncio.wait_for(page.receive(), 10)
        if message.type == aiohttp.WSMsgType.TEXT:
            kind, about = message.json()
            assert kind == "class"
            return dict(about)


async def test_teacher_sees_three_tabs_live() -> None:
    async with classes() as (client, fork_server, room):
        pages, processes = [], []
        for key in KEYS:
            pages.append(await client.ws_connect(f"/ws/word?visit={key}"))
            processes.append(await fork_server.born.get())
        await pages[0].send_json(["name", EVIL])
        for number, process in enumerate(processes):
            process.tell(type="stands", scene=NEXT, open=True)
            if number < 2:
                process.tell(type="stands", scene=NEXT, open=False, given=("J4", "J5")[number], right=not number)
        await until(lambda: sum(bar["count"] for bar in room.roster.tally(NEXT)) == 2)
        told = await seen(client)
        assert (told["here"], told["scenes"][NEXT]["here"]) == (3, 3)
        assert [bar["count"] for bar in told["question"]["bars"]] == [0, 1, 1, 0]
        assert {each["name"] for each in told["students"]} == {EVIL, "student 2", "student 3"}
        await pages[1].close()
        await until(lambda: sum(each["here"] for each in room.roster.students()) == 2)
        async with client.get("/class/secret/answers.csv") as answer:
            rows = (await answer.text()).splitlines()
        assert len(rows) == 4
        assert rows[1].startswith(f"1,{EVIL},3,May a job start early?,Which job starts next?,J4,1,")
        for page in pages:
            await page.close()


@pytest.mark.parametrize("word", ["word", "chalk", "", "secre", "sécret"])
async def test_no_other_word_opens_the_teachers_view(word: str) -> None:
    async with classes() as (client, _, _room):
        for path in (f"/teacher?token={word}", f"/class/{word or 'x'}", f"/class/{word or 'x'}/answers.csv"):
            async with client.get(path) as answer:
                assert answer.status == 403
        async with client.post(f"/class/{word or 'x'}/wall?scene={NEXT}") as answer:
            assert answer.status == 403
        paths = "/?token=word", "/page.js", "/student.js", "/bars.js", "/wall.js", "/wall?token=word", "/wall/word"
        for path in paths:
            async with client.get(path) as answer:
                assert "secret" not in await answer.text()


async def test_page_of_another_site_puts_nothing_on_the_wall() -> None:
    async with classes() as (client, _, room):
        async with client.post(
            f"/class/secret/wall?scene={NEXT}", headers={**KNOWN, "Origin": "http://evil.test"}
        ) as no:
            assert no.status == 403
        assert room._shown is None


async def test_wall_shows_what_the_teacher_puts_there_and_nothing_else() -> None:
    async with classes() as (client, _, room):
        room.roster.arrive("a")
        room.roster.answer("a", NEXT, "J4", True)
        async with client.get("/wall/word") as answer:
            assert await answer.json() == {"best": []}
        async with client.post(f"/class/secret/wall?scene={NEXT}") as answer:
            assert await answer.json() == {"shown": NEXT}
        async with client.get("/wall/word") as answer:
            told = await answer.json()
        assert told["bars"][1] == {"label": "J4", "count": 1, "right": True}
        assert "students" not in told
        for bad in ("", "0", "999", "-1", "x", "²"):
            async with client.post(f"/class/secret/wall?scene={bad}") as answer:
                assert await answer.json() == {"shown": None}


async def common_of(fork_server: FakeForkServer) -> Process:
    process = await fork_server.born.get()
    assert await process.heard_of(b"M") == {"type": "whole"}
    return process


async def wall_of(common: Process) -> str:
    while (told := await common.heard_of(b"M"))["type"] != "wall":
        pass
    return str(told["text"])


async def test_watchers_answers_are_judged() -> None:
    async with classes(present=(60, 18)) as (client, fork_server, _), client.ws_connect("/ws/chalk"):
        common = await common_of(fork_server)
        async with (
            client.ws_connect(f"/ws/word?visit={KEYS[0]}") as one,
            client.ws_connect(f"/ws/word?visit={KEYS[1]}") as two,
        ):
            assert [list(await heard(page)) for page in (one, two)] == [["title"], ["title"]]
            common.tell(type="stands", scene=NEXT, open=True)
            told = await heard(one)
            assert (told["asks"], [choice["label"] for choice in told["choices"]]) == (
                "Which job starts next?", ["J3", "J4", "J5", "J6"],
            )  # fmt: skip
            await heard(two)
            await one.send_json(["answer", EVIL])
            assert "none of" in (await heard(one))["told"]
            for page, typed in ((one, "5"), (one, "4"), (two, "3")):
                await page.send_json(["answer", typed])
                assert "Your answer is J" in (await heard(page))["told"]
            assert [bar["count"] for bar in (await seen(client))["question"]["bars"]] == [1, 1, 0, 0]
            async with client.post(f"/class/secret/wall?scene={NEXT}"):
                pass
            assert json.loads(await wall_of(common))["answered"] == 2
            common.tell(type="stands", scene=NEXT, open=False)
            assert (await heard(one))["right"] is True
            wrong = await heard(two)
            assert wrong["right"] is False
            assert wrong["told"].startswith("Not J3.")


async def test_bars_are_judged_at_the_second_press() -> None:
    async with classes(present=(60, 18)) as (client, fork_server, room), client.ws_connect("/ws/chalk"):
        room.address = "http://class.test/"
        common = await common_of(fork_server)
        async with client.ws_connect(f"/ws/word?visit={KEYS[0]}") as page:
            await heard(page)
            common.tell(type="wall")  # without a question
            assert json.loads(await wall_of(common)) == {"address": "http://class.test/", "here": 1}
            common.tell(type="stands", scene=NEXT, open=True)
            assert (await heard(page))["open"]
            await page.send_json(["answer", "5"])
            assert "Your answer is J5" in (await heard(page))["told"]
            common.tell(type="wall")
            told: dict[str, Any] = {}
            while told.get("answered") != 1:
                told = json.loads(await wall_of(common) or "{}")
            assert told["bars"][1:3] == [{"label": "J4", "count": 0}, {"label": "J5", "count": 1}]
            assert told["told"] == ""
            async with client.get("/wall/word") as answer:
                assert "right" not in await answer.text()
            common.tell(type="wall")
            verdict = await heard(page)
            assert (verdict["right"], verdict["told"][:7]) == (False, "Not J5.")
            assert json.loads(await wall_of(common))["bars"][1]["right"] is True
            await page.send_json(["answer", "4"])  # too late
            assert (await heard(page))["right"] is False
            common.tell(type="wall")
            assert await wall_of(common) == ""
            assert [bar["count"] for bar in room.roster.tally(NEXT)] == [0, 0, 1, 0]


async def test_watcher_who_reloads_has_the_question_and_the_answer_again() -> None:
    async with classes(present=(60, 18)) as (client, fork_server, _), client.ws_connect("/ws/chalk"):
        common = await common_of(fork_server)
        async with client.ws_connect(f"/ws/word?visit={KEYS[0]}") as page:
            await heard(page)
            common.tell(type="stands", scene=NEXT, open=True)
            await heard(page)
            await page.send_json(["answer", "4"])
            await heard(page)
        async with client.ws_connect(f"/ws/word?visit={KEYS[0]}") as page:
            again = await heard(page)
            assert (again["open"], again["told"].split(".")[0]) == (True, "Your answer is J4")
        told = await seen(client)
        assert len(told["students"]) == 1


async def test_best_games_are_told_to_every_process() -> None:
    async with classes() as (client, fork_server, _), client.ws_connect(f"/ws/word?visit={KEYS[0]}"):
        process = await fork_server.born.get()
        process.tell(type="score", mean=60, worst=120)
        assert json.loads((await process.heard_of(b"M"))["text"]) == [{"name": "student 1", "mean": 60, "worst": 120}]
        async with client.ws_connect(f"/ws/word?visit={KEYS[1]}"):
            assert (await fork_server.born.get()).told["best"][0]["mean"] == 60


def plain_game() -> GamePage:
    return GamePage(Game(afternoon(Source("lublin-128").read()[1], 1, 2)))


async def test_plain_page_needs_no_process_and_goes_on_after_a_reload() -> None:
    async with classes(plain=plain_game) as (client, fork_server, room):
        async with client.get("/?token=word") as page:
            assert 'data-websocket="ws://class.test/ws/word"' in await page.text()
            assert "unsafe-inline" not in page.headers["Content-Security-Policy"]
        async with client.get("/?token=word&terminal=1") as page:
            assert "textual-terminal" in await page.text()
        async with client.ws_connect(f"/ws/word?plain=1&visit={KEYS[0]}") as page:
            await page.send_json(["name", EVIL])
            (first,) = (await heard(page))["choices"]
            await page.send_json(["answer", first["key"]])
            assert (await heard(page))["told"] == f"{first['label']} starts."
        async with client.ws_connect(f"/ws/word?plain=1&visit={KEYS[0]}") as page:
            view = await heard(page)
            assert view["told"] == f"{first['label']} starts."
            while "again" not in dict(view["moves"]):
                fitting = [choice["key"] for choice in view["choices"] if choice["fits"]]
                await page.send_json(["answer", fitting[0]] if fitting else ["move", "wait"])
                view = await heard(page)
            assert any(EVIL in span[0] for _, spans in view["text"] for span in spans)
        assert room.roster.best()[0]["name"] == EVIL
        assert fork_server.born.empty()


async def test_plain_page_of_the_common_screen_shows_the_scene_and_marks_the_answer() -> None:
    async with classes(present=(60, 18), plain=plain_game) as (client, fork_server, _), client.ws_connect("/ws/chalk"):
        common = await common_of(fork_server)
        async with client.ws_connect(f"/ws/word?plain=1&visit={KEYS[0]}") as page:
            await heard(page)
            common.tell(type="stands", scene=0, open=False)
            told = await heard(page)
            assert (told["title"], told["text"][0][1][1]) == ("Standing in line", ["fcfs", "strong"])
            assert "asks" not in told
            common.tell(type="stands", scene=NEXT, open=True)
            await heard(page)
            await page.send_json(["answer", "4"])
            assert [choice["chosen"] for choice in (await heard(page))["choices"]] == [False, True, False, False]
            await page.send_json(["move", "next"])  # the presenter moves
            common.tell(type="stands", scene=NEXT, open=False)
            told = await heard(page)
            assert [choice["right"] for choice in told["choices"]] == [False, True, False, False]
            assert (told["right"], told["then"][0][0]) == (True, False)


async def test_wall_has_address_code_and_qr_code() -> None:
    async with classes() as (client, _, room):
        room.address = "http://class.test/?token=maple-river-42<b>"
        async with client.get("/wall?token=word") as page:
            text = await page.text()
        assert "http://class.test<br /><b>maple-river-42&lt;b&gt;</b>" in text
        assert 'src="data:image/svg+xml' in text
        async with client.get("/wall?token=maple-river-42") as page:
            assert page.status == 403


HOSTILE = "=HYPERLINK(1)\x1b[2J<b>[bold]\n"


async def test_hostile_name_stays_text_for_teacher_table_and_game() -> None:
    async with classes() as (client, fork_server, room), client.ws_connect(f"/ws/word?visit={KEYS[0]}") as page:
        process = await fork_server.born.get()
        await page.send_json(["name", HOSTILE])
        shown = "=HYPERLINK(1)?[2J<b>[bold]"
        await until(lambda: [each["name"] for each in room.roster.students()] == [shown])
        process.tell(type="score", mean=60, worst=120)
        best = json.loads((await process.heard_of(b"M"))["text"])
        assert [each["name"] for each in (await seen(client))["students"]] == [shown]
        assert best[0]["name"] == shown
        async with client.get("/class/secret/answers.csv") as answer:
            assert f"1,'{shown},".encode() in await answer.read()
        drawn = [line.text for line in result([GameScore("you", 60, 120, "J1")], [], 80, best_of(best))]
        assert any(shown[:15] in text for text in drawn)
        assert not any("\x1b" in text for text in drawn)


@pytest.mark.parametrize(
    "message", [["name", 7], ["name", None], ["answer", {"a": 1}], ["answer"], "name", [], 7, None]
)
async def test_message_of_another_kind_changes_nothing(message: object) -> None:
    async with classes() as (client, fork_server, room), client.ws_connect(f"/ws/word?visit={KEYS[0]}") as page:
        await fork_server.born.get()
        await page.send_json(message)
        await page.send_json(["ping", 1])
        assert (await page.receive()).json() == ["pong", 1]
        assert [each["name"] for each in room.roster.students()] == ["student 1"]


@pytest.mark.parametrize("visit", ["", "x", "../../etc/passwd", "<b>" * 10, "a" * 65, "%00" * 20])
async def test_address_with_another_kind_of_visit_is_a_visit_without_a_place(visit: str) -> None:
    async with classes() as (client, fork_server, room):
        async with client.ws_connect("/ws/word", params={"visit": visit, "width": "1e99", "height": "x"}):
            assert (await fork_server.born.get()).told == {"columns": 80, "rows": 24}
        assert room.roster.students() == []


def test_pages_set_everything_as_text() -> None:
    folder = Path(classroom.__file__).parent
    code = "".join(path.read_text(encoding="utf-8") for path in folder.glob("*.js"))
    assert "textContent" in code
    ways = "innerHTML|outerHTML|insertAdjacentHTML|document.write|eval(|new Function|setAttribute"
    for way in ways.split("|"):
        assert way not in code, way
    pages = "".join(path.read_text(encoding="utf-8") for path in folder.glob("*.html"))
    assert " on" not in re.sub(r">[^<]*<", "><", pages)  # no handler in a tag
