import pytest

from tui.look import text


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(59.6, "1m00"), (3599.6, "1h00"), (7199, "2h00"), (86399, "1d0h"), (1e9, "11,574d2h"), (9.96, "10.0s")],
)
def test_durations_carry_over_when_they_round_up(seconds: float, shown: str) -> None:
    assert text.duration(seconds) == shown


def test_tables_have_columns_of_their_widest_cell() -> None:
    assert text.table([("a", "1"), ("bcd", "1,000")], indent=2) == ["  a        1", "  bcd  1,000"]
    assert text.table([]) == []
    assert text.table([("日本", "1"), ("ab", "22")]) == ["日本   1", "ab    22"]


def test_signs_have_others_in_ascii() -> None:
    assert text.plain("Köln … ≥ 3").isascii()
    signs = "▇▸◂▲▼●◐○◆⚑╱░▒▓█…·×"
    assert "?" not in text.drawn(signs, ascii=True)
