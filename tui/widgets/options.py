"""Lists of options that stay correct if keys, clicks and changes of size arrive at the same time."""

from __future__ import annotations

from textual._widget_navigation import Direction
from textual.app import ComposeResult
from textual.events import Click
from textual.widgets import OptionList, Select
from textual.widgets._select import SelectOverlay


class Options(OptionList):
    """Textual's list of options, in which page keys have no effect while the list is not laid out."""

    def _move_page(self, direction: Direction) -> None:
        if (self.highlighted or 0) in self._index_to_line:
            super()._move_page(direction)

    async def _on_click(self, event: Click) -> None:
        """Ignore a click on a line whose option was removed after it was drawn."""
        if (event.style.meta.get("option") or 0) >= self.option_count:
            event.prevent_default()


class Choice(Select[str]):
    """Textual's field to select a word, whose open list is an `Options` list."""

    def compose(self) -> ComposeResult:
        current, _ = super().compose()
        yield current
        yield _Overlay(type_to_search=self._type_to_search).data_bind(compact=Select.compact)


class _Overlay(SelectOverlay, Options):
    """List over other widgets. Textual applies the style rules of the first base class only."""


def is_listed(event: OptionList.OptionMessage) -> bool:
    options = event.option_list
    return event.option_index < options.option_count and options.options[event.option_index] is event.option
