"""Sessions of a running program: what broke off is offered, where it is now is saved, where it was left is kept."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from sim.errors import SchedscopeError
from sim.policies.policy import written_policy
from sim.session.session import Session, verify_trace, write_session
from sim.session.sources import session_of
from tui.replay.opening import Opening, Prepared
from tui.screens.dialogs.choice import Choice
from tui.sessions.autosave import Autosave, Orphan, offer
from tui.sessions.moment import last_path, planned, record

if TYPE_CHECKING:
    from tui.app import Schedscope

AUTOSAVE = 2.0
"""Seconds between two autosaves."""


class Keeper:
    """Keeps the sessions of one run of the program."""

    def __init__(self, app: Schedscope) -> None:
        self._app = app
        self._autosave: Autosave | None = None
        self._saved: Session | None = None
        self._begun: tuple[Prepared, Session] | None = None
        self._has_left = False

    def begin(self) -> None:
        """Offer what an earlier run left when it broke off, and save where this one is every now and then."""
        if self._has_left:
            return
        if self._app.opened.opening.session is None and (orphan := offer()):
            self._offer(orphan)
        try:
            self._autosave = Autosave()
        except SchedscopeError as error:
            self._app.notify(str(error), severity="warning")
        else:
            self._app.set_interval(AUTOSAVE, self.save_now)

    def _offer(self, orphan: Orphan) -> None:
        session = orphan.session
        where = f"{Path(session.trace.name).name}, {session.policy}, step {session.step:,} of {session.branch}"
        options = (
            ("c", "continue", where),
            ("n", "not now", "it will be offered again"),
            ("d", "discard", "forget it"),
        )

        def chosen(answer: str | None) -> None:
            if answer == "continue":
                self._app.open(lambda: reopening(session), lambda: self._take_over(orphan))
            elif answer == "discard":
                orphan.discard()

        self._app.push_screen(Choice("The last run broke off", options), chosen)

    def _take_over(self, orphan: Orphan) -> None:
        """Its autosave has done its duty when there is another."""
        self.save_now()
        orphan.discard()

    @property
    def session(self) -> Session:
        """What brings back what is shown."""
        app = self._app
        if app.replay is None or app.replay.shown is None:
            return app.opened.opening.session or self._begin_of(app.opened)
        return record(app.replay, self._begin_of(app.opened))

    def _begin_of(self, opened: Prepared) -> Session:
        """The session of the very beginning: the trace is read once for it."""
        if self._begun is None or self._begun[0] is not opened:
            opening = opened.opening
            session = session_of(opening.source, written_policy(opening.policy))
            branches = planned(opening.switches)
            self._begun = opened, replace(session, placement=opening.placement, branches=branches)
        return self._begun[1]

    def save_now(self) -> None:
        """Save where the program is, unless that has been saved."""
        if self._autosave is None:
            return
        try:
            session = self.session
            if session != self._saved:
                self._autosave.save(session)
                self._saved = session
        except SchedscopeError as error:
            self._autosave = None
            self._app.notify(f"no more autosaves: {error}", severity="warning")

    def leave(self) -> None:
        """The program ends as it should: nothing broke off, and where it was left is kept as the last session."""
        if self._has_left:
            return
        self._has_left = True
        with suppress(SchedscopeError, OSError):
            last_path().parent.mkdir(parents=True, exist_ok=True)
            write_session(self.session, last_path())
        if self._autosave is not None:
            self._autosave.close()
            self._autosave = None


def reopening(session: Session) -> Opening:
    """What a session is to be opened on; its trace must be as it was."""
    if problem := verify_trace(session):
        raise SchedscopeError(problem.told)
    return Opening.of_session(session)
