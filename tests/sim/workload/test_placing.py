import numpy as np
import pytest

from sim.workload.shape import consecutive, in_order


@pytest.mark.parametrize(
    ("room", "tasks", "least", "most", "chosen"),
    [
        ([1, 4, 2, 3], 2, 1, 9, [(2, 2)]),  # the node with the least room that is enough, not two with less
        ([3, 4, 0, 4, 4, 4], 7, 1, 9, [(0, 3), (1, 4)]),  # the smallest run that is enough
        ([3, 4, 0, 4, 4, 4], 8, 1, 9, [(3, 4), (4, 4)]),
        ([4, 0, 2, 2, 0, 1], 7, 1, 9, [(0, 4), (2, 2), (3, 1)]),  # no run is enough: the largest first
        ([4, 4, 4], 3, 3, 9, [(0, 1), (1, 1), (2, 1)]),  # each of the nodes asked for gets a task
        ([1, 1, 4, 4], 8, 1, 2, [(2, 4), (3, 4)]),  # nodes with little room are left out
        ([1, 1, 1], 3, 1, 2, None),
        ([0, 0], 1, 1, 1, None),
    ],
)
def test_tasks_go_to_runs_of_nodes(
    room: list[int], tasks: int, least: int, most: int, chosen: list[tuple[int, int]] | None
) -> None:
    assert consecutive(room, tasks, least, most) == chosen


def test_nodes_are_filled_in_order() -> None:
    def placed(room: list[int], tasks: int, least: int, most: int) -> list[int] | None:
        counts = in_order(np.array(room), tasks, least, most)
        return None if counts is None else counts.tolist()

    assert placed([2, 3, 9], 6, 1, 3) == [2, 3, 1]
    assert placed([2, 3, 9], 6, 1, 2) is None
    assert placed([4, 4, 4], 4, 3, 3) == [2, 1, 1]
    assert placed([1, 4, 4], 5, 3, 3) == [1, 3, 1]
    assert placed([], 1, 1, 1) is None
