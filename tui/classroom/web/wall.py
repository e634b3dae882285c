"""Wall: a screen with the answers of a class as bars, and the address and QR code with which students can answer. And
the base of programs in a class, which report their scene, send their screen, and show the wall.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar
from urllib.parse import urlsplit

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import Screen

from sim.classroom.lessons.walk import Walk
from sim.session.session import one_line
from sim.support.errors import SchedscopeError
from tui.app import Schedscope
from tui.classroom.guide import walk_of
from tui.classroom.play.screen import Sheet
from tui.classroom.web.access import is_loopback
from tui.classroom.web.codes import parts_of, qr_rows
from tui.classroom.web.plain_pages import standing
from tui.classroom.web.roster import LONGEST_ANSWER, MOST_BARS, text_of
from tui.look import text
from tui.look.palette import Look
from tui.look.sheets import Line, Span, line, wrapped
from tui.screens.replay.messages import SceneChanged

LONGEST = 1000
"""Largest number of characters of a question or a reason on the wall."""
LEAST_BESIDE = 26
"""Smallest number of columns to the right of the QR code, in which an address with its port fits."""

ONLY_HERE = "Only this machine reaches this address. Other machines need --host 0.0.0.0 at the start."
"""Note on the wall below an address of the loopback interface"""


@dataclass(frozen=True)
class Answers:
    asks: str = ""
    """Text of the question; "" if only the address is shown."""
    told: str = ""
    """Reason for the right answer; "" until the right answers are shown."""
    bars: tuple[tuple[str, int, bool | None], ...] = ()
    """For each bar: the answer, the number of students, and if it is right (None before that is shown)."""
    address: str = ""
    """Address at which students answer; "" if unknown."""
    here: int | None = None
    """Number of connected students; None if they are not counted."""

    @classmethod
    def of(cls, told: Mapping[str, Any]) -> Answers:
        """Return the content in a message of the server; each text is cut to one line of limited length."""
        bars = [
            (text_of(bar.get("label"), LONGEST_ANSWER), int(bar.get("count", 0)), _truth(bar.get("right")))
            for bar in told.get("bars", [])[: MOST_BARS + 1]
        ]
        asks, reason, address = (text_of(told.get(part), LONGEST) for part in ("asks", "told", "address"))
        here = told.get("here")
        return cls(asks, reason, tuple(bars), address, here if isinstance(here, int) else None)


def _truth(given: object) -> bool | None:
    return given if isinstance(given, bool) else None


SIGNS = {True: ("✓ ", "good", "█"), False: ("× ", "bad", "▒"), None: ("  ", "accent", "█")}
"""Sign, style and block of a bar by whether it is right (None before that is shown)"""


def bars(answers: Answers, width: int) -> list[Line]:
    """Return the wall as lines: the question, a bar for each answer, the reason, and where to answer.

    >>> answers = Answers("Which?", "J4 fits.", (("J4", 3, True), ("J5", 1, False)))
    >>> [part.text.rstrip() for part in bars(answers, 30)]
    ['  Which?', '', '  ✓ J4 ███████████████████ 3', '', '  × J5 ▒▒▒▒▒▒              1', '', '  J4 fits.']
    >>> [part.text.strip() for part in bars(Answers(address="http://10.0.0.5:8000/", here=1), 60)]
    ['Follow and answer in your browser:', '', 'http://10.0.0.5:8000/', '', '1 student is here.']
    """
    most = max((count for _, count, _ in answers.bars), default=0)
    named = min(max((text.cells(label) for label, _, _ in answers.bars), default=0), width // 3)
    room = max(width - named - 9, 4)
    found: list[Line] = []
    for label, count, is_right in answers.bars:
        long = round(room * count / most) if most else 0
        sign, style, block = SIGNS[is_right]
        name = text.pad(text.shorten(label, named), named)
        found += [
            line(
                Span("  "),
                Span(sign, style),
                Span(name, "strong"),
                Span(f" {block * long}", style),
                Span(f"{' ' * (room - long)} {count}", "strong"),
            ),
            line(),
        ]
    if answers.asks:
        found = [
            *_wrapped_lines(answers.asks, width, "title"),
            line(),
            *found,
            *_wrapped_lines(answers.told, width, ""),
        ]
    return [*found, *_address_lines(answers, width)]


def _address_lines(answers: Answers, width: int) -> list[Line]:
    if not answers.address:
        return []
    room, (address, code) = max(width - 3, 8), parts_of(answers.address)
    pieces = [each[at : at + room] for each in (address, code) for at in range(0, len(each), room)]
    if not answers.asks:
        rows = [line(Span(f"  {piece}", "title")) for piece in pieces]
        told = [*_wrapped_lines("Follow and answer in your browser:", width, "strong"), line(), *rows, line()]
        note = ONLY_HERE if is_loopback(urlsplit(answers.address).hostname or "") else ""
        return [*told, _counted(answers), *(_wrapped_lines(note, width, "dim") if note else [])]
    rows = [line(Span(f"  {piece}", "key")) for piece in pieces]
    return [*([] if answers.told else rows), _counted(answers)]


def _counted(answers: Answers) -> Line:
    here = answers.here
    if here is None:
        return line()
    if answers.asks:
        given = sum(count for _, count, _ in answers.bars)
        return line(Span(f"  {given} of {max(here, given)} have answered.", "dim"))
    return line(Span(f"  {here or 'No'} student{' is' if here == 1 else 's are'} here.", "dim"))


def _wrapped_lines(given: str, width: int, style: str) -> list[Line]:
    return [line(Span(part.text, style)) for part in wrapped(given, width - 2, indent=2)]


class Wall(Screen[bool]):
    """Screen with the content of the wall. It returns True if it is closed by a key, False if the server closes it."""

    DEFAULT_CSS = """
    Wall { background: $background; }
    Wall Sheet { height: 1fr; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,space,enter,right,left,pagedown,pageup,home,q", "close", show=False)
    ]

    def __init__(self, answers: Answers, look: Look) -> None:
        super().__init__()
        self._answers, self._look = answers, look

    def compose(self) -> ComposeResult:
        yield Sheet(id="answers")

    def put(self, answers: Answers) -> None:
        self._answers = answers
        self._draw()

    def on_mount(self) -> None:
        self.call_after_refresh(self._draw)

    def on_sheet_resized(self) -> None:
        self._draw()

    def _draw(self) -> None:
        sheet = self.query_one("#answers", Sheet)
        width, height = sheet.size
        if width and height:
            sheet.show([line(), *self._lines(width, height - 1)][:height], self._look)

    def _lines(self, width: int, height: int) -> list[Line]:
        """Return the lines of the wall, with the QR code to the left of the address if there is room."""
        answers, look = self._answers, self._look
        code = qr_rows(answers.address, look.dark) if answers.address and not (answers.asks or look.ascii) else []
        if not code or len(code) > height or len(code[0]) + LEAST_BESIDE > width:
            return bars(answers, width)
        told = bars(answers, width - len(code[0]))
        told = [*told, *[line()] * (len(code) - len(told))]
        return [line(Span(row), *said.spans) for row, said in zip(code, told, strict=False)]

    def action_close(self) -> None:
        self.dismiss(True)


def answers_in(told: str) -> Answers | None:
    """Return the answers in a text from the server; None if it is empty or damaged.

    >>> answers_in(""), answers_in("[")
    (None, None)
    """
    try:
        found = json.loads(told) if told else None
    except ValueError:
        return None
    return Answers.of(found) if isinstance(found, Mapping) and (found.get("asks") or found.get("address")) else None


class Reporting(Schedscope):
    """Program that reports its scene to the web server, and sends it the whole screen when asked."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("I", "turn_wall", show=False)]
    _lesson = ""
    """Name of the lesson of the class, which is the first one that was shown."""

    def report(self, **told: object) -> None:
        """Report these values to the server, if there is one."""
        raise NotImplementedError

    @property
    def _walk(self) -> Walk | None:
        """Return the place in the lesson of the class, or None, also in another lesson."""
        walk = None if self.replay is None else walk_of(self.replay.state.guide)
        self._lesson = self._lesson or (walk.lesson.name if walk is not None else "")
        return walk if walk is not None and walk.lesson.name == self._lesson else None

    @on(SceneChanged)
    def _report_scene(self, message: SceneChanged) -> None:
        if (walk := self._walk) is not None:
            self.report(**standing(walk))

    # The wall

    def action_turn_wall(self) -> None:
        self.report(type="wall")

    def show_wall(self, text: str) -> None:
        """Show the answers of the class over the screen; a text without valid answers, such as "", removes them."""
        answers, wall = answers_in(text), self.screen
        if answers is None:
            if isinstance(wall, Wall):
                wall.dismiss(False)
        elif isinstance(wall, Wall):
            wall.put(answers)
        else:
            self.push_screen(Wall(answers, self.look), self._wall_closed)

    def _wall_closed(self, by_hand: bool | None) -> None:
        if by_hand:
            self.report(type="wall", closed=True)

    # Questions of the server

    def whole(self) -> dict[str, object]:
        compositor = self.screen._compositor
        update: Any = compositor.render_update(full=True, screen_stack=self._background_screens)
        return {"text": update.render_segments(self.console)}

    def place(self) -> dict[str, object]:
        """Return the scene and answers of a lesson, or the session as one line; empty if it cannot be saved."""
        if (walk := self._walk) is not None:
            return {"scene": walk.index, "answers": walk.answers}
        try:
            return {"line": one_line(self.session) if self.session else ""}
        except SchedscopeError:
            return {}
