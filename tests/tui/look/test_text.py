import pytest

from tui.look import text


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(59.6, "1m00"), (3599.6, "1h00"), (7199, "2h00"), (86399, "1d0h"), (1e9, "11,574d2h"), (9.96, "10.0s")],
)
def test_durations_carry_over_when_they_round_up(seconds: float, shown: str) -> None:
    assert text.duration(seconds) == shown


def test_a_table_gives_each_column_the_room_of_its_widest_cell() -> None:
    assert text.table([("a", "1"), ("bcd", "1,000")], indent=2) == ["  a        1", "  bcd  1,000"]
    assert text.table([]) == []


def test_wide_characters_take_two_columns_of_a_table() -> None:
    assert text.table([("日本", "1"), ("ab", "22")]) == ["日本   1", "ab    22"]


def test_plain_text_is_ascii_whatever_the_file_says() -> None:
    assert text.plain("Köln … ≥ 3").isascii()


def test_no_sign_of_the_screen_becomes_a_question_in_ascii() -> None:
    signs = "▇▸◂▲▼●◐○◆⚑╱░▒▓█…·×"
    assert "?" not in text.drawn(signs, ascii=True)
