import numpy as np

from tui.chart.cells.labels import Label, place_labels


def labels(*rows: str) -> list[Label]:
    cells = [[int(c) if c.isdigit() else -1 if c == "." else ord(c) - ord("a") for c in row] for row in rows]
    ahead = [[c.isalpha() for c in row] for row in rows]
    return place_labels(np.array(cells), np.array(ahead), lambda rank: f"J{rank}")


def test_a_name_stands_in_the_middle_of_its_block_and_begins_with_it() -> None:
    assert labels("......", ".3333.", ".3333.", ".3333.") == [Label(3, 2, 2, "J3")]


def test_it_stands_where_most_room_is() -> None:
    assert labels("33333..", "3333333", ".33333.") == [Label(3, 1, 1, "J3")]


def test_where_room_is_scarce_a_name_fills_its_block() -> None:
    assert labels("..33..") == [Label(3, 0, 2, "J3")]


def test_without_room_there_is_no_name() -> None:
    assert labels("3.3.3") == []


def test_what_is_past_is_named_there_and_not_again_in_the_plan() -> None:
    assert labels("1111bbbbbb") == [Label(1, 0, 1, "J1")]
    assert labels("111bbbbbb") == [Label(1, 0, 4, "J1")]


def test_a_block_that_ends_a_row_is_not_joined_to_the_next() -> None:
    assert labels("...3", "3...") == []


def test_two_names_without_blanks_do_not_touch() -> None:
    assert labels("2233", "2233") == [Label(2, 1, 0, "J2"), Label(3, 0, 2, "J3")]
    assert labels("2233") == [Label(2, 0, 0, "J2")]
    assert labels("22333") == [Label(2, 0, 0, "J2")]


def test_a_name_with_a_blank_may_stand_beside_any() -> None:
    assert labels("223333") == [Label(2, 0, 0, "J2"), Label(3, 0, 3, "J3")]
