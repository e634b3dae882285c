from random import Random

import numpy as np

from sim.machine.rows import Rows


def test_rows_change_as_a_list_does() -> None:
    random, rows, listed = Random(3), Rows(np.array([[0, 0]])), [[0, 0]]
    for number in range(1, 500):
        at = random.randint(1, len(listed))
        kind = random.choice(("repeat", "repeat", "repeat", "remove", "drop"))
        if kind == "repeat":
            rows.repeat(at)
            rows.live[at, 0] = number
            listed.insert(at, [number, listed[at - 1][1]])
        elif kind == "remove" and at < len(listed):
            rows.remove(at)
            del listed[at]
        elif kind == "drop":
            many = random.randint(0, min(3, len(listed) - 1))
            rows.drop(many)
            del listed[:many]
        rows.live[-1, 1] = listed[-1][1] = number
        assert rows.live.tolist() == listed
    twin = rows.copy()
    twin.live[0] = -1
    assert rows.live.tolist() == listed
