import numpy as np

from tui.chart.cells.labels import Label, place_labels


def labels(*rows: str) -> list[Label]:
    cells = [[int(c) if c.isdigit() else -1 if c == "." else ord(c) - ord("a") for c in row] for row in rows]
    ahead = [[c.isalpha() for c in row] for row in rows]
    return place_labels(np.array(cells), np.array(ahead), lambda rank: f"J{rank}")


def test_name_stands_where_room_is() -> None:
    assert labels("......", ".3333.", ".3333.", ".3333.") == [Label(3, 2, 2, "J3")]
    assert labels("33333..", "3333333", ".33333.") == [Label(3, 1, 1, "J3")]
    assert labels("..33..") == [Label(3, 0, 2, "J3")]
    assert labels("3.3.3") == []


def test_names_keep_apart() -> None:
    assert labels("1111bbbbbb") == [Label(1, 0, 1, "J1")]
    assert labels("111bbbbbb") == [Label(1, 0, 4, "J1")]
    assert labels("...3", "3...") == []
    assert labels("2233", "2233") == [Label(2, 1, 0, "J2"), Label(3, 0, 2, "J3")]
    assert labels("2233") == [Label(2, 0, 0, "J2")]
    assert labels("22333") == [Label(2, 0, 0, "J2")]
    assert labels("223333") == [Label(2, 0, 0, "J2"), Label(3, 0, 3, "J3")]
