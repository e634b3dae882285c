"""A class in real browsers: a teacher, a wall and students, of whom some are reloaded, closed or lose their network.

    python -m tests.benchmarks.rehearsal FOLDER [5] [--present | --terminal] [--cut 60]

It needs `pip install playwright` and a Chromium (`--chromium PATH`). FOLDER gets pictures of the pages. It ends with an
error if anything is lost.
"""

import argparse
import asyncio
import json
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from time import monotonic
from typing import Any
from urllib.request import urlopen

from tests.tui.terminals import terminal as in_terminal

CODE = re.compile(rb"[a-z]+-[a-z]+-\d\d")
HOSTILE = "<img src=x onerror=alert(1)>\x1b[2J=1+1"
QUESTION = 2
"""Number of the scene with the first question in the lesson that is rehearsed."""
LONGEST_WAIT = 90.0


class Line:
    """Network connection to the server, through a proxy that can cut it to imitate a lost network."""

    def __init__(self, port: int) -> None:
        self.port, self.is_cut = port, False
        self._writers: set[asyncio.StreamWriter] = set()

    async def begin(self, at: int) -> None:
        self.server = await asyncio.start_server(self._serve, "127.0.0.1", at)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.is_cut:
            writer.transport.abort()
            return
        far_reader, far = await asyncio.open_connection("127.0.0.1", self.port)
        self._writers |= {writer, far}
        await asyncio.gather(_copy(reader, far), _copy(far_reader, writer))

    def cut(self) -> None:
        self.is_cut = True
        for writer in self._writers:
            writer.transport.abort()
        self._writers.clear()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError):
        while data := await reader.read(2**16):
            writer.write(data)
            await writer.drain()
    writer.close()


class Class:
    """A class: the server in a process of its own, its links for student, teacher and wall, and what the teacher
    sees."""

    def __init__(self, *more: str) -> None:
        self.port, self.other = free_port(), free_port()
        command = [sys.executable, "-m", "tui.cli.main", "serve", "--lesson", "backfilling", "--teacher"]
        public = ["--port", f"{self.port}", "--public", f"http://127.0.0.1:{self.other}"]
        self.server = subprocess.Popen([*command, *public, *more], stdout=subprocess.PIPE, text=True)
        assert self.server.stdout is not None
        near = f"http://127.0.0.1:{self.port}"
        told = [self.server.stdout.readline().split() for _ in range(4 if "--present" in more else 3)]
        links = [words[0].replace(f"http://127.0.0.1:{self.other}", near) for words in told]
        self.student, self.teacher, self.wall = links[0], links[-2], links[-1]
        self.presenter = links[1] if "--present" in more else None
        self.far = self.student.replace(near, f"http://127.0.0.1:{self.other}")

    def seen(self) -> dict[str, Any]:
        base, _, word = self.teacher.partition("/teacher?token=")
        with urlopen(f"{base}/class/{word}?scene={QUESTION}") as answer:
            found: dict[str, Any] = json.load(answer)
        return found

    async def until(self, holds: Callable[[dict[str, Any]], bool], what: str) -> dict[str, Any]:
        began = monotonic()
        while not holds(seen := await asyncio.to_thread(self.seen)):
            if monotonic() - began > LONGEST_WAIT:
                raise SystemExit(f"{what}: not after {LONGEST_WAIT:.0f} s; the teacher sees {json.dumps(seen)[:1500]}")
            await asyncio.sleep(0.3)
        print(f"{what}: after {monotonic() - began:.1f} s", flush=True)
        return seen


def free_port() -> int:
    with socket.socket() as made:
        made.bind(("127.0.0.1", 0))
        return int(made.getsockname()[1])


def answers(seen: dict[str, Any]) -> dict[str, int]:
    return {bar["label"]: bar["count"] for bar in seen["question"]["bars"]}


async def rehearse(browser: Any, given: argparse.Namespace, folder: Path) -> None:
    if given.terminal:
        await terminal(browser, given, folder)
        return
    room = Class(*(["--present"] if given.present else []))
    line = Line(room.port)
    await line.begin(room.other)
    try:
        await (present if given.present else alone)(browser, room, line, given, folder)
    finally:
        room.server.send_signal(signal.SIGINT)
        room.server.wait(20)


async def opened(browser: Any, link: str, name: str = "", shows: str = "#title:not(:empty)") -> Any:
    """Open `link` in a new browser session, on a phone; return the page, with `name` typed if it is given."""
    context = await browser.new_context(viewport={"width": 390, "height": 844})
    page = await context.new_page()
    page.on("dialog", lambda dialog: sys.exit(f"a name was run: {dialog.message}"))
    await page.goto(link)
    await page.wait_for_selector(shows, state="attached")
    if name:
        await page.fill("#name", name)
        await page.press("#name", "Tab")
    return page


async def go_on(page: Any) -> None:
    title = await page.text_content("#title")
    await page.click("#moves button:nth-child(2)")
    await page.wait_for_function("title => document.getElementById('title').textContent !== title", arg=title)


async def press(page: Any, *keys: str) -> None:
    await page.focus(".xterm-helper-textarea")
    for key in keys:
        await page.keyboard.press(key)


async def interrupt(pages: list[Any], line: Line, seconds: float) -> Any:
    """Reload the first page, close the second and cut the network connection of the third. Return the second page's
    browser session."""
    await pages[0].reload()
    browser = pages[1].context
    await pages[1].close()
    line.cut()
    print(f"one is reloaded, one is closed, one has no network for {seconds:.0f} s", flush=True)
    return browser


async def returned(browser: Any, line: Line, link: str) -> Any:
    """Restore the network connection, and return a new page on which the student of this browser session continues."""
    line.is_cut = False
    page = await browser.new_page()
    await page.goto(link)
    await page.click("#who button:nth-of-type(1)")
    return page


async def alone(browser: Any, room: Class, line: Line, given: argparse.Namespace, folder: Path) -> None:
    """Rehearse a class in which every student has a lesson of their own."""
    count = given.students
    names = ["Ada", HOSTILE, *[""] * count][:count]
    pages = [await opened(browser, room.far if number == 2 else room.student, names[number]) for number in range(count)]
    teacher, wall = await opened_plain(browser, room.teacher), await opened_plain(browser, room.wall)
    await room.until(lambda seen: seen["here"] == count, f"{count} students are there")
    await asyncio.sleep(given.settle)
    for page in pages:
        await go_on(page)
        await go_on(page)
    await room.until(lambda seen: seen["scenes"][QUESTION]["here"] == count, "all are at the question")
    for number, page in enumerate(pages[:-1]):
        await page.click(f"#choices button:nth-child({2 + number % 2})")
    before = await room.until(lambda seen: sum(answers(seen).values()) == count - 1, "all but one have answered")
    await teacher.screenshot(path=folder / "teacher.png")
    await teacher.click("#wall")
    await wall.wait_for_selector(".-right")
    await asyncio.sleep(1)
    await wall.screenshot(path=folder / "wall.png")
    await pages[0].screenshot(path=folder / "before-reload.png")
    away = await interrupt(pages, line, given.cut)
    await room.until(lambda seen: seen["here"] == count - 2, "two are away")
    await asyncio.sleep(given.cut / 2)
    await pages[2].screenshot(path=folder / "no-network.png")
    await asyncio.sleep(given.cut / 2)
    pages[1] = await returned(away, line, room.student)
    after = await room.until(lambda seen: seen["here"] == count, "all are back")
    assert len(after["students"]) == count, "a student who came back counts as another one"
    assert answers(after) == answers(before), "an answer was lost"
    assert {each["name"] for each in after["students"]} == {each["name"] for each in before["students"]}
    for page in pages[:3]:
        await go_on(page)
    await room.until(lambda seen: seen["scenes"][QUESTION + 1]["here"] == 3, "the three go on from where they were")
    for number, page in enumerate(pages[:3]):
        await page.screenshot(path=folder / f"student-{number + 1}.png")
    await teacher.screenshot(path=folder / "teacher-after.png")
    print(f"answers {answers(after)}: nothing was lost")


async def present(browser: Any, room: Class, line: Line, given: argparse.Namespace, folder: Path) -> None:
    """Rehearse a class in which all see one screen, and answer in their own browsers."""
    count = given.students
    assert room.presenter is not None
    leader = await opened(browser, room.presenter, shows=".xterm-helper-textarea")
    names = ["Ada", HOSTILE, *[""] * count][:count]
    pages = [await opened(browser, room.far if number == 2 else room.student, names[number]) for number in range(count)]
    teacher = await opened_plain(browser, room.teacher)
    await room.until(lambda seen: seen["here"] == count, f"{count} students are there")
    await asyncio.sleep(given.settle)
    await press(leader, "Space", "Space")
    for number, page in enumerate(pages):
        await page.click(f"#choices button:nth-child({1 + number % 2})")
    before = await room.until(lambda seen: sum(answers(seen).values()) == count, "all have answered")
    await pages[0].screenshot(path=folder / "answered.png")
    await teacher.click("#wall")
    await asyncio.sleep(2)
    await leader.screenshot(path=folder / "common-wall.png")
    away = await interrupt(pages, line, given.cut)
    await asyncio.sleep(given.cut)
    pages[1] = await returned(away, line, room.student)
    after = await room.until(lambda seen: seen["here"] == count, "all are back")
    assert len(after["students"]) == count, "a student who came back counts as another one"
    assert answers(after) == answers(before), "an answer was lost"
    await teacher.click("#wall")
    await asyncio.sleep(1)
    await press(leader, "Space")
    for number, page in enumerate(pages[:3]):
        await page.wait_for_selector("#reply.-right, #reply.-wrong")
        await page.screenshot(path=folder / f"told-{number + 1}.png")
    print(f"answers {answers(after)}: nothing was lost, and all three were told whether they were right")


async def terminal(browser: Any, given: argparse.Namespace, folder: Path) -> None:
    """Rehearse a class in which the presenter's terminal is the common screen."""
    port, other, table = free_port(), free_port(), folder / "answers.csv"
    line = Line(port)
    await line.begin(other)
    served = ["--students", "--port", f"{port}", "--public", f"http://127.0.0.1:{other}", "--csv", str(table)]
    with in_terminal("present", "backfilling", "--scene", f"{QUESTION + 1}", *served) as screen:
        await asyncio.to_thread(screen.wait_for, lambda: CODE.search(bytes(screen.written)))
        found = CODE.search(bytes(screen.written))
        assert found is not None
        near, far = (f"http://127.0.0.1:{at}/?token={found[0].decode()}" for at in (port, other))
        names = ["Ada", HOSTILE, *[""] * given.students][: given.students]
        pages = [await opened(browser, far if number == 2 else near, name) for number, name in enumerate(names)]
        for number, page in enumerate(pages):
            await page.click(f"#choices button:nth-child({1 + number % 2})")
        told = f"{given.students} of {given.students} have answered".encode()
        screen.type(" I")
        await asyncio.to_thread(screen.wait_for, lambda: told in screen.written)
        await pages[0].screenshot(path=folder / "bars.png")
        away = await interrupt(pages, line, given.cut)
        await asyncio.sleep(given.cut)
        pages[1] = await returned(away, line, near)
        screen.type("I")
        for number, page in enumerate(pages[:3]):
            await page.wait_for_selector("#reply.-right, #reply.-wrong")
            await page.screenshot(path=folder / f"told-{number + 1}.png")
        screen.type(" q")
        code = await asyncio.to_thread(screen.wait)
    rows = table.read_text(encoding="utf-8").splitlines()[1:]
    assert (code, len(rows)) == (0, given.students), rows
    print(f"{len(rows)} answers in the table: nothing was lost, and all three were told whether they were right")


async def opened_plain(browser: Any, link: str) -> Any:
    page = await browser.new_page(viewport={"width": 1300, "height": 760})
    await page.goto(link)
    return page


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("students", type=int, nargs="?", default=5)
    parser.add_argument("--present", action="store_true")
    parser.add_argument("--terminal", action="store_true")
    parser.add_argument("--cut", type=float, default=60, metavar="SECONDS")
    parser.add_argument("--settle", type=float, default=5, metavar="SECONDS")
    parser.add_argument("--chromium", default="/usr/bin/chromium")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    from importlib import import_module

    async with import_module("playwright.async_api").async_playwright() as tool:
        browser = await tool.chromium.launch(executable_path=given.chromium)
        await rehearse(browser, given, given.folder)
        await browser.close()


if __name__ == "__main__":
    asyncio.run(main())
