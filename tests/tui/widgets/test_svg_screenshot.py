"""Also tests tui.look.fonts."""

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from rich.segment import Segment
from rich.style import Style

from tui.look.fonts import FILES
from tui.look.palette import LOOKS
from tui.widgets.svg_screenshot import SHAPES, Type, draw_still

SVG = "{http://www.w3.org/2000/svg}"


def drawn(*row: Segment) -> ElementTree.Element:
    return ElementTree.fromstring(draw_still([row], 10, LOOKS["dark"], Type.of(16), "a <b>"))


def test_cells_are_letters_and_shapes() -> None:
    words = drawn(Segment("ab", Style(color="#ff0000")), Segment("   c d", Style(bold=True))).findall(f"{SVG}text")
    assert [(word.text, word.get("x"), word.get("textLength")) for word in words] == [
        ("ab", "0", "20"),
        ("c d", "50", "30"),
    ]
    assert words[0].get("fill") == "#ff0000"
    picture = drawn(Segment("█▀", Style(color="#00ff00", bgcolor="#0000ff")))
    assert not picture.findall(f"{SVG}text")
    ground, blocks = picture.findall(f"{SVG}path")
    assert (ground.get("fill"), ground.get("d")) == ("#0000ff", "M0 0h20v20h-20z")
    assert (blocks.get("fill"), blocks.get("d")) == ("#00ff00", "M0 0h10v20h-10zM10 0h10v10h-10z")
    for parts in SHAPES.values():
        for x, y, width, height in parts:
            assert 0 <= x < x + width <= 1
            assert 0 <= y < y + height <= 1


def test_nothing_is_fetched_and_foreign_text_is_text() -> None:
    made = draw_still([[Segment("<script>&\x1b")]], 10, LOOKS["dark"], Type.of(16), "a <b>")
    assert "<script" not in made
    assert "\x1b" not in made
    assert made.count("http") == 1  # the name of the format


@pytest.mark.parametrize("size", [16, 22, 24, 32])
def test_every_line_has_a_pixel_and_neighbours_meet(size: int) -> None:
    cell = Type.of(size)
    made = draw_still([[Segment("─│▌▐", Style(color="#00ff00"))]], 10, LOOKS["dark"], cell, "lines")
    (path,) = (each.get("d") or "" for each in ElementTree.fromstring(made).iter(f"{SVG}path"))
    across, down, left, right = (tuple(map(int, re.findall(r"\d+", part)[:4])) for part in path.split("z") if part)
    assert (across[2], down[3]) == (cell.width, cell.height)
    assert min(across[3], down[2]) >= 1
    assert (left[0] + left[2], right[2]) == (2 * cell.width + left[2], cell.width - left[2])


@pytest.mark.parametrize("path", FILES)
def test_the_letters_are_there_with_their_licence(path: str) -> None:
    assert Path(path).read_bytes().startswith(b"\x00\x01\x00\x00")
    assert "Bitstream" in Path(path).with_name("LICENSE").read_text(encoding="utf-8")
