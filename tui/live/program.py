"""Program for an observed cluster, live or replayed from a recording; it neither reads nor saves sessions."""

from __future__ import annotations

import os
import sys
from io import StringIO

from sim.live.cluster.recording import Recording, Scratch
from tui.app import Guest, Schedscope
from tui.live.cli.observed import moment
from tui.live.scene import LiveState
from tui.live.screens.screen import LiveScreen
from tui.live.watch import Live, Replayed, Watch
from tui.look.palette import Look
from tui.memory import give_back_at_once
from tui.shutdown import close_the_gone, is_gone


class LiveApp(Schedscope):
    def __init__(
        self, watch: Watch, look: Look | None = None, state: LiveState | None = None, at: float | None = None
    ) -> None:
        """Make the app; with a `look` it neither reads nor saves the user's settings."""
        super().__init__(None, guest=None if look is None else Guest(look))
        self._watch, self._state, self._at = watch, state, at

    def show_begin(self) -> None:
        self.push_screen(LiveScreen(self._watch, self.look, self._state, self._at))

    def _settle(self) -> None:
        """Offer no session of a replay."""


def open_live(watch: Watch, state: LiveState | None = None, at: float | None = None) -> int:
    """Show an observed cluster from time `at` on until the user quits; return the exit code."""
    give_back_at_once()
    app = LiveApp(watch, None, state, at)
    sys.stdin = StringIO()  # the keyboard is the screen's
    try:
        app.run()
    finally:
        watch.stop()
    if is_gone():
        close_the_gone()
    return app.return_code or 0


def cluster_screen(look: Look) -> LiveScreen:
    from sim.live.cluster.slurm.adapter import SlurmSource

    return LiveScreen(Live(SlurmSource(), aside=Scratch()), look)


def open_recording(path: str, at: str | None) -> int:
    """Show a recording of a cluster at the time that the user typed, or at its end; return the exit code."""
    found = Recording(path)
    return open_live(Replayed(found, os.path.basename(path)), at=None if at is None else moment(at, found))
