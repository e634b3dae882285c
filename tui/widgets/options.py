"""Lists of options that bear keys, clicks and a change of size in one write."""

from __future__ import annotations

from textual._widget_navigation import Direction
from textual.app import ComposeResult
from textual.widgets import OptionList, Select
from textual.widgets._select import SelectOverlay


class Options(OptionList):
    """Textual's list; pages turn only if it has room for a line."""

    def _move_page(self, direction: Direction) -> None:
        if (self.highlighted or 0) in self._index_to_line:
            super()._move_page(direction)


class Choice(Select[str]):
    """Textual's choice of one word, with such a list."""

    def compose(self) -> ComposeResult:
        current, _ = super().compose()
        yield current
        yield _Overlay(type_to_search=self._type_to_search).data_bind(compact=Select.compact)


class _Overlay(SelectOverlay, Options):
    """List that lies over other widgets while it is open; Textual's rules of style follow the first base only."""


def is_listed(event: OptionList.OptionMessage) -> bool:
    """Return True if the list still has the option of this event: it may have been filled again since."""
    options = event.option_list
    return event.option_index < options.option_count and options.options[event.option_index] is event.option
