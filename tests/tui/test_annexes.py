import pytest

from tui.annexes import PARTS, annexed


@pytest.mark.parametrize("name", PARTS)
def test_every_part_is_where_the_table_says(name: str) -> None:
    assert annexed(name)
