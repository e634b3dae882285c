"""Actions that keep or bring something: pictures, sessions, themes, traces."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import cast

from sim.errors import SchedscopeError
from sim.files import write_whole
from sim.session import one_line, write_session
from tui.chart.colours import MODES
from tui.commands import Command, choices
from tui.keys import every_key
from tui.palette import LOOKS, Mode
from tui.remembering import file_name
from tui.screens.base import ReplayBase
from tui.screens.choice import Choice
from tui.screens.playing import JUMPS
from tui.screens.prompt import Prompt
from tui.screens.trace_picker import TracePicker

PICTURES = (
    ("s", "screen", "the whole screen as it is, as SVG"),
    ("c", "chart", "the chart alone, as a drawing of any size, as SVG"),
)


class Keeping(ReplayBase):
    """Saving, opening, and how the program looks."""

    def action_trace(self) -> None:
        self.app.push_screen(TracePicker(self.schedscope.settings.recent), self._open)

    def _open(self, trace: str | None) -> None:
        if trace is not None:
            self.action_open_trace(trace)

    def action_open_trace(self, trace: str) -> None:
        """Another trace under the same policy, from the beginning."""
        self.pause()
        self.schedscope.open_trace(trace, self.scene.snapshot.policy if self.scene else "easy")

    # Pictures

    def action_picture(self) -> None:
        self.app.push_screen(Choice("Save a picture of", PICTURES), self._ask_where)

    def _ask_where(self, what: str | None) -> None:
        if what is None or self.scene is None:
            return
        initial = f"{Path(self.about.workload.name).stem}-{self.scene.snapshot.step}.svg"

        def given(path: str | None) -> None:
            if path:
                self._save_picture(what, Path(path).expanduser())

        self.app.push_screen(Prompt("Save as", "a file name ending in .svg", _no_picture, initial=initial), given)

    def _save_picture(self, what: str, path: Path) -> None:
        try:
            with write_whole(path) as file:
                file.write(self.app.export_screenshot() if what == "screen" else self._drawn_chart())
        except SchedscopeError as error:
            self.notify(str(error), severity="error")
        else:
            self.notify(f"saved {path}")

    def _drawn_chart(self) -> str:
        raise NotImplementedError

    # Sessions

    def action_save(self) -> None:
        initial = f"{file_name(Path(self.about.workload.name).stem)}.session"
        hint = "a file; schedscope --session FILE brings this very moment back"
        self.app.push_screen(Prompt("Save the session as", hint, _no_file, initial=initial), self._save_session)

    def _save_session(self, path: str | None) -> None:
        if not path:
            return
        try:
            write_session(self.schedscope.session, Path(path).expanduser())
        except SchedscopeError as error:
            self.notify(str(error), severity="error")
        else:
            self.notify(f"saved: schedscope --session {path}")

    def action_copy_session(self) -> None:
        """The session as one line, for the clipboard."""
        self.app.copy_to_clipboard(one_line(self.schedscope.session))
        self.notify("the session is in the clipboard: schedscope --session brings the line back")

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
        yield from choices(MODES)


def _no_file(text: str) -> str | None:
    return None if text.strip() else "a file needs a name"


def _no_picture(text: str) -> str | None:
    return None if text.strip().endswith(".svg") else "the name of a picture ends in .svg"
