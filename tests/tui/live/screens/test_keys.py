import pytest

from tui.live.screens.keys import SHARED, help_groups, key_line, keys
from tui.live.screens.screen import LiveScreen
from tui.screens.replay.keys import bindings, every_key


def test_keys_are_alike_and_explained() -> None:
    known = {key.action: key.keys for key in every_key()}
    assert all(known[key.action] == key.keys for key in keys() if key.action in SHARED)
    each = [part for key in keys() for part in key.keys.split(",")]
    assert len(each) == len(set(each))
    names = {key.action.partition("(")[0] for key in keys()}
    assert all(hasattr(LiveScreen, f"action_{name}") for name in names)
    assert len({binding.id for binding in bindings(keys())}) == len(keys())
    rows = [row for _, group in help_groups() for row in group]
    assert any("not before" in meaning for _, meaning in rows)
    assert any(meaning.startswith("List the jobs of the next partition") for _, meaning in rows)


@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_the_line_of_keys_fits_and_ends_with_help_and_quit(width: int) -> None:
    text = key_line(width).text
    assert len(text.rstrip()) <= width
    assert text.rstrip().endswith("q quit")
    assert "help" in text
