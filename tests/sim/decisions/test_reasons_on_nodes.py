"""Reasons why jobs wait on nodes."""

from __future__ import annotations

from sim.decisions.reasons_on_nodes import BehindInPartition, LeavesNoRoom, NoNodes
from sim.decisions.sentences import brief, why
from sim.workload.model import Job

JOB, HEAD = Job(1, "2", 0, 4, 60), Job(0, "1", 0, 8, 60)


def at(time: float) -> str:
    return f"{time:g}"


def test_free_cores_and_nodes_with_room_are_counted() -> None:
    told = why(NoNodes(free=19, on=7, able=1, needed=3, lacks="nodes"), JOB, at)
    assert told == "19 cores free on 7 nodes: room for 1 of 3 nodes"
    assert "no room for any of 3 tasks" in why(NoNodes(19, 7, 0, 3, "tasks"), JOB, at)
    assert why(NoNodes(19, 7, 0, 1, "nodes"), JOB, at) == "19 cores free on 7 nodes: no node has room"
    assert brief(NoNodes(19, 7, 1, 3, "nodes"), JOB)[1] == "1 of 3 fit"


def test_missing_resource_is_named() -> None:
    reason = NoNodes(19, 7, 0, 2, "nodes", "none with 4 GPUs")
    assert why(reason, JOB, at) == "19 cores free on 7 nodes, none with 4 GPUs: no room for any of 2 nodes"
    assert brief(reason, JOB) == ("19 free, none with 4 GPUs", "none with 4 GPUs")


def test_delay_of_the_head_names_its_start() -> None:
    told = why(LeavesNoRoom(HEAD, shadow=50, ends=60), JOB, at)
    assert told == "would end at 60 > J1's start at 50, when too few nodes would be left"


def test_slurms_priority_names_the_job_ahead() -> None:
    assert why(BehindInPartition(HEAD), JOB, at).startswith("Priority: J1 is ahead of it on its partition's nodes")
