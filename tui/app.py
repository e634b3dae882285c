"""The program at a terminal: it loads traces, opens their replay, and remembers what a person has chosen."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from traceback import format_exception
from typing import TYPE_CHECKING, Any, ClassVar

from rich.text import Text
from textual import work
from textual.app import App
from textual.binding import BindingType
from textual.filter import LineFilter
from textual.worker import get_current_worker

from sim.errors import SchedscopeError
from sim.machine import Placement
from sim.policies import Policy, parse_policy
from sim.policies.base import written_policy
from sim.session import Session, verify_trace, write_session
from sim.timeline import Timeline
from sim.workload.model import Workload
from tui.autosave import Autosave, Orphan, offer, state_folder
from tui.conducting import Conductor
from tui.going import parse_place
from tui.loading import Source, caption
from tui.orders import Order, Restore
from tui.palette import Look
from tui.remembering import last_path, planned, record
from tui.scene import About
from tui.screens.choice import Choice
from tui.screens.replay import ReplayScreen
from tui.sessions import session_of, source_of
from tui.settings import load, save, settings_path
from tui.stage import Stage
from tui.themes import Ascii, choose, depth_of, theme_name, themes

if TYPE_CHECKING:
    from textual.command import Provider

AUTOSAVE = 2.0
"""Seconds between two autosaves."""


@dataclass(frozen=True)
class Opening:
    """What the replay screen is opened on."""

    source: Source
    policy: Policy
    placement: Placement = "lowest"
    at: str | None = None
    """Where to begin, as it is typed; None: before the first step."""
    switches: tuple[tuple[float, str], ...] = ()
    session: Session | None = None
    """What is to be brought back."""

    @classmethod
    def of_session(cls, session: Session) -> Opening:
        """What a session was opened on, and is to be brought back to."""
        switches = tuple((switch.time, switch.policy) for switch in session.branches[0].switches)
        policy = parse_policy(session.policy)
        return cls(source_of(session), policy, session.placement, switches=switches, session=session)

    def prepare(self) -> Prepared:
        """Read the trace and set up its replay."""
        trace, workload = self.source.read()
        about = About(self.source.trace, caption(trace), workload, trace)
        timeline = Timeline(workload, self.policy, placement=self.placement, switches=self.switches)
        begun = session_of(self.source, written_policy(self.policy))
        begun = replace(begun, placement=self.placement, branches=planned(self.switches))
        return Prepared(self, about, timeline, begun, self._first(workload))

    def _first(self, workload: Workload) -> Order | None:
        if self.session is not None:
            clock = self.session.view.get("clock")
            return Restore(self.session, clock if isinstance(clock, int | float) else None)
        return None if self.at is None else parse_place(self.at, workload)


@dataclass(frozen=True)
class Prepared:
    """All that the replay screen needs."""

    opening: Opening
    about: About
    timeline: Timeline
    begun: Session
    """The session of the very beginning."""
    first: Order | None = None
    """Where to go at first."""


def _screen_commands() -> type[Provider]:
    """What the palette offers, imported when it is first opened."""
    from tui.commands import ScreenCommands

    return ScreenCommands


class Schedscope(App[int]):
    """schedscope."""

    TITLE = "schedscope"
    COMMANDS: ClassVar[set[Any]] = {_screen_commands}
    BINDINGS: ClassVar[list[BindingType]] = []

    def __init__(self, prepared: Prepared) -> None:
        self.settings_path = settings_path()
        self.settings, self._warning = load(self.settings_path)
        # Textual takes NO_COLOR out of the environment.
        self.look = choose(self.settings, os.environ, sys.stdout.encoding)
        super().__init__()
        self.opened = prepared
        self._autosave: Autosave | None = None
        self._saved: Session | None = None

    def get_line_filters(self) -> list[LineFilter]:
        """In ASCII everything that is drawn passes a filter."""
        return [*super().get_line_filters(), *([Ascii()] if self.look.ascii else [])]

    def on_mount(self) -> None:
        for theme in themes():
            self.register_theme(theme)
        self.look = self.look.with_depth(24 if self.is_headless else depth_of(self.console))
        if self.look.depth == 4 and self.settings.mode is None:
            # Sixteen colours do not tell jobs apart; textures and names do.
            self.look = self.look.with_mode("mono") if self.look.colour else self.look
        self.use_look(self.look, kept=False)
        if self.settings.keymap:
            self.set_keymap(dict(self.settings.keymap))
        self._show(self.opened)
        if self._warning:
            self.notify(self._warning, severity="warning", timeout=10)
        self._keep_sessions()

    def _show(self, prepared: Prepared) -> None:
        self.opened = prepared
        fps = self.settings.fps or frames_a_second(os.environ)
        screen = ReplayScreen(prepared.about, Conductor(Stage(prepared.timeline)), self.look, fps)
        if prepared.opening.session is not None:
            screen.bring_back(prepared.opening.session)
        if prepared.first is not None:
            screen.player.ask(prepared.first)
        if len(self.screen_stack) > 1:
            self.switch_screen(screen)
        else:
            self.push_screen(screen)

    # Sessions

    def _keep_sessions(self) -> None:
        """Offer what an earlier run left when it broke off, and save where this one is every now and then."""
        if self.opened.opening.session is None and (orphan := offer()):
            self._offer(orphan)
        try:
            self._autosave = Autosave()
        except SchedscopeError as error:
            self.notify(str(error), severity="warning")
        else:
            self.set_interval(AUTOSAVE, self._save_now)

    def _offer(self, orphan: Orphan) -> None:
        session = orphan.session
        where = f"{Path(session.trace.name).name}, {session.policy}, step {session.step:,} of {session.branch}"
        options = [
            ("c", "continue", where),
            ("n", "not now", "it will be offered again"),
            ("d", "discard", "forget it"),
        ]

        def chosen(answer: str | None) -> None:
            if answer == "continue":
                self.open_session(session, orphan)
            elif answer == "discard":
                orphan.discard()

        self.push_screen(Choice("The last run broke off", options), chosen)

    @property
    def replay(self) -> ReplayScreen | None:
        """The replay that is open."""
        return next((screen for screen in self.screen_stack if isinstance(screen, ReplayScreen)), None)

    @property
    def session(self) -> Session:
        """The session that brings back what is shown."""
        if self.replay is None or self.replay.shown is None:
            return self.opened.opening.session or self.opened.begun
        return record(self.replay, self.opened.begun)

    def _save_now(self) -> None:
        session = self.session
        if self._autosave is None or session == self._saved:
            return
        try:
            self._autosave.save(session)
        except SchedscopeError as error:
            self._autosave = None
            self.notify(f"no more autosaves: {error}", severity="warning")
        self._saved = session

    def exit(self, *args: Any, **kwargs: Any) -> None:
        """The program ends as it should: where it was left is kept as the last session."""
        if self._autosave is not None:
            with suppress(SchedscopeError):
                write_session(self.session, last_path())
            self._autosave.close()
            self._autosave = None
        super().exit(*args, **kwargs)

    def _fatal_error(self) -> None:
        """A fault of this program: a line on the terminal, all the rest in a file; what was watched is kept."""
        told = f"schedscope: error: a fault in the program itself: {self._exception!r}"
        try:
            path = state_folder() / "fault.log"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("".join(format_exception(self._exception)), encoding="utf-8")
            told += f"; the report is in {path}, and the next start offers to continue"
        except OSError:
            told += "; no report could be written"
        self._exit_renderables.append(Text(told))
        self._close_messages_no_wait()

    # Another trace

    def open_trace(self, trace: str, spec: str) -> None:
        """Another trace, under this policy."""
        self._open(lambda: Opening(Source(trace), parse_policy(spec), self.opened.opening.placement))

    def open_session(self, session: Session, orphan: Orphan | None = None) -> None:
        """What a session brings back; the autosave that it came from has done its duty then."""

        def opening() -> Opening:
            if problem := verify_trace(session):
                raise SchedscopeError(str(problem))
            return Opening.of_session(session)

        self._open(opening, orphan)

    @work(thread=True, exclusive=True, group="loading")
    def _open(self, opening: Callable[[], Opening], orphan: Orphan | None = None) -> None:
        """Read it in the background; what is shown stays until it is there."""
        try:
            prepared = opening().prepare()
        except SchedscopeError as error:
            self.call_from_thread(self.notify, str(error), severity="error", timeout=12)
            return
        if not get_current_worker().is_cancelled:
            self.call_from_thread(self._opened, prepared, orphan)

    def _opened(self, prepared: Prepared, orphan: Orphan | None) -> None:
        self.remember_trace(prepared.about.trace)
        self._show(prepared)
        if orphan is not None:
            self._save_now()
            orphan.discard()

    # What is remembered

    def remember(self, **changed: Any) -> None:
        """Keep what a person has chosen; the disk may refuse."""
        self.settings = replace(self.settings, **changed)
        if problem := save(self.settings, self.settings_path):
            self.notify(problem, severity="warning")

    def remember_policy(self, spec: str) -> None:
        self.remember(policies=self.settings.with_policy(spec).policies)

    def remember_trace(self, trace: str) -> None:
        path = Path(trace)
        self.remember(recent=self.settings.with_recent(str(path.resolve()) if path.exists() else trace).recent)

    def use_look(self, look: Look, kept: bool = True) -> None:
        """See everything so from now on."""
        self.look = look
        self.theme = theme_name(look)
        if kept:
            self.remember(look=look.name, mode=look.mode)
        for screen in self.screen_stack:
            if isinstance(screen, ReplayScreen):
                screen.look_changed()


def frames_a_second(environ: Mapping[str, str]) -> int:
    """Fewer where every frame goes through a network."""
    return 12 if environ.get("SSH_CONNECTION") or environ.get("SSH_TTY") else 30


def open_replay(opening: Opening) -> int:
    """Open the replay screen; what is wrong with the trace is said before."""
    app = Schedscope(opening.prepare())
    app.run()
    return app.return_code or 0
