"""Menus from which replays are opened: the first screen, the list of lessons, and results of many runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from shutil import which
from time import time
from typing import TYPE_CHECKING, Any

from textual.app import App

from sim.session.session import read_session
from sim.support.errors import SchedscopeError
from sim.support.formatting import count, span
from tui.annexes import annexed
from tui.look.palette import Look
from tui.look.settings import Settings
from tui.memory import give_back_what_went
from tui.screens.first.page import MenuEntry
from tui.sessions.session_conversion import LAST, last_path

if TYPE_CHECKING:
    from textual.screen import Screen

    from tui.screens.first.screen import FirstScreen

LOADING = "loading"
"""Group of the threads that read what is opened next; each new one cancels the others."""
GONE = 5.0
"""Seconds after which the objects of a replaced replay are no longer in use, so that their memory can be freed"""


class Menus:
    """Menus of the program, which are screens over the replay; their code is imported when they open."""

    def __init__(self, app: App[int], traces: tuple[str, ...] | None) -> None:
        """Make the menus. A guest (visitor of the web) can open only `traces`; None if any file can be opened."""
        self._app, self._traces = app, traces
        self._menu: FirstScreen | None = None
        self._results: Screen[Any] | None = None

    def show_first(self, settings: Settings, look: Look) -> None:
        """Show the first screen or, if the replay was opened from results or a puzzle, return to that."""
        below = self._below
        if below is not None:
            while self._app.screen is not below:
                self._app.pop_screen()
            return
        from tui.screens.dialogs.trace_choices import recent
        from tui.screens.first.page import MenuEntry, entries, samples
        from tui.screens.first.screen import FirstScreen

        if self._traces is None:
            has_slurm = which("squeue") is not None
            there = entries(sessions_left(settings.sessions), settings.recent, settings.lessons, has_slurm)
        else:
            traces = (MenuEntry("trace", trace, recent(trace).title) for trace in self._traces)
            there = (*samples(), annexed("entry of lessons")(settings.lessons), *traces)
        self._show(FirstScreen(there, settings.recent, look, self._is_over))

    def show_lessons(self, settings: Settings, look: Look) -> None:
        from tui.screens.first.screen import FirstScreen

        there = [*annexed("entries of lessons")(settings.lessons)]
        chosen = next((number for number, entry in enumerate(there) if entry.policy != "done"), 0)
        self._show(FirstScreen(there, settings.recent, look, self._is_over, chosen))

    def _show(self, menu: FirstScreen) -> None:
        before, self._menu = self._menu, menu
        if before is not None and self._app.screen is before:
            self._app.switch_screen(menu)
        else:
            self._app.push_screen(menu)

    @property
    def _is_over(self) -> bool:
        """Return True if a replay, or a lesson about a recording, is open; a menu is then shown over it."""
        return any(hasattr(screen, "watch_") or hasattr(screen, "player") for screen in self._app.screen_stack)

    @property
    def _below(self) -> Screen[Any] | None:
        stack = reversed(self._app.screen_stack)
        return next((each for each in stack if each is self._results or getattr(each, "stays", False)), None)

    def show_results(self, path: str, look: Look) -> None:
        """Show a results file instead of the screens that are open; no replay is opened, not even one being read."""
        self._app.workers.cancel_group(self._app, LOADING)
        while len(self._app.screen_stack) > 1:
            self._app.pop_screen()
        self._results = annexed("results screen")(path, look)
        self._app.push_screen(self._results)

    def show_replay(self, replay: Screen[Any]) -> None:
        """Show this replay in place of the present screen or over results; an earlier one's memory is freed later."""
        is_another = self._is_over
        if is_another:
            self._app.set_timer(GONE, give_back_what_went)
        if is_another and self._menu in self._app.screen_stack:
            self._app.pop_screen()
        if len(self._app.screen_stack) > 1 and self._app.screen is not self._below:
            self._app.switch_screen(replay)
        else:
            self._app.push_screen(replay)

    def use_look(self, look: Look) -> None:
        for screen in self._app.screen_stack:
            is_ours = screen in (self._menu, self._results, self._below) or hasattr(screen, "watch_")
            if is_ours and (use := getattr(screen, "use_look", None)):
                use(look)


MOST = 4
"""Largest number of sessions that are offered, the newest first."""


def sessions_left(saved: Iterable[str]) -> list[MenuEntry]:
    paths = [("where it was left", last_path()), *((Path(path).name, Path(path)) for path in saved)]
    return list(_entries(paths))[:MOST]


def _entries(paths: Iterable[tuple[str, Path]]) -> Iterator[MenuEntry]:
    for title, path in paths:
        try:
            session, age = read_session(path), time() - path.stat().st_mtime
        except (SchedscopeError, OSError):
            continue  # moved or damaged: opening it by name reports the error
        branches = f", {count(len(session.branches), 'branch', 'branches')}" if len(session.branches) > 1 else ""
        what = f"{Path(session.trace.name).name} under {session.policy}, step {session.step:,}{branches}"
        value = LAST if path == last_path() else str(path)
        yield MenuEntry("session", value, title, f"{what} · {span(max(age, 0))} ago")
