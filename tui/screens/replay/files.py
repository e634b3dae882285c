"""Actions that keep or bring something: pictures, sessions, themes, traces."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, cast

from sim.errors import ParameterError, SchedscopeError
from sim.files import write_whole
from tui.chart.colours import MODES
from tui.look.palette import LOOKS, Mode
from tui.look.text import file_name
from tui.replay.requests import Draw
from tui.screens.dialogs.choice import Choice
from tui.screens.dialogs.lazily import prompt, trace_picker
from tui.screens.replay.keys import every_key
from tui.screens.replay.screen import ReplayBase
from tui.screens.replay.transport import JUMPS

if TYPE_CHECKING:
    from tui.screens.commands import Command

PICTURES = (
    ("s", "screen", "the whole screen as it is, as SVG"),
    ("c", "chart", "the chart alone, as a drawing of any size, as SVG"),
)
DRAWING = 1440, 810
"""Pixels of a drawing, unless told."""


class Keeping(ReplayBase):
    """Saving, opening, and how the program looks."""

    def action_trace(self) -> None:
        self.app.push_screen(trace_picker(self.schedscope.settings.recent), self._open)

    def _open(self, trace: str | None) -> None:
        if trace is not None:
            self.action_open_trace(trace)

    def action_open_trace(self, trace: str) -> None:
        """Another trace under the same policy, from the beginning."""
        self.pause()
        self.schedscope.open_trace(trace, self.policy)

    # Pictures

    def action_picture(self) -> None:
        self.app.push_screen(Choice("Save a picture of", PICTURES), self._ask_where)

    def _ask_where(self, what: str | None) -> None:
        if what is None or self.scene is None:
            return
        name = file_name(f"{Path(self.about.workload.name).stem}-{self.scene.snapshot.step}") + ".svg"
        if what == "screen":
            self.app.push_screen(prompt("Save the screen as", "FILE.svg", _picture, initial=name), self._save_screen)
        else:
            hint = "FILE.svg, and its size in pixels if you like: chart.svg 1600x900"
            self.app.push_screen(prompt("Save the chart as", hint, parse_drawing, initial=name), self._save_chart)

    def _save_screen(self, path: str | None) -> None:
        if not path:
            return
        try:
            with write_whole(Path(path).expanduser()) as file:
                file.write(self.app.export_screenshot())
        except SchedscopeError as error:
            self.notify(str(error), severity="error")
        else:
            self.tell(f"saved {path}")

    def _save_chart(self, drawing: tuple[Path, int, int] | None) -> None:
        if drawing is not None:
            path, width, height = drawing
            self.ask(Draw(path, width, height, self.look.name))

    # Sessions

    def action_save(self) -> None:
        initial = f"{file_name(Path(self.about.workload.name).stem)}.session"
        hint = "a file; schedscope --session FILE brings this very moment back"
        self.app.push_screen(prompt("Save the session as", hint, _file, initial=initial), self._save_session)

    def _save_session(self, path: str | None) -> None:
        if not path:
            return
        try:
            from sim.session.session import write_session

            write_session(self.schedscope.session, Path(path).expanduser())
        except SchedscopeError as error:
            self.notify(str(error), severity="error")
        else:
            self.tell(f"saved: schedscope --session {path}")

    def action_copy_session(self) -> None:
        """The session as one line, for the clipboard."""
        from sim.session.session import one_line

        try:
            self.app.copy_to_clipboard(one_line(self.schedscope.session))
        except SchedscopeError as error:
            self.notify(str(error), severity="error")
        else:
            self.tell("the session is in the clipboard: schedscope --session brings the line back")

    def action_quit(self) -> None:
        """Leave; where it stood is kept as the last session."""
        self.app.exit()

    # How it looks

    def action_theme(self) -> None:
        looks = [(name[0], name, f"the {name} look") for name in LOOKS]
        modes = [
            ("1", "colour", "in colour"),
            ("2", "mono", "without colour: textures and letters"),
            ("3", "ascii", "ASCII only"),
        ]
        self.app.push_screen(Choice("Theme", [*looks, *modes], self.look.name), self._use)

    def _use(self, name: str | None) -> None:
        if name in LOOKS:
            self.action_use_look(name)
        elif name is not None:
            self.action_use_mode(name)

    def action_use_look(self, name: str) -> None:
        self.schedscope.use_look(LOOKS[name].with_mode(self.look.mode))

    def action_use_mode(self, mode: str) -> None:
        self.schedscope.use_look(self.look.with_mode(cast(Mode, mode)))

    def look_changed(self) -> None:
        """The program looks otherwise from now on."""
        self.look = self.schedscope.look
        self.draw()

    # The palette of commands

    def palette_commands(self) -> Iterable[Command]:
        for key in every_key():
            if key.action != "escape":
                yield key.meaning.rstrip("."), f"key {key.keys}", key.action
        for condition, meaning in JUMPS.values():
            yield f"jump to next: {condition}", f"To the next step at which {meaning}.", f"jump_to({condition!r})"
        from tui.screens.commands import choices

        yield from choices(MODES)


def _file(text: str) -> str:
    if not text:
        raise ParameterError("a file needs a name")
    return text


def _picture(text: str) -> str:
    if not text.endswith(".svg"):
        raise ParameterError("the name of a picture ends in .svg")
    return text


def parse_drawing(text: str) -> tuple[Path, int, int]:
    """A file, and the size in pixels.

    >>> parse_drawing("chart.svg 1600x900")[1:]
    (1600, 900)
    """
    found = re.fullmatch(r"(.+\.(?:svg|png))(?:\s+(\d{3,5})\s*[x×]\s*(\d{3,5}))?", text.strip())
    if found is None:
        raise ParameterError(f"{text.strip()!r}: expected FILE.svg, or FILE.svg WIDTHxHEIGHT")
    width, height = (int(found[2]), int(found[3])) if found[2] else DRAWING
    return Path(found[1]).expanduser(), width, height
