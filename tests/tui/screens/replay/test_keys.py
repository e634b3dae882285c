from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.keys import Keys, _character_to_key

from tui.look.sheets import Line
from tui.look.text import cells
from tui.screens.replay.files import Files
from tui.screens.replay.keys import bindings, every_key, identity, key_lines, sign
from tui.screens.replay.looking import Looking
from tui.screens.replay.transport import Transport
from tui.screens.replay.what_if import WhatIf
from tui.widgets.gantt import Gantt


def test_every_key_does_something() -> None:
    done = [name for controller in (Transport, WhatIf, Looking, Files) for name in vars(controller) if name[0] != "_"]
    assert {key.action.partition("(")[0] for key in every_key()} <= {*done}
    assert [name for name, times in Counter(done).items() if times > 1] == []


def test_keys_are_unlike_and_explained() -> None:
    pressed = [each for key in every_key() for each in key.keys.split(",")]
    pressed += [each for binding in Gantt.BINDINGS for each in getattr(binding, "key", "").split(",")]
    assert [each for each, times in Counter(pressed).items() if times > 1] == []
    names = Counter(map(identity, every_key()))
    assert [name for name, times in names.items() if times > 1] == []
    assert {binding.id for binding in bindings(every_key())} == set(names)
    for key in every_key():
        assert key.meaning.endswith((".", "...")), key
        assert key.meaning[0].isupper(), key
        assert key.word or not key.shown, key
    places = [key.shown for key in every_key() if key.shown]
    assert len(places) == len(set(places))


def test_keys_have_their_names() -> None:
    known = {"space", "home", "end", "tab", "shift+tab", "esc", "f5", "ctrl+z"}
    for key in every_key():
        for each in sign(key.keys).split():
            assert len(each) == 1 or each in known, key
    named = {key.value for key in Keys}
    for key in every_key():
        for each in key.keys.split(","):
            assert each in named or _character_to_key(sign(each)) == each, key


def line_texts(lines: list[Line]) -> list[str]:
    return [each.text.rstrip() for each in lines]


@pytest.mark.parametrize(("what", "keys"), [
    ("job", "r cause  u helped  J what if"), ("turns", ") ( turn"), ("stops", "; : stops"),
    ("compared", "e other run  C gains  v end compare"), ("differs", "d difference"),
])  # fmt: skip
def test_key_line_offers_what_applies_right_now(what: str, keys: str) -> None:
    (without,) = line_texts(key_lines(120, 1, playing=False))
    (line,) = line_texts(key_lines(120, 1, playing=False, applies=frozenset({what})))
    assert line.startswith(f" space play  → step  ← back  {keys}  p policy")
    assert keys not in without


def test_a_click_on_a_key_does_what_the_key_does() -> None:
    (line,) = key_lines(120, 1, playing=False)
    actions = {span.text.strip(): span.action for span in line.spans if span.style == "key"}
    assert (actions["space"], actions["p"], actions["?"]) == ("toggle_play", "policy", "help")


def test_a_small_screen_names_its_panels_with_their_keys() -> None:
    tabs = ("queue", False), ("decisions", True), ("details", False), ("matrix", False)
    first, second = key_lines(80, 2, playing=False, tabs=tabs)
    assert first.text.rstrip() == " tab panels  1 queue  2 decisions  3 job  4 matrix"
    assert [span.text.strip() for span in first.spans if span.style == "accent"] == ["decisions"]
    assert second.text.startswith(" space play  → step")
    (line,) = line_texts(key_lines(60, 1, playing=False, tabs=tabs[:3]))
    assert line == " space play  → ←  1 queue 2 decisions 3 job ? help  q quit"


@pytest.mark.parametrize("width", [60, 80])
@pytest.mark.parametrize("rows", [1, 2])
def test_every_panel_is_named_however_many_there_are(width: int, rows: int) -> None:
    tabs = tuple((name, False) for name in ("versus", "matrix", "queue", "decisions", "partitions", "details"))
    line = key_lines(width, rows, playing=False, tabs=tabs)[0]
    assert [span.text for span in line.spans if span.style == "key" and span.text in "G41253"] == [*"G41253"]
    assert cells(line.text) <= width


@given(width=st.integers(18, 250), rows=st.integers(1, 3), playing=st.booleans())
def test_no_line_is_wider_than_the_screen(width: int, rows: int, playing: bool) -> None:
    lines = key_lines(width, rows, playing)
    assert len(lines) <= rows
    assert all(cells(line) <= width for line in line_texts(lines))
    assert "q quit" in line_texts(lines)[-1]


@pytest.mark.parametrize("width", [0, 1, 17])
def test_nothing_breaks_on_a_sliver(width: int) -> None:
    assert len(key_lines(width, 1, playing=False)) == 1
