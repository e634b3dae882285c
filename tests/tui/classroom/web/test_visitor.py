"""Also tests tui.classroom.web.serving, tui.classroom.cli.serve."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from textual._xterm_parser import XTermParser
from textual.drivers.web_driver import WebDriver
from textual.events import Key
from textual.message import Message

from sim.classroom.lessons.lesson_file import found_lesson
from sim.policies import parse_policy
from sim.session.session import parsed, session_text
from sim.session.sources import session_of
from sim.support.errors import ParameterError
from sim.workload.replay import replay_of
from sim.workload.source import Source
from tests.conftest import ROOT
from tests.sim.workload.test_replay import recorded
from tests.tui.cli.program import PROGRAM, error
from tests.tui.replays import Replay
from tui.app import Guest, Schedscope
from tui.classroom.guide import walk_of
from tui.classroom.opening import lesson_opening
from tui.classroom.web.visitor import ServerResources, Visit, VisitorDriver
from tui.look.palette import LOOKS
from tui.replay.opening import Opening, opening_of
from tui.screens.first.screen import FirstScreen

aiohttp = pytest.importorskip("aiohttp", reason="aiohttp is missing: pip install 'schedscope[web]'")
pytest.importorskip("textual_serve", reason="textual_serve is missing: pip install 'schedscope[web]'")

SEALED = """
import os, socket, sqlite3, subprocess, sys
from pathlib import Path
from tui.classroom.web.visitor import seal
from sim.policies import parse_policy
seal((sys.argv[1],))
def tried(what):
    try:
        what()
    except Exception as error:
        print(type(error).__name__)
    else:
        print("done")
tried(lambda: open(sys.argv[1]).read())
tried(lambda: open("/etc/hostname").read())
tried(lambda: open(sys.argv[3]).read())
tried(lambda: open(sys.argv[2], "w"))
tried(lambda: open(sys.argv[1], "a"))
tried(lambda: os.listdir("/etc"))
tried(lambda: os.open(sys.argv[1], os.O_TRUNC))
tried(lambda: os.mkfifo(sys.argv[2]))
tried(lambda: os.mknod(sys.argv[2]))
tried(lambda: sqlite3.connect(sys.argv[2]))
tried(lambda: os.utime(sys.argv[1]))
tried(lambda: os.kill(os.getppid(), 0))
tried(lambda: os.remove(sys.argv[1]))
tried(lambda: subprocess.run(["true"]))
tried(lambda: os.system("true"))
tried(lambda: socket.create_connection(("127.0.0.1", 9)))
tried(lambda: parse_policy("./own.py"))
tried(lambda: parse_policy("os.path:Own"))
tried(lambda: parse_policy("easy:order=sjf"))
tried(lambda: bytearray(2 << 30))
"""


def test_a_visitors_process_reaches_nothing_but_its_traces(tmp_path: Path) -> None:
    trace = tmp_path / "x.swf"
    trace.write_text("; MaxProcs: 4\n")
    done = subprocess.run(
        [sys.executable, "-c", SEALED, str(trace), str(tmp_path / "y"), str(ROOT / "pyproject.toml")],
        capture_output=True, text=True, check=True
    )  # fmt: skip
    assert done.stdout.split() == [
        "done",
        *["PermissionError"] * 15,
        "OwnCodeError",
        "OwnCodeError",
        "done",
        "MemoryError",
    ]
    assert [path.name for path in tmp_path.iterdir()] == ["x.swf"]


def test_students_read_the_names_that_partitions_have_in_the_chart() -> None:
    there = ServerResources.of((lesson_opening(found_lesson("ls-own-queue")),)).classroom(answers=True)
    assert there is not None
    there.roster.arrive("a")
    there.roster.judge("a", 2, "J4")
    verdict, asked = there.roster.verdict("a", 2), there.roster.question(2)
    assert asked is not None
    assert verdict is not None
    assert "first in short's queue" in verdict.told
    assert "first in short's queue" in asked.told


def test_a_served_recording_has_its_limits_and_weights(tmp_path: Path) -> None:
    source = recorded(tmp_path / "week.slog")
    shared = ServerResources.of((opening_of(source, parse_policy("slurm")),))
    assert shared.first is not None
    assert shared.first.timeline.branch.engine.moment.policy.startswith("slurm:age=500")
    assert shared.first.opening.policy == shared.first.timeline.policy
    assert shared.first.timeline.workload.limits is not None
    again = Visit(shared).prepare(opening_of(source, parse_policy("conservative")))
    assert again.timeline.workload.limits is None


def test_typed_reports_of_a_size_do_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    passed = list[Message]()
    monkeypatch.setattr(WebDriver, "process_message", lambda driver, message: passed.append(message))
    driver = VisitorDriver.__new__(VisitorDriver)
    for message in XTermParser().feed("\x1b[48;20000;20000;0;0t" + "a"):
        driver.process_message(message)
    assert [type(message) for message in passed] == [Key]


async def drawn(socket: Any, what: bytes, seconds: float = 30) -> bytes:
    """Receive until the text `what` was drawn; return everything received."""
    seen = b""
    async with asyncio.timeout(seconds):
        while what not in seen:
            message = await socket.receive()
            if message.type == aiohttp.WSMsgType.BINARY:
                seen += message.data
            elif message.type == aiohttp.WSMsgType.TEXT:
                seen += message.data.encode()
            else:
                raise AssertionError(f"it has ended: {seen[-300:]!r}")
    return seen


async def test_a_visitor_sees_the_replay_plays_it_and_saves_where_it_stands() -> None:
    environ = {**os.environ, "NO_COLOR": "1"}
    program = subprocess.Popen(
        [*PROGRAM, "serve", "z-figure4", "--port", "0"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env=environ,
    )  # fmt: skip
    try:
        assert program.stdout is not None
        base, _, word = (await asyncio.to_thread(program.stdout.readline)).strip().partition("/?token=")
        async with aiohttp.ClientSession(headers={"Origin": base}) as client:
            async with client.ws_connect(f"{base}/ws/{word}?width=100&height=30") as socket:
                await drawn(socket, b"z-figure4")
                await socket.send_json(["stdin", "\x1b[C"])
                await drawn(socket, b"step")
                await socket.send_json(["stdin", "s"])
                told = await drawn(socket, b"deliver_file_start")
                key = told.rpartition(b'"deliver_file_start", "')[2].partition(b'"')[0].decode()
                async with client.get(f"{base}/download/{key}") as answer:
                    assert (await answer.text()).startswith("schedscope session 1")
            async with client.ws_connect(f"{base}/ws/{word}") as socket:  # after one that was cut another comes
                await drawn(socket, b"z-figure4")
        program.send_signal(signal.SIGINT)
        assert program.wait(20) == 0
    finally:
        program.kill()
        program.communicate()


async def test_solved_puzzle_of_a_visitor_is_on_the_wall() -> None:
    program = subprocess.Popen(
        [*PROGRAM, "serve", "--tasks", "--port", "0"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "NO_COLOR": "1"},
    )  # fmt: skip
    try:
        assert program.stdout is not None
        base, _, code = (await asyncio.to_thread(program.stdout.readline)).strip().partition("/?token=")
        async with (
            aiohttp.ClientSession(headers={"Origin": base}) as client,
            asyncio.timeout(60),
            client.get(f"{base}/?token={code}") as page,
            client.ws_connect(f"{base}/ws/{code}?width=100&height=30&visit={'a' * 16}") as socket,
        ):
            await drawn(socket, b"Not yet")
            await socket.send_json(["stdin", "n"])
            best, wall = list[object](), f"{base}/wall/{page.url.query['token']}"
            while not best:
                async with client.get(wall) as answer:
                    best = (await answer.json())["best"]
            assert best == [{"name": "student 1", "solved": "1"}]
    finally:
        program.kill()
        program.communicate()


async def test_visitor_opens_only_offered_traces() -> None:
    source = Source("z-figure4")
    visit = Visit(ServerResources((), {source: replay_of(source)}, None))
    assert visit.prepare(Opening(source, parse_policy("easy"))).about.trace == "z-figure4"
    with pytest.raises(ParameterError, match="no such trace here"):
        visit.prepare(Opening(Source("/etc/passwd"), parse_policy("easy")))
    app = Schedscope(None, guest=Guest(LOOKS["dark"]))
    async with app.run_test(size=(100, 40)) as pilot:
        await pilot.pause()
        await pilot.press("o")
        assert isinstance(app.screen, FirstScreen)
        assert "a file" not in Replay(app, pilot).text
        app.exit()


@asynccontextmanager
async def visiting(opening: Opening, **how: Any) -> AsyncIterator[tuple[Replay, Visit]]:
    visit = Visit(ServerResources.of((opening,)), **how)
    async with visit.run_test(size=(100, 30)) as pilot:
        run = Replay(visit, pilot)
        await run.settle()
        yield run, visit
        visit.exit()


async def test_a_dropped_session_brings_its_moment_back() -> None:
    async with visiting(opening_of(Source("z-figure4"))) as (run, visit):
        await run.press("home", "right", "right")
        assert visit.session is not None
        text, step = session_text(visit.session), run.scene.snapshot.step
        await run.press("end")
        assert run.scene.snapshot.step != step
        visit._take(text)
        await run.wait_for(
            lambda: visit.replay is not None and visit.session is not None and visit.session.step == step
        )


@pytest.mark.parametrize("option", ["nodes = {!r}", "outage = '5..6; {}'"])
def test_a_session_does_not_learn_which_files_exist(option: str, tmp_path: Path) -> None:
    (tmp_path / "there.csv").write_text("from,to\n")
    text, visit = session_text(session_of(Source("z-figure4"), "easy")), Visit(ServerResources())
    for name in ("there.csv", "gone.csv"):
        typed = option.format(str(tmp_path / name)).replace("'", '"')
        session = parsed(text.replace("[run]", f"[options]\n{typed}\n[run]").encode(), "it")
        with pytest.raises(ParameterError, match="names a file of nodes or outages, and visitors read none"):
            visit._of_session(session)


@pytest.mark.parametrize(
    "text",
    ["", "x" * 999, "\x1b[31m", "schedscope session 1\n", "[bold]", 'schedscope session 1\ntrace = "/etc/passwd"'],
)
async def test_a_dropped_file_that_is_no_session_changes_nothing(text: str) -> None:
    async with visiting(opening_of(Source("z-figure4"))) as (run, visit):
        was = visit.opened
        visit._take(text)
        await run.wait_for(lambda: bool(visit._notifications))
        assert visit.opened is was
        assert all("\x1b" not in each.message for each in visit._notifications)


async def test_the_place_of_an_earlier_visit_is_offered() -> None:
    opening = lesson_opening(found_lesson("backfilling"))
    place = {"scene": 2, "answers": [[2, True], "x", [99, False]]}
    async with visiting(opening, offer=place) as (run, visit):
        assert "Continue where you were?" in run.text
        await run.press("c")
        walk = walk_of(visit.replay.state.guide) if visit.replay else None
        assert walk is not None
        assert (walk.index, walk.answers) == (2, ((2, True),))
        assert visit.place() == {"scene": 2, "answers": ((2, True),)}


async def test_only_the_lesson_of_the_class_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[object] = []
    monkeypatch.setattr(Visit, "report", lambda self, **values: told.append(values["scene"]))
    last = found_lesson("backfilling").count - 1
    async with visiting(lesson_opening(found_lesson("backfilling"), last)) as (run, visit):
        assert told == [last]
        await run.pilot.press("space")
        await run.wait_for(lambda: "A workload in a line" in run.text)
        await run.settle()
        assert (told, "scene" in visit.place()) == ([last], False)


def test_what_cannot_be_served_is_reported_in_one_line() -> None:
    assert "only the built-in policies" in error("serve", "z-figure4", "--policy", "./own.py")[1]
    assert "leave out TRACE" in error("serve", "z-figure4", "--lesson", "x")[1]
    assert "--tasks takes no TRACE" in error("serve", "z-figure4", "--tasks")[1]
    assert "no such file" in error("serve", "nothing-there.swf")[1]


SHORT_LIVED = """
import asyncio, os, sys
from tui.classroom.web.fork_server import ForkServer
fork_server = ForkServer(lambda told: os.write(1, b"__GANGLION__\\n"))
async def visited():
    child = await fork_server.start({})
    for _ in range(1000):
        if not os.path.exists(f"/proc/{child.pid}"):
            return print("reaped")
        await asyncio.sleep(0.01)
asyncio.run(visited())
fork_server.close()
"""


@pytest.mark.skipif(not Path("/proc").exists(), reason="processes are looked for in /proc")
def test_a_visit_that_ends_is_reaped_without_an_order() -> None:
    done = subprocess.run([sys.executable, "-c", SHORT_LIVED], capture_output=True, text=True, timeout=60, check=False)
    assert (done.stdout, done.stderr) == ("reaped\n", "")
