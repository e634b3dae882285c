import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.look.sheets import Line
from tui.look.text import cells
from tui.screens.replay.keyline import key_lines


def line_texts(lines: list[Line]) -> list[str]:
    return [each.text.rstrip() for each in lines]


def test_the_most_important_first_and_help_and_quit_at_the_end() -> None:
    (line,) = line_texts(key_lines(80, 1, playing=False))
    assert line.startswith(" space play  → step  ← back  p policy")
    assert line.endswith("? help  q quit")


def test_what_plays_can_be_paused() -> None:
    (line,) = line_texts(key_lines(80, 1, playing=True))
    assert line.startswith(" space pause")


def test_keys_that_belong_together_stand_together() -> None:
    (line,) = line_texts(key_lines(200, 1, playing=False))
    assert "↑ ↓ speed" in line
    assert ". , decision" in line
    assert line.count("speed") == line.count("decision") == 1


@pytest.mark.parametrize(
    ("what", "keys"),
    [
        ("job", "r cause  u helped"),
        ("turns", ") ( turn"),
        ("stops", "; : stops"),
        ("compared", "e other run  C gains  v end compare"),
        ("differs", "d difference"),
    ],
)
def test_key_line_offers_what_applies_right_now(what: str, keys: str) -> None:
    (without,) = line_texts(key_lines(120, 1, playing=False))
    (line,) = line_texts(key_lines(120, 1, playing=False, applies=frozenset({what})))
    assert line.startswith(f" space play  → step  ← back  {keys}  p policy")
    assert keys not in without


def test_key_line_names_what_v_does_while_comparing() -> None:
    (line,) = line_texts(key_lines(120, 1, playing=False, applies=frozenset({"compared"})))
    assert "v end compare" in line


def test_what_finds_no_room_in_the_first_line_stands_in_the_second() -> None:
    first, second = line_texts(key_lines(60, 2, playing=False))
    assert first.startswith(" space play")
    assert "quit" not in first
    assert second.endswith("? help  q quit")


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


def test_what_applies_takes_the_room_of_panel_names_in_a_single_row() -> None:
    tabs = ("queue", False), ("decisions", True), ("details", False)
    (line,) = line_texts(key_lines(60, 1, playing=False, applies=frozenset({"job"}), tabs=tabs))
    assert line == " space play  → ←  1 2 3  r cause  u helped  ? help  q quit"


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
