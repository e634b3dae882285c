"""Program in a terminal: it reads traces, opens their replays, and remembers the user's settings."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from io import StringIO
from operator import methodcaller
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from textual import events, on, work
from textual.binding import Binding, BindingType
from textual.filter import LineFilter

from sim.policies.own.consent import ask_for_consent
from sim.policies.policy import written_policy
from sim.support.errors import SchedscopeError
from sim.support.files import is_database, refuse_replacing
from sim.support.formatting import printable, printable_lines
from sim.workload.source import Source
from tui.annexes import annexed
from tui.crash_report import Guarded
from tui.look.palette import Look
from tui.look.settings import Settings, kept_now, load, save, settings_path
from tui.look.text import file_name
from tui.look.themes import Ascii, Printable, choose, depth_of, frames_a_second, theme_name, themes
from tui.memory import give_back_at_once
from tui.menus import LOADING, Menus
from tui.replay.controller import ReplayController
from tui.replay.opening import Opening, Prepared, opening_of
from tui.replay.speed import BY_EVENT
from tui.replay.stage import RunView
from tui.screens.replay import messages
from tui.screens.replay.files import Files, GuestFiles
from tui.screens.replay.screen import ReplayScreen
from tui.screens.replay.state import first_view
from tui.shutdown import HANGUP, close_the_gone, how_to_quit, is_gone, on_signals, patient
from tui.thread_results import hand_over

if TYPE_CHECKING:
    from textual.command import Provider
    from textual.driver import Driver
    from textual.notifications import SeverityLevel
    from textual.screen import Screen

    from sim.session.session import Session
    from sim.session.trust import NeedsTrustError
    from tui.sessions.session_manager import SessionManager

AFTER_THE_FIRST_FRAME = 0.2
"""Seconds between the first frame and work that can wait, such as offering a crashed session."""


def _screen_commands() -> type[Provider]:
    from tui.screens.commands import ScreenCommands

    return ScreenCommands


@dataclass(frozen=True)
class Guest:
    """User without settings and files on this machine: a recording of a film, or a visitor by the web."""

    look: Look
    now: Callable[[], float] | None = None
    """Function that the program uses as its clock; it returns seconds. None for the system's clock."""
    traces: tuple[str, ...] = ()
    """Traces that this user can open in addition to the samples."""


class Schedscope(Guarded):
    """Main class of the terminal program, a Textual app."""

    TITLE = "schedscope"
    COMMANDS: ClassVar[set[Any]] = {_screen_commands}
    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+z", "suspend_process", "suspend", show=False)]

    def __init__(
        self,
        prepared: Prepared | None,
        asked: NeedsTrustError | None = None,
        results: str | None = None,
        guest: Guest | None = None,
        lessons: bool = False,
    ) -> None:
        ask_for_consent()
        self.guest = guest
        self.settings_path, self._is_refused = settings_path(), False
        self.settings, self._warning = (Settings(), None) if guest else load(self.settings_path)
        # Textual takes NO_COLOR out of the environment.
        self.look = guest.look if guest else choose(self.settings, os.environ, sys.stdout.encoding)
        super().__init__()
        self.opened = prepared
        self._asked = asked
        self._begins_with_lessons = lessons
        self._session_manager: SessionManager | None = None
        self._menus = Menus(self, guest.traces if guest else None)
        self._file = results

    def get_line_filters(self) -> list[LineFilter]:
        return [*super().get_line_filters(), Printable(), *([Ascii()] if self.look.ascii else [])]

    def notify(
        self,
        message: str,
        *,
        title: str = "",
        severity: SeverityLevel = "information",
        timeout: float | None = None,
        markup: bool = False,
    ) -> None:
        """Show a short message for a few seconds, without markup, because it may quote files."""
        super().notify(
            printable_lines(message), title=printable(title), severity=severity, timeout=timeout, markup=False
        )

    def action_help_quit(self) -> None:
        self.notify(how_to_quit(self))

    def action_command_palette(self) -> None:
        from tui.screens.commands import Palette

        if not isinstance(self.screen, Palette):
            self.push_screen(Palette())

    def get_driver_class(self) -> type[Driver]:
        return patient(super().get_driver_class())

    def on_load(self) -> None:
        on_signals(self._end_by)

    def on_mount(self) -> None:
        for theme in themes():
            self.register_theme(theme)
        self.use_look(self.look.with_depth(24 if self.is_headless else depth_of(self.console)), kept=False)
        self.set_keymap(dict(self.settings.keymap))
        self.show_begin()
        if self._asked is not None:
            self.ask_for_trust(self._asked)
        if self._warning:
            self.notify(self._warning, severity="warning", timeout=10)
        if not self.is_headless:
            self.set_interval(1, self._look_for_terminal)
        if self.guest is None:
            self.set_timer(AFTER_THE_FIRST_FRAME, self._settle)

    def show_begin(self) -> None:
        """Show the first screen: a replay, a table of results, a list of lessons or a menu."""
        if self.opened is not None:
            self._show(self.opened)
        elif self._file is not None:
            self._menus.show_results(self._file, self.look)
        else:
            (self._show_lessons if self._begins_with_lessons else self._show_first)()

    def _settle(self) -> None:
        """Do the work that can wait until the first frame is drawn, such as offering a crashed session."""
        opening = self.opened.opening if self.opened else None
        is_new = self._asked is None and (opening is None or opening.session is None)
        self.session_manager.begin(is_new and not self.in_lesson, None if opening is None else opening.source.trace)
        if opening is not None and opening.session is None and opening.source.sample is None and not self.in_lesson:
            self.remember_trace(opening.source.trace)

    @on(messages.ShowFirst)
    def _show_first(self) -> None:
        self._menus.show_first(self.settings, self.look)

    @on(messages.LessonOver)
    def _end_lesson(self, over: messages.LessonOver) -> None:
        self.after_lesson(over.is_right)

    def after_lesson(self, is_right: bool | None) -> None:
        """Show what follows the last scene of a lesson; `is_right` is about its last answer, if any."""
        self._show_lessons()

    @on(messages.ShowLessons)
    def _show_lessons(self) -> None:
        self._menus.show_lessons(self.settings, self.look)

    @on(messages.OpenLesson)
    def _open_lesson(self, wanted: messages.OpenLesson) -> None:
        annexed("lesson")(self, wanted.name)

    @on(messages.SceneChanged)
    def _remember_scene(self, message: messages.SceneChanged) -> None:
        settings = self.settings.with_lesson(message.name, message.seen)
        if message.name and settings != self.settings:
            self.remember(lambda now: now.with_lesson(message.name, settings.lessons[message.name]))

    def _show(self, prepared: Prepared) -> None:
        self.opened = prepared
        fps = self.settings.fps or frames_a_second(os.environ)
        is_taught = self.in_lesson or prepared.opening.source.sample is not None  # its text is about jobs' own colours
        colour = None if is_taught else self.settings.colour_by
        state = first_view(prepared.about.workload, self.settings.panels, colour, self.settings.speed)
        if prepared.opening.session is not None:
            from tui.sessions.session_conversion import view_of

            state, warnings = view_of(prepared.opening.session, prepared.about.workload, state)
            for warning in warnings:
                self.notify(warning, severity="warning", timeout=10)
        opening = prepared.opening
        state = replace(state, note=opening.note, guide=prepared.guide, projected=opening.projected)
        if prepared.opening.by_event:
            state = replace(state, speed=BY_EVENT, aside=state.speed)
        controller = ReplayController(RunView(prepared.timeline))
        now = self.guest.now if self.guest else None
        files = GuestFiles if self.guest else Files
        screen = ReplayScreen(prepared.about, controller, self.look, state, fps, self.settings.recent, now, files)
        if prepared.first is not None:
            screen.player.ask(prepared.first)
        self.show_replay(screen)

    def show_replay(self, screen: Screen[Any]) -> None:
        self._menus.show_replay(screen)

    @property
    def replay(self) -> ReplayScreen | None:
        return next((screen for screen in reversed(self.screen_stack) if isinstance(screen, ReplayScreen)), None)

    def on_key(self, event: events.Key) -> None:
        """Give keys to the dialog that is open if they were sent to the replay below, as happens on a slow line."""
        if isinstance(event._sender, ReplayScreen) and event._sender is not self.screen:
            event.prevent_default()
            self.post_message(events.Key(event.key, event.character))

    # Another trace

    @on(messages.OpenTrace)
    def _open_trace(self, wanted: messages.OpenTrace) -> None:
        if is_database(wanted.trace):
            self._menus.show_results(wanted.trace, self.look)
            return
        placement = self.opened.opening.placement if self.opened else "lowest"
        self.open(lambda: Opening(Source(wanted.trace), wanted.policy, placement))

    @on(messages.OpenEntry)
    def _open_entry(self, wanted: messages.OpenEntry) -> None:
        if wanted.is_session:
            from tui.sessions.session_conversion import found_session, reopened

            self.open(lambda: reopened(found_session(wanted.value)))
        elif is_database(wanted.value):
            self._menus.show_results(wanted.value, self.look)
        else:
            self.open(lambda: opening_of(Source(wanted.value), usual=self.settings.usual))

    @work(thread=True, exclusive=True, group=LOADING)
    def open(self, opening: Callable[[], Opening], then: Callable[[], None] = lambda: None) -> None:
        """Read the run of `opening` in a separate thread, show it, then call `then`. A session's code needs consent."""
        try:
            prepared = self.prepare(opening())
        except SchedscopeError as error:
            from sim.session.trust import NeedsTrustError

            if isinstance(error, NeedsTrustError):
                hand_over(self, self.ask_for_trust, error, then)
            else:
                hand_over(self, self.notify, str(error), severity="error", timeout=12)
        else:
            hand_over(self, self._opened, prepared, then)

    def prepare(self, opening: Opening) -> Prepared:
        """Return the run of an opening (a trace with options, or a session), read in a separate thread."""
        return opening.prepare()

    def ask_for_trust(self, asked: NeedsTrustError, then: Callable[[], None] = lambda: None) -> None:
        """Ask the user whether the code of a session may run, then open the session with or without it."""
        from tui.sessions.trust_dialog import answered, question

        def go_on(answer: str | None) -> None:
            if answer is not None:
                self.open(lambda: answered(asked, answer), then)

        self.push_screen(question(asked), go_on)

    def _opened(self, prepared: Prepared, then: Callable[[], None]) -> None:
        if prepared.guide is None:
            self.remember_trace(prepared.about.trace)
        self._show(prepared)
        then()

    # Settings and sessions

    @property
    def session_manager(self) -> SessionManager:
        if self._session_manager is None:
            from tui.sessions.session_manager import SessionManager

            self._session_manager = SessionManager(
                self, lambda: self.opened, lambda: self.session, self.open, lambda: self.look
            )
        return self._session_manager

    @property
    def in_lesson(self) -> bool:
        return self.opened is not None and self.opened.guide is not None

    @property
    def session(self) -> Session | None:
        screen, opened = self.replay, self.opened
        if opened is None:
            return None
        if screen is None or screen.shown is None:
            return opened.opening.session or self.session_manager.begun(opened)
        from tui.sessions.session_conversion import record

        return record(self.session_manager.begun(opened), screen.state, screen.shown, screen.jobs)

    @on(messages.KeepSession)
    def _keep_session(self, wanted: messages.KeepSession) -> None:
        """Save the session in the file that the message names, or copy it to the clipboard if it names none."""
        from sim.session.session import one_line, session_text, write_session

        if self.replay is None:
            return
        try:
            session = self.session
            assert session is not None
            if wanted.is_command:
                from tui.sessions.session_conversion import command_of

                assert self.replay.scene is not None
                self.copy_to_clipboard(told := command_of(session, self.replay.scene))
                told = f"copied: {told}"
            elif wanted.path is None:
                self.copy_to_clipboard(one_line(session))
                told = "the session is in the clipboard: schedscope --session brings the line back"
            elif self.guest is not None:
                self._deliver(messages.Deliver(wanted.path, session_text(session)))
                told = "drop the file on this page, or open it with schedscope --session FILE, to restore it"
            else:
                path = Path(os.path.expanduser(wanted.path))
                refuse_replacing(path, "session", b"schedscope session")
                write_session(session, path)
                self.remember(lambda now: now.with_session(str(path.resolve())))
                told = f"saved: schedscope --session {shlex.quote(str(path))}"
        except SchedscopeError as error:
            self.replay.fail(str(error))
        else:
            self.replay.tell(told)

    @on(messages.SceneChanged)
    def _tell_notes(self) -> None:
        state = None if self.guest or self.replay is None else self.replay.state
        if state is not None and state.guide is not None and state.projected:
            try:
                state.guide.publish()
            except SchedscopeError as error:
                self.notify(str(error), severity="warning")

    @on(messages.Deliver)
    def _deliver(self, wanted: messages.Deliver) -> None:
        self.deliver_text(StringIO(wanted.text), save_directory="/", save_filename=file_name(wanted.name))

    @on(messages.Remember)
    def _remember(self, wanted: messages.Remember) -> None:
        self.remember(lambda now: replace(now, **wanted.changed))

    @on(messages.PolicyChosen)
    def _remember_policy(self, chosen: messages.PolicyChosen) -> None:
        self.remember(lambda now: now.with_policy(written_policy(chosen.policy)))

    def remember(self, change: Callable[[Settings], Settings]) -> None:
        """Apply `change` to the settings and save them, merged with other processes' changes; warn if saving fails."""
        kept = None if self.guest or self._is_refused else kept_now(self.settings_path)
        self.settings = change(kept or self.settings)
        problem = None if self.guest else save(self.settings, self.settings_path)
        self._is_refused = problem is not None
        if problem:
            self.notify(problem, severity="warning")

    def remember_trace(self, trace: str) -> None:
        self.remember(lambda now: now.with_recent(os.path.realpath(trace) if os.path.exists(trace) else trace))

    @on(messages.UseLook)
    def _use_look(self, wanted: messages.UseLook) -> None:
        self.use_look(wanted.look)

    def use_look(self, look: Look, kept: bool = True) -> None:
        """Change the look (colours and characters) of all screens; save it in the settings unless `kept` is False."""
        self.look = look
        self.theme = theme_name(look)
        if kept:
            self.remember(lambda now: replace(now, look=look.name, mode=look.mode))
        self._menus.use_look(look)
        if self.replay is not None:
            self.replay.use_look(look)

    @on(messages.Quit)
    def _quit(self) -> None:
        begun = self.replay is not None and self.replay.scene is not None and self.replay.scene.snapshot.step > 0
        problem = self.session_manager.keep_last() if begun and self.guest is None else None
        if problem is None:
            self.exit()
            return
        from tui.screens.dialogs.choice import ChoiceDialog

        options = (("s", "save", f"in a file of your choice: {problem}"), ("q", "quit", "the current state is lost"))
        self.push_screen(ChoiceDialog("The session cannot be kept", options), self._quit_or_save)

    async def _quit_or_save(self, answer: str | None) -> None:
        if answer == "quit":
            self.exit()
        elif answer == "save" and self.replay is not None:
            await self.replay.run_action("save")

    def exit(self, *args: Any, **kwargs: Any) -> None:
        if self.guest is None:
            self.session_manager.leave()
        super().exit(*args, **kwargs)

    def _end_by(self, number: int) -> None:
        """Handle the signal `number`, which ends the program: restore the terminal and save the run."""
        if self.guest is None:
            self.session_manager.break_off()
        super().exit(return_code=128 + number)

    def _look_for_terminal(self) -> None:
        if is_gone():
            self._end_by(HANGUP)

    def panic(self, *renderables: Any) -> None:
        """Report an unexpected error; but if the terminal was closed, end the program quietly."""
        if is_gone():
            self._end_by(HANGUP)
        else:
            super().panic(*renderables)


def open_replay(
    opening: Opening | None, asked: NeedsTrustError | None = None, results: str | None = None, lessons: bool = False,
    prepare: Callable[[Opening], Prepared] = methodcaller("prepare"),
) -> int:  # fmt: skip
    """Run the program, first with a replay, results, lessons or the menu; return its exit code."""
    give_back_at_once()
    return run_app(Schedscope(prepare(opening) if opening else None, asked, results, lessons=lessons))


def run_app(app: Schedscope) -> int:
    sys.stdin = StringIO()  # the screen owns the keyboard; a policy that reads input gets an end of file
    app.run()
    if app.opened is not None and app.opened.guide is not None and app.opened.opening.projected:
        app.opened.guide.unpublish()
    if is_gone():
        close_the_gone()
    return app.return_code or 0
