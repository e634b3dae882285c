"""The replay screen, with all its actions."""

from __future__ import annotations

from tui.screens.replay.drawing import Drawn
from tui.screens.replay.files import Keeping
from tui.screens.replay.looking import Looking
from tui.screens.replay.transport import Playing
from tui.screens.replay.what_if import Changing


class ReplayScreen(Playing, Changing, Looking, Keeping, Drawn):
    """A trace, replayed."""
