"""Base of programs in a class: they report their scene, send their screen, and show the wall of answers."""

from __future__ import annotations

from typing import Any, ClassVar

from textual import on
from textual.binding import Binding, BindingType

from sim.classroom.lessons.walk import Walk
from sim.session.session import one_line
from sim.support.errors import SchedscopeError
from tui.app import Schedscope
from tui.classroom.guide import walk_of
from tui.classroom.web.plain_pages import standing
from tui.classroom.web.wall import Wall, answers_in
from tui.screens.replay.messages import SceneChanged


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
