import numpy as np
import pytest

from sim.workload.shape import ComputeNode, NodeGroup, Request, Shape
from sim.workload.shortage import Shortage, room_for, shortage

FOUR = tuple(ComputeNode(f"n{at}", 8, 64, (("gpu", 4),)) for at in range(4))
FREE = np.array([[8, 64, 4], [4, 8, 4], [2, 64, 0], [0, 64, 4]])
BOTH = (NodeGroup("left", frozenset({0, 1})), NodeGroup("right", frozenset({2, 3}), most_nodes=1))


def lacks(request: Request, *groups: NodeGroup, placement: str = "best") -> Shortage:
    return shortage(Shape(FOUR, groups).placed(placement), request, FREE, int(FREE[:, 0].sum()))


@pytest.mark.parametrize(
    ("request_", "have", "wants"),
    [
        (Request((4, 0, 4), nodes=3), 2, "with 4 GPUs"),
        (Request((1, 32, 0), nodes=3), 2, "with 32 MB"),
        (Request((1, 32, 1), nodes=2), 1, "with 32 MB and 1 GPU"),
        (Request((1, 0, 0), nodes=2, is_exclusive=True), 1, "wholly free"),
        (Request((1, 0, 0), nodes=4), 3, "with 1 core"),
    ],
)
def test_as_few_resources_as_possible_are_named(request_: Request, have: int, wants: str) -> None:
    found = lacks(request_)
    assert found[-2:] == (have, wants)
    assert found[:5] == (14, 14, 3, have, request_.nodes)


def test_limits_and_partitions_count() -> None:
    assert lacks(Request((4, 0, 0), nodes=1, groups=(1,)), *BOTH) == (14, 2, 1, 0, 1, "nodes", 0, "with 4 cores")
    asked = Request((2, 0, 0), nodes=3, groups=(0, 1))
    assert lacks(asked, BOTH[0], NodeGroup("right", frozenset({2, 3})))[3:6] == (2, 3, "nodes in one partition")
    assert lacks(asked, *BOTH)[1:6] == (12, 2, 2, 3, "nodes")  # the second allows one node of a job at most
    assert lacks(Request((1, 0, 0), tasks=13, most=2))[3:6] == (12, 13, "tasks on at most 2 nodes")
    assert lacks(Request((1, 0, 0), tasks=4, least=4))[3:6] == (3, 4, "nodes")
    first = lacks(Request((1, 0, 0), tasks=8, most=1))
    assert first[3:6] == (2, 8, "tasks on the first node by placement best")
    assert room_for(Shape(FOUR), Request((2, 0, 0), tasks=3), FREE).tolist() == [3, 2, 1, 0]
    assert room_for(Shape(FOUR), Request((2, 0, 0), nodes=3), FREE).tolist() == [1, 1, 1, 0]
