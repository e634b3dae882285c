"""Class of a lesson or a game: the answers of its students, the teacher's view, and the wall (a page that shows the
answers to all).

The teacher's view is opened with a token of its own, which no page of a student or of the wall contains.
"""

from __future__ import annotations

import hmac
import io
import json
import secrets
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from html import escape
from pathlib import Path
from typing import Any

from aiohttp import web

from sim.support.errors import SchedscopeError
from sim.support.files import write_rows
from tui.classroom.web.access import Door
from tui.classroom.web.codes import parts_of, qr_picture
from tui.classroom.web.plain_pages import scene_view
from tui.classroom.web.roster import LONGEST_ANSWER, Roster, text_of
from tui.classroom.web.scene_pictures import ScenePictures

_HERE = Path(__file__).parent
JOIN = -1
Tell = Callable[[str], Awaitable[None]]
"""Function that sends a text to the common screen or to the visitors' processes"""


async def _tell_nobody(text: str) -> None:
    return None


class Classroom:
    """Class of students, with or without a common screen (the presenter's, which all watch)."""

    def __init__(
        self, roster: Roster, title: str = "", word: str | None = None, pictures: ScenePictures | None = None
    ) -> None:
        self.roster, self.title, self._pictures = roster, title, pictures
        self.word = word or secrets.token_urlsafe(18)
        self.tell_wall: Tell = _tell_nobody
        """Function that sends the content of the wall to the common screen; "" clears the wall."""
        self.tell_all: Tell = _tell_nobody
        self._pages: dict[web.WebSocketResponse, str] = {}
        self._watching: set[web.WebSocketResponse] = set()
        """Pages that show the common screen (the presenter's screen, which all watch)."""
        self._common: dict[str, Any] = {}
        """Last report of the common screen: its scene and its question; empty before the first."""
        self.address = ""
        self._shown: int | None = None
        """Index of the scene whose answers are on the wall; `JOIN`: only the address; None: empty."""
        self._known: set[int] = set()
        """Indices of the scenes whose right answers have been shown; answers to them can no longer be changed."""

    # Pages come and go

    async def enter(self, page: web.WebSocketResponse, key: str, watches: bool) -> None:
        """Add a page, which shows the visit `key`; if it `watches` the common screen, send it the open question."""
        self._pages[page] = key
        self.roster.arrive(key)
        if watches:
            self._watching.add(page)
            self.roster.stand(key, self._common.get("scene"))
            await self._ask(page)
        await self._changed()

    def go_alone(self, page: web.WebSocketResponse) -> None:
        self._watching.discard(page)

    def go(self, page: web.WebSocketResponse) -> None:
        self._watching.discard(page)
        if (key := self._pages.pop(page, None)) is not None:
            self.roster.leave(key)

    async def hear(self, page: web.WebSocketResponse, kind: str, about: object) -> bool:
        """Handle a message from a page. Return True if its kind is a name or an answer, else do nothing."""
        key = self._pages.get(page)
        if kind == "name":
            if key is not None and isinstance(about, str):
                self.roster.call(key, about)
                await self._changed()
            return True
        if kind == "answer" and page in self._watching:
            if key is not None and isinstance(about, str):
                await self._take(page, key, about)
            return True
        return False

    async def _take(self, page: web.WebSocketResponse, key: str, typed: str) -> None:
        scene = self._open
        if scene is None:
            await self._ask(page)
            return
        try:
            self.roster.judge(key, scene, typed)
        except SchedscopeError as error:
            await send(page, {"told": text_of(str(error), 4 * LONGEST_ANSWER), "open": True})
            return
        await self._ask(page)
        await self._changed()

    # Processes report

    async def note(self, key: str, told: Mapping[str, Any]) -> None:
        if told.get("type") == "score":
            self.roster.score(key, told.get("mean"), told.get("worst"))
            await self.tell_all(json.dumps(self.roster.best()))
            return
        self.roster.stand(key, told.get("scene"))
        if given := told.get("given"):
            self.roster.answer(key, told.get("scene"), str(given), told.get("right") is True)
        await self._changed()

    async def note_common(self, told: Mapping[str, Any]) -> None:
        if told.get("type") == "wall":
            await self._turn_wall(told.get("closed") is True)
            return
        was, self._common = self._common, dict(told)
        if was and was.get("scene") != told.get("scene"):
            await self.show(None)
        for page in self._watching:
            self.roster.stand(self._pages[page], told.get("scene"))
        for page in [*self._watching]:
            await self._ask(page)

    @property
    def _open(self) -> int | None:
        scene = self._common.get("scene")
        is_open = self._common.get("open") is True and scene not in self._known
        return scene if isinstance(scene, int) and is_open else None

    async def _ask(self, page: web.WebSocketResponse) -> None:
        """Send a page the scene with its question or, if the answer has been shown, whether the student was right."""
        scene, key, scenes = self._common.get("scene"), self._pages[page], self.roster.scenes
        if not isinstance(scene, int) or not 0 <= scene < len(scenes):
            await send(page, {"title": "The lesson begins soon."})
            return
        given, is_open, question = self.roster.given(key, scene), self._open is not None, scenes[scene].question
        label = "" if given is None else given.label
        view = {**scene_view(scenes[scene], not is_open, label, self._pictures), "open": is_open}
        if is_open:
            view["told"] = f"Your answer is {label}. It can be changed until the answer is shown." if label else ""
        elif (verdict := self.roster.verdict(key, scene)) is not None:
            view |= {"told": verdict.told, "right": verdict.is_right}
        elif question is not None:
            view["told"] = question.told
        await send(page, view)

    # The wall

    async def show(self, scene: int | None, known: bool = True) -> None:
        """Show answers on the wall (`JOIN`: the address, None: nothing); with `known` also the right ones."""
        is_new = scene is not None and known and scene not in self._known and self.roster.question(scene) is not None
        if scene == self._shown and not is_new:
            return
        self._shown = scene
        if scene is not None and is_new:
            self._known.add(scene)
            for page in [*self._watching]:
                await self._ask(page)
        await self._changed(is_new=True)

    async def _turn_wall(self, closed: bool) -> None:
        """Show the next state of the wall: the answers (or the address), then which of them are right, then nothing."""
        scene = self._common.get("scene")
        asked = scene if isinstance(scene, int) and self.roster.question(scene) is not None else JOIN
        if closed or (self._shown is not None and (asked == JOIN or asked in self._known)):
            await self.show(None)
        else:
            await self.show(asked, known=self._shown == asked or self._common.get("open") is not True)

    @property
    def on_wall(self) -> dict[str, Any]:
        """Return the content of the wall; right answers are marked once the teacher has shown them."""
        found = self.roster.asked(self._shown)
        if found and self._shown not in self._known:
            bars = [{"label": bar["label"], "count": bar["count"]} for bar in found["bars"]]
            found = {**found, "told": "", "bars": bars}
        return found

    async def _changed(self, is_new: bool = False) -> None:
        """Send the content of the wall to its screens; an empty one only with `is_new` (the wall was just cleared)."""
        if is_new or self._shown is not None:
            here = sum(each["here"] for each in self.roster.students())
            shown = {**self.on_wall, "address": self.address, "here": here}
            await self.tell_wall("" if self._shown is None else json.dumps(shown))

    # The teacher's pages

    def routes(self, door: Callable[[], Door]) -> list[web.RouteDef]:
        self._door = door
        return [
            web.get("/teacher", self._teacher),
            web.get("/class/{word}", self._class),
            web.get("/class/{word}/answers.csv", self._table),
            web.post("/class/{word}/wall", self._put_on_wall),
            web.get("/wall", self._wall_page),
            web.get("/wall/{word}", self._wall),
        ]

    def _check(self, word: str) -> None:
        if not hmac.compare_digest(word.encode("utf-8", "replace"), self.word.encode()):
            raise web.HTTPForbidden(text="the teacher's link is not complete: its token is missing or another one")

    async def _teacher(self, request: web.Request) -> web.Response:
        self._check(request.query.get("token", ""))
        return page_of("teacher.html")

    async def _class(self, request: web.Request) -> web.Response:
        self._check(request.match_info["word"])
        roster, wanted = self.roster, _scene_of(request)
        scene = self._present if wanted is None else wanted
        students = roster.students()
        return web.json_response(
            {
                "lesson": self.title, "seconds": round(roster.seconds), "scenes": roster.where(),
                "students": students, "here": sum(each["here"] for each in students),
                "question": roster.asked(scene), "shown": self._shown, "best": roster.best(),
                "notes": roster.scenes[scene].notes if scene is not None and scene < len(roster.scenes) else "",
            }
        )  # fmt: skip

    @property
    def _present(self) -> int | None:
        """Return the scene whose question matters: the common screen's or else that with most students; or None."""
        scene = self._common.get("scene")
        if isinstance(scene, int) and self.roster.question(scene) is not None:
            return scene
        return self.roster.usual

    async def _table(self, request: web.Request) -> web.Response:
        self._check(request.match_info["word"])
        return web.Response(
            text=self.table(), content_type="text/csv",
            headers={"Content-Disposition": 'attachment; filename="answers.csv"'},
        )  # fmt: skip

    def table(self) -> str:
        file = io.StringIO()
        write_rows(file, ([("" if cell is None else cell) for cell in row] for row in self.roster.rows()))
        return file.getvalue()

    async def _put_on_wall(self, request: web.Request) -> web.Response:
        self._check(request.match_info["word"])
        if not self._door().knows_origin(request.headers):
            raise web.HTTPForbidden(text="requested by a page of another site")
        scene = _scene_of(request)
        await self.show(scene if scene is not None and self.roster.question(scene) is not None else None)
        return web.json_response({"shown": self._shown})

    async def _wall_page(self, request: web.Request) -> web.Response:
        self._may_see(request.query.get("token", ""))
        address, code = map(escape, parts_of(self.address))
        return page_of("wall.html", address=address, code=code, qr=qr_picture(self.address))

    async def _wall(self, request: web.Request) -> web.Response:
        self._may_see(request.match_info["word"])
        return web.json_response({**self.on_wall, "best": self.roster.best()})

    def _may_see(self, word: str) -> None:
        if not self._door().opens(word):
            raise web.HTTPForbidden(text="the link is not complete: its token is missing or another one")


def _scene_of(request: web.Request) -> int | None:
    wanted = request.query.get("scene", "")
    return int(wanted) if wanted.isdecimal() and len(wanted) < 4 else None


def page_of(name: str, **values: object) -> web.Response:
    """Return a page of this folder with these values, which are HTML, in place of their names in braces."""
    page = (_HERE / name).read_text(encoding="utf-8").format(**values)
    return web.Response(text=page, content_type="text/html")


async def send(page: web.WebSocketResponse, told: Mapping[str, Any]) -> None:
    with suppress(ConnectionError, RuntimeError):
        await page.send_json(["class", told])
