import re

import pytest

segno = pytest.importorskip("segno", reason="segno is missing: pip install 'schedscope[web]'")

from tui.classroom.web.codes import WORDS, is_code, new_code, qr_picture, qr_rows  # noqa: E402

LINK = "http://192.168.100.200:8000/?token=maple-river-42"


def test_codes_are_two_plain_words_and_a_number() -> None:
    words = WORDS.split()
    assert len(set(words)) == 256
    assert all(re.fullmatch("[a-z]{3,8}", word) for word in words)
    codes = {new_code() for _ in range(20)}
    assert len(codes) > 15
    assert all(re.fullmatch(r"[a-z]+-[a-z]+-[1-9]\d", code) for code in codes)


@pytest.mark.parametrize(("typed", "is_right"), [
    ("maple-river-42", True), (" MAPLE  river 42\n", True), ("mapleriver42", True), ("river-maple-42", False),
    ("maple-river-4", False), ("", False), ("mäple-river-42", False), ("\x00" * 500 + "maple-river-42", False),
])  # fmt: skip
def test_case_and_blanks_of_a_code_do_not_matter(typed: str, is_right: bool) -> None:
    assert is_code(typed, "maple-river-42") is is_right


@pytest.mark.parametrize("on_dark", [True, False])
def test_half_blocks_show_each_module_of_the_qr_code(on_dark: bool) -> None:
    rows = qr_rows(LINK, on_dark)
    filled = [[block in blocks for block in row] for row in rows for blocks in ("█▀", "█▄")]
    is_dark = [[is_filled != on_dark for is_filled in row] for row in filled]
    expected = [
        [bool(module) for module in row] for row in segno.make(LINK, error="l", micro=False).matrix_iter(border=2)
    ]
    assert is_dark[: len(expected)] == expected
    assert (len(rows), len(rows[0])) == (17, 33)  # with it the wall of 60x18 cells is full


def test_picture_of_the_qr_code_is_an_svg_without_scripts() -> None:
    assert qr_picture(LINK).startswith("data:image/svg+xml")
    assert "script" not in qr_picture("http://<script>/")
