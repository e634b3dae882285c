"""Lists of options that bear keys, clicks and a change of size in one write."""

from __future__ import annotations

from textual._widget_navigation import Direction
from textual.widgets import OptionList


class Options(OptionList):
    """Textual's list; pages turn only if it has room for a line."""

    def _move_page(self, direction: Direction) -> None:
        if self.scrollable_content_region:
            super()._move_page(direction)


def is_listed(event: OptionList.OptionMessage) -> bool:
    """Return True if the list still has the option of this event: it may have been filled again since."""
    options = event.option_list
    return event.option_index < options.option_count and options.options[event.option_index] is event.option
