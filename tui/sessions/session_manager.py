"""Manager of sessions: it offers that of a crashed program, saves regularly, and at the end as the last."""

from __future__ import annotations

from asyncio import to_thread
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Protocol, TypeAlias, runtime_checkable

from textual.app import App
from textual.screen import Screen

from sim.session.session import Session, verify_trace, write_session
from sim.session.sources import session_of
from sim.support.errors import SchedscopeError
from tui.annexes import annexed
from tui.look.palette import Look
from tui.replay.opening import Opening, Prepared
from tui.screens.dialogs.choice import ChoiceDialog
from tui.sessions.autosave import Autosave, Orphan, offer
from tui.sessions.session_conversion import last_path, reopened
from tui.thread_results import hand_over

AUTOSAVE = 1.0
"""Seconds from one autosave to the next. On a busy machine a saved session lacks up to 1.2 s of work after a crash."""
Open: TypeAlias = Callable[[Callable[[], Opening], Callable[[], None]], object]
"""Function that opens what its first argument returns in the background, and then calls the second."""


@runtime_checkable
class Continued(Protocol):
    """Screen of a puzzle or a game, which can be continued after a crash."""

    def to_keep(self) -> Session | None: ...


class SessionManager:
    """Manager of the program's sessions; `now` returns the session for the run on the screen."""

    def __init__(
        self, app: App[int], opened: Callable[[], Prepared | None], now: Callable[[], Session | None], open_it: Open,
        look: Callable[[], Look],
    ) -> None:  # fmt: skip
        self._app, self._opened, self._now, self._open, self._look = app, opened, now, open_it, look
        self._autosave: Autosave | None = None
        self._saved: Session | None = None
        self._begun: tuple[Prepared, Session] | None = None
        self._has_left = self._is_failing = False

    def begin(self, is_new: bool, trace: str | None) -> None:
        """Begin to save the session regularly; if `is_new`, first offer the session of a crashed program.

        A user who has named another trace wants to see that, and is not asked.
        """
        if self._has_left:
            return
        orphan = offer() if is_new else None
        if orphan and (trace is None or Path(trace).name == Path(orphan.session.trace.name).name):
            self._offer(orphan)
        self._save(self._lock)
        self._app.call_later(self._save_on_time)

    def _offer(self, orphan: Orphan) -> None:
        session = orphan.session
        options = (
            ("c", "continue", _described(session)),
            ("n", "not now", "it will be offered again"),
            ("d", "discard", "forget it"),
        )

        def chosen(answer: str | None) -> None:
            if answer == "continue" and _is_of_annexe(session):
                self._app.run_worker(lambda: self._restore(orphan), thread=True)
            elif answer == "continue":
                self._open(lambda: _reopened(session), lambda: self._take_over(orphan))
            elif answer == "discard":
                orphan.discard()

        self._app.push_screen(ChoiceDialog("The last session ended unexpectedly", options), chosen)

    def _restore(self, orphan: Orphan) -> None:
        try:
            screen = annexed("kept screen")(orphan.session, self._look())
        except SchedscopeError as error:
            hand_over(self._app, self._app.notify, str(error), severity="error", timeout=12)
        else:
            hand_over(self._app, self._put, screen, orphan)

    def _put(self, screen: Screen[None], orphan: Orphan) -> None:
        self._app.push_screen(screen)
        self._take_over(orphan)

    def _take_over(self, orphan: Orphan) -> None:
        """Delete the session of a crashed program, as soon as this program has saved its own."""
        self.save_now()
        orphan.discard()

    def begun(self, opened: Prepared) -> Session:
        """Return the session of a run's beginning; it is stored, because the hash of a trace takes long."""
        known = self._begun
        if known is None or known[0] is not opened:
            opening = opened.opening
            session = session_of(opening.source, opening.policy, opened.switches, opening.placement)
            known = self._begun = opened, session
        return known[1]

    @property
    def _run_to_save(self) -> Prepared | None:
        """Return the run on the screen if it is to be saved; a lesson's progress is saved in another way."""
        opened = self._opened()
        return None if opened is None or opened.guide is not None else opened

    async def _save_on_time(self) -> None:
        opened = self._run_to_save
        if opened is not None and (self._begun is None or self._begun[0] is not opened):
            with suppress(SchedscopeError):  # reported when it is to be saved
                await to_thread(self.begun, opened)
        self.save_now()
        self._app.set_timer(AUTOSAVE, self._save_on_time)  # an interval skips a beat after one that came late

    def save_now(self) -> None:
        """Save the present session, unless it is the same as when it was last saved."""
        if not self._has_left:
            self._save(self._session)

    def _save(self, keep: Callable[[], object]) -> None:
        """Save a session; warn if that fails, but only once until a later call succeeds."""
        try:
            keep()
        except SchedscopeError as error:
            if not self._is_failing:
                self._app.notify(f"{error} (tried again every {AUTOSAVE:g} s)", severity="warning")
            self._is_failing = True
        else:
            self._is_failing = False

    def _lock(self) -> Autosave:
        if self._autosave is None:
            self._autosave = Autosave()
        return self._autosave

    def _session(self) -> None:
        autosave, session = self._lock(), self._to_keep()
        if session is not None and session != self._saved:
            autosave.save(session)
            self._saved = session

    def _to_keep(self) -> Session | None:
        for screen in reversed(self._app.screen_stack):
            if isinstance(screen, Continued):
                return screen.to_keep()
            if hasattr(screen, "player"):
                break
        return self._now() if self._run_to_save else None

    def break_off(self) -> None:
        """Save the session when a signal ends the program; the next start of the program offers it."""
        self.save_now()
        self._has_left = True

    def keep_last(self) -> str | None:
        """Save the present session as the last one; return the error as text, or None."""
        try:
            if self._run_to_save and (session := self._now()) is not None:
                last_path().parent.mkdir(parents=True, exist_ok=True)
                write_session(session, last_path())
        except (SchedscopeError, OSError) as error:
            return str(error)
        return None

    def leave(self) -> None:
        if self._has_left:
            return
        self._has_left = True
        self.keep_last()
        if self._autosave is not None:
            self._autosave.close()
            self._autosave = None


def _reopened(session: Session) -> Opening:
    if problem := verify_trace(session):
        raise SchedscopeError(problem.told)
    return reopened(session)


def _is_of_annexe(session: Session) -> bool:
    """Return True for the session of a puzzle or a game, False for that of a replay."""
    return session.view.get("screen") in ("puzzle", "game")


def _described(session: Session) -> str:
    told = f"{Path(session.trace.name).name}, {session.policy}, step {session.step:,} of {session.branch}"
    if _is_of_annexe(session):
        told = annexed("kept screen in words")(session)
    return told
