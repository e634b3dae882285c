from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console
from rich.segment import Segment
from textual.color import Color
from textual.theme import Theme

from tui.look.palette import LOOKS, Look, contrast
from tui.look.settings import Settings
from tui.look.text import cells, plain
from tui.look.themes import Ascii, Printable, choose, depth_of, in_ascii, theme_name, theme_of, themes


@pytest.mark.parametrize(("environ", "encoding", "look", "mode"), [
    ({"TERM": "xterm-256color"}, "utf-8", "dark", "colour"), ({"NO_COLOR": "1"}, "utf-8", "dark", "mono"),
    ({"NO_COLOR": ""}, "utf-8", "dark", "colour"), ({"TERM": "dumb", "NO_COLOR": "1"}, "utf-8", "dark", "ascii"),
    ({}, "latin-1", "dark", "ascii"), ({}, None, "dark", "ascii"), ({"COLORFGBG": "0;15"}, "UTF-8", "light", "colour"),
    ({"COLORFGBG": "0;default;7"}, "UTF-8", "light", "colour"), ({"COLORFGBG": "15;0"}, "UTF-8", "dark", "colour"),
    ({"COLORFGBG": "15;default"}, "UTF-8", "dark", "colour"),
])  # fmt: skip
def test_the_look_is_told_by_the_terminal(environ: dict[str, str], encoding: str | None, look: str, mode: str) -> None:
    chosen = choose(Settings(), environ, encoding)
    assert (chosen.name, chosen.mode) == (look, mode)


def test_themes_are_chosen_and_ascii() -> None:
    chosen = choose(Settings(look="contrast", mode="colour"), {"NO_COLOR": "1", "COLORFGBG": "0;15"}, "utf-8")
    assert (chosen.name, chosen.mode) == ("contrast", "colour")
    names = [theme.name for theme in themes()]
    assert len(names) == len(set(names)) == 2 * len(LOOKS)
    for look in LOOKS.values():
        assert {theme_name(look), theme_name(look.with_mode("mono")), theme_name(look.with_mode("ascii"))} <= {*names}
    drawn = "╭─ 日本 ▸ é … ↵ ⚑ ▁▃█ ─╮"
    assert in_ascii(drawn).isascii()
    assert len(in_ascii(drawn)) == cells(drawn)
    kept, changed = Ascii().apply([Segment("plain"), Segment("│")], Color.parse("black"))
    assert (kept.text, changed.text) == ("plain", "|")
    told = [Segment("a\x1b[31mb\u202ec\x9b日本\xa0")]
    filtered = Printable().apply(told, Color(0, 0, 0))
    assert "".join(segment.text for segment in filtered) == "a[31mbc日本\xa0"
    assert sum(segment.cell_length for segment in filtered) == sum(segment.cell_length for segment in told)


@pytest.mark.parametrize(("system", "depth"), [("truecolor", 24), ("256", 8), ("standard", 4), (None, 4)])
def test_the_depth_of_colour_is_the_terminals(system: str | None, depth: int) -> None:
    console = Console(file=StringIO(), force_terminal=True, color_system=system)  # type: ignore[arg-type]
    assert depth_of(console) == depth


@pytest.mark.parametrize("look", LOOKS.values(), ids=LOOKS)
def test_without_colour_no_theme_has_a_strong_one(look: Look) -> None:
    grey = theme_of(look.with_mode("mono"))
    for colour in (grey.primary, grey.accent, grey.error, grey.warning, grey.success):
        assert Color.parse(colour or "").hsl.s < 0.1


@pytest.mark.parametrize("theme", themes(), ids=lambda theme: theme.name)
def test_second_line_of_the_chosen_entry_can_be_read(theme: Theme) -> None:
    told, ground = theme.variables["text-second"], theme.variables["block-cursor-background"]
    assert contrast(told, ground) >= 4.5
    assert contrast(told, theme.surface or "") >= 4.5


def test_every_sign_of_ours_has_one_of_ascii() -> None:
    ours = {
        sign
        for file in (Path(__file__).resolve().parents[3] / "tui").rglob("*.py")
        for sign in file.read_text(encoding="utf-8")
    } - {*"日本é"}
    signs = "".join(sorted(sign for sign in ours if not sign.isascii()))
    assert "?" not in in_ascii(signs) + plain(signs)
    assert len(signs) > 50
