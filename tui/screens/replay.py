"""The replay screen, with all its actions."""

from __future__ import annotations

from tui.screens.changing import Changing
from tui.screens.drawn import Drawn
from tui.screens.keeping import Keeping
from tui.screens.looking import Looking
from tui.screens.playing import Playing


class ReplayScreen(Playing, Changing, Looking, Keeping, Drawn):
    """A trace, replayed."""
