"""Controller for files: saving pictures and sessions, opening traces, and changing the look."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from textual.screen import Screen

from sim.support.errors import ParameterError, SchedscopeError
from sim.support.files import refuse_replacing, write_whole
from tui.look.palette import LOOKS, Look, Mode
from tui.look.text import file_name
from tui.replay.requests import Draw
from tui.screens import dialogs
from tui.screens.dialogs.choice import ChoiceDialog
from tui.screens.replay.messages import Deliver, KeepSession, OpenTrace, Quit, ShowFirst, UseLook

if TYPE_CHECKING:
    from tui.screens.replay.screen import ReplayScreen

PICTURES = (
    ("s", "screen", "the whole screen as it is, as SVG"),
    ("c", "chart", "the chart alone, as a drawing of any size, as SVG"),
)
THEMES = (
    ("d", "dark", "for a dark terminal"),
    ("l", "light", "for a light terminal"),
    ("c", "contrast", "high contrast, on black"),
    ("1", "colour", "in colour"),
    ("2", "mono", "without colour: textures and letters"),
    ("3", "ascii", "ASCII only"),
)
DRAWING = 1440, 810
"""Width and height in pixels of a saved drawing, unless the user gives others."""

_PICTURES = b"<svg", b"\x89PNG"
"""First bytes of SVG and PNG: only such a file is replaced by a saved picture"""


class Files:
    def __init__(self, screen: ReplayScreen, recent: Sequence[str]) -> None:
        self._screen, self._recent = screen, recent

    @property
    def _name(self) -> str:
        return file_name(self._screen.about.workload.name)

    def trace(self) -> None:
        self._screen.open(dialogs.TracePicker(self._recent), self.open_trace)

    def first_screen(self) -> None:
        self._screen.pause()
        self._screen.post_message(ShowFirst())

    def open_trace(self, trace: str) -> None:
        self._screen.pause()
        self._screen.post_message(OpenTrace(trace, self._screen.policy))

    # Pictures

    def picture(self) -> None:
        if self._screen.scene is not None:
            self._screen.open(ChoiceDialog("Save a picture of", PICTURES), self._ask_where)

    def _ask_where(self, what: str) -> None:
        step = self._screen.scene.snapshot.step if self._screen.scene else 0
        name = f"{self._name}-{step}.svg"
        if what == "screen":
            self._screen.open(
                dialogs.Prompt("Save the screen as", "FILE.svg", _picture, initial=name), self._save_screen
            )
        else:
            hint = "FILE.svg, and its size in pixels if you like: chart.svg 1600x900"
            self._screen.open(dialogs.Prompt("Save the chart as", hint, parse_drawing, initial=name), self._save_chart)

    def _save_screen(self, path: str) -> None:
        try:
            refuse_replacing(os.path.expanduser(path), "picture", *_PICTURES)
            with write_whole(Path(os.path.expanduser(path))) as file:
                file.write(self._screen.screenshot())
        except SchedscopeError as error:
            self._screen.fail(str(error))
        else:
            self._screen.tell(f"saved {path}")

    def _save_chart(self, drawing: tuple[Path, int, int]) -> None:
        try:
            refuse_replacing(drawing[0], "picture", *_PICTURES)
        except SchedscopeError as error:
            self._screen.fail(str(error))
            return
        self._screen.ask(Draw(*drawing, self._screen.look.name))

    # Sessions

    def save(self) -> None:
        hint = "file name; schedscope --session FILE restores exactly this moment"
        dialog = dialogs.Prompt("Save the session as", hint, _session, initial=f"{self._name}.session")
        self._screen.open(dialog, lambda path: self._screen.post_message(KeepSession(path)))

    def copy_session(self) -> None:
        self._screen.post_message(KeepSession())

    def copy_command(self) -> None:
        self._screen.post_message(KeepSession(is_command=True))

    def quit(self) -> None:
        self._screen.post_message(Quit())

    # How it looks

    def theme(self) -> None:
        self._screen.open(theme_choice(self._screen.look), self.use_look)

    def use_look(self, name: str) -> None:
        self._screen.post_message(UseLook(look_named(name, self._screen.look)))


class GuestFiles(Files):
    """Files of a visitor of the web: saving is a download, and only offered traces can be opened."""

    def trace(self) -> None:
        self.first_screen()

    def picture(self) -> None:
        self._screen.post_message(Deliver(f"{self._name}.svg", self._screen.screenshot()))

    def save(self) -> None:
        self._screen.post_message(KeepSession(f"{self._name}.session"))


def theme_choice(look: Look) -> ChoiceDialog:
    now = (look.name, look.mode)
    options = [(key, name, f"{told} (now)" if name in now else told) for key, name, told in THEMES]
    return ChoiceDialog("Theme", options, look.name)


def choose_theme(screen: Screen[Any], look: Look) -> None:
    def use(name: str | None) -> None:
        if name is not None:
            screen.post_message(UseLook(look_named(name, look)))

    screen.app.push_screen(theme_choice(look), use)


def look_named(name: str, now: Look) -> Look:
    """Return the look called `name` in the present mode or, if `name` is a mode, the present look in this mode."""
    return LOOKS[name].with_mode(now.mode) if name in LOOKS else now.with_mode(cast(Mode, name))


def _session(text: str) -> str:
    if not text:
        raise ParameterError("enter a file name")
    _check(text, "session", b"schedscope session")
    return text


def _picture(text: str) -> str:
    if not text.endswith(".svg"):
        raise ParameterError("the name of a picture ends in .svg")
    _check(text, "picture", *_PICTURES)
    return text


def _check(path: str, what: str, *begins: bytes) -> None:
    refuse_replacing(typed_path(path), what, *begins)


def typed_path(typed: str) -> Path:
    """Return the path that the user types for a file; raise `SchedscopeError` if no file can be written there."""
    path = os.path.expanduser(typed)
    if os.path.isdir(path):
        raise SchedscopeError(f"{typed}: is a directory; add the name of a file")
    if not os.path.isdir(os.path.dirname(path) or "."):
        raise SchedscopeError(f"{typed}: its directory does not exist; create it, or choose another one")
    try:
        os.lstat(path)
    except FileNotFoundError:
        pass
    except OSError as error:
        raise SchedscopeError(f"{error.strerror}; choose another name") from None
    return Path(path)


def parse_drawing(text: str) -> tuple[Path, int, int]:
    """Return the path, the width and the height in pixels of a drawing, as a user typed them."""
    found = re.fullmatch(r"(.+\.(?:svg|png))(?:\s+(\d{3,5})\s*[x×]\s*(\d{3,5}))?", text.strip())
    if found is None:
        raise ParameterError(f"{text.strip()!r}: expected FILE.svg, or FILE.svg WIDTHxHEIGHT")
    width, height = (int(found[2]), int(found[3])) if found[2] else DRAWING
    return typed_path(found[1]), width, height
