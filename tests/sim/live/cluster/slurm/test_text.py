"""Slurm's text outputs, captured and hostile."""

from __future__ import annotations

from pathlib import Path

import pytest

from sim.live.cluster.slurm import text
from sim.live.cluster.values import Cores
from tests.sim.live.cluster.captures import VERSIONS, snap

ROW = (
    "17|17|17|RUNNING|None|batch|ann|physics|normal|4|1|1000M|N/A|3:00|2026-11-23T21:38:01|2026-11-23T21:41:02|"
    "2026-11-23T21:38:02|4486|n1||(null)|(null)|{}"
)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_captured_moment_is_read_whole(shared: Path, version: str) -> None:
    cluster = snap(shared, version)
    assert [node.name for node in cluster.nodes] == [f"n{number}" for number in range(1, 9)]
    assert cluster.cpus == 32
    assert sum(node.gpus for node in cluster.nodes) == 4
    assert {partition.name for partition in cluster.partitions} == {"batch", "gpu", "short", "whole"}
    assert {reservation.name for reservation in cluster.reservations} <= {"class", "maint"}
    assert len(cluster.job_of) == len(cluster.jobs) > 30
    assert {job.number for job in cluster.queue} >= set(cluster.parts) - {job.number for job in cluster.running}


@pytest.mark.parametrize("version", VERSIONS)
def test_the_cores_of_running_jobs_are_as_many_as_they_hold(shared: Path, version: str) -> None:
    running = snap(shared, version).running
    assert running
    assert all(sum(held.mask.bit_count() for held in job.cores) == job.cpus for job in running)


@pytest.mark.parametrize(
    "name",
    ["a|b|c|", "[red]x[/red]", "\x1b[31mred", "x" * 5000, "two\nlines", "99|99|99|RUNNING", "", "‮evil", "a\x00b"],
)
def test_a_hostile_name_stays_text_in_its_place(name: str) -> None:
    first, second = text.jobs(f"{ROW.format(name)}\n{ROW.replace('17', '18').format('plain')}\n")
    assert first.name == name[: text.MOST_LETTERS]
    assert (second.id, second.name, second.cpus, second.nodes) == ("18", "plain", 4, ("n1",))


def test_a_short_line_is_no_job() -> None:
    assert text.jobs("slurm_load_jobs error: Unable to contact slurm controller\n17|17\n") == ()


def test_the_constraints_of_a_job_are_read() -> None:
    told = (
        "JobId=4 JobName=Features=x UserId=a GroupId=a Restarts=2 Deadline=1970-01-01T00:01:00 ReqNodeList=n[1-2] "
        "ExcNodeList=n4 Features=fast&big Licenses=matlab:2 Comment=Restarts=9 \n"
    )
    known = text.details_of(told)["4"]
    assert (known["restarts"], known["deadline"], known["required"]) == (2, 60.0, ("n1", "n2"))
    assert (known["excluded"], known["features"], known["licenses"]) == (("n4",), "fast&big", "matlab:2")


def test_cores_of_several_nodes_are_told_apart() -> None:
    told = "JobId=4 JobName=CPU_IDs=9 x\n   Nodes=n[1-2] CPU_IDs=0-1,3 Mem=1\n   Nodes=n3 CPU_IDs=2 Mem=1\n"
    assert text.details_of(told)["4"]["cores"] == (Cores("n1", 0b1011), Cores("n2", 0b1011), Cores("n3", 0b100))


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ("JobId=4 TRES=cpu=4,mem=4000M,node=1 Socks/Node=*", "cpu=4,mem=4000M,node=1"),
        ("JobId=4 ReqTRES=cpu=4,node=1 AllocTRES=(null)", "cpu=4,node=1"),
        ("JobId=4 ReqTRES=cpu=4,node=1 AllocTRES=cpu=8,node=2", "cpu=8,node=2"),
        ("JobId=4 Nodes=n1", ""),
    ],
)
def test_resources_are_those_held_else_those_asked_for(told: str, expected: str) -> None:
    assert text.details_of(told)["4"]["tres"] == expected


def test_a_reason_of_a_node_cannot_be_a_state() -> None:
    (node,) = text.nodes("NodeName=n1 CPUTot=4 State=IDLE Reason=disk State=DOWN [root@x]\n")
    assert not node.is_gone
    (node,) = text.nodes("NodeName=n1 CPUTot=4 State=MIXED+DRAIN Reason=disk [root@x]\n")
    assert node.is_gone
    assert node.reason == "disk [root@x]"


def test_what_sprio_says_is_by_its_header() -> None:
    header = "JOBID PARTITION USER ACCOUNT PRIORITY SITE AGE PARTITION QOSNAME QOS"
    told = f"{header}\n19 short ann physics 4375 0 3 1000 normal 7\n"
    assert text.priority_parts(told) == {"19": {"age": 3.0, "partition": 1000.0, "qos": 7.0}}
    assert text.priority_parts("") == text.priority_parts("garbage\n1 2 3\n") == {}


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("NO", True), ("OK", False), ("YES", False),
        ("NO Exclusive=NO", False), ("NO Exclusive=NODE", True), ("NO Exclusive=USER", False),  # since 26.05
    ],
)  # fmt: skip
def test_job_with_whole_nodes_is_told_by_its_details(word: str, expected: bool) -> None:
    told = f"JobId=4 JobName=x\n   NumNodes=1\n   OverSubscribe={word} Contiguous=0\n"
    job = text.jobs("4|4|4|PENDING\n", columns=("id", "number", "array", "state"))
    assert text.with_details(job, text.details_of(told))[0].is_exclusive == expected


def test_a_partition_with_whole_nodes_is_told_in_the_words_of_its_version() -> None:
    words = ("OverSubscribe=EXCLUSIVE", "Exclusive=NODE OverSubscribe=NO", "Exclusive=NO OverSubscribe=NO")
    told = "\n".join(f"PartitionName=p{number} Nodes=n1 {word}" for number, word in enumerate(words))
    assert [partition.is_exclusive for partition in text.partitions(told)] == [True, True, False]


def test_a_name_with_the_words_of_a_record_changes_no_detail() -> None:
    name = "a OverSubscribe=NO AllocTRES=cpu=9 Nodes=n9 CPU_IDs=0-7"
    told = f"JobId=4 JobName={name}\n   UserId=ann(7) GroupId=ann(7)\n   Nodes=n1 CPU_IDs=0 Mem=1\n   TRES=cpu=1\n"
    details = text.details_of(f"{told}   OverSubscribe=OK Contiguous=0\n   Command=b OverSubscribe=NO\n")["4"]
    assert (details["cores"], details["tres"], details["is_exclusive"]) == ((Cores("n1", 1),), "cpu=1", False)


def test_a_job_that_has_started_has_its_eligible_time_and_an_array_its_limit() -> None:
    told = "JobId=4 ArrayJobId=3 ArrayTaskId=1 ArrayTaskThrottle=2 JobName=ArrayTaskThrottle=9 \n"
    told += "   UserId=a(7) GroupId=a(7)\n"
    details = text.details_of(f"{told}   SubmitTime=1970-01-01T00:00:05 EligibleTime=1970-01-01T00:01:00\n")
    columns = ("id", "number", "array", "state")
    for state, eligible in (("PENDING", None), ("RUNNING", 60.0)):
        (job,) = text.with_details(text.jobs(f"3_1|4|3|{state}\n", columns=columns), details)
        assert (job.at_once, job.eligible) == (2, eligible)
    told = (
        "JobId=4 JobName=a ArrayTaskId=1 ArrayTaskThrottle=9 b\n   UserId=a(7) GroupId=a(7)\n   EligibleTime=Unknown\n"
    )
    known = text.details_of(told)["4"]
    assert (known["eligible"], known["at_once"], known["most_nodes"]) == (None, 0, None)


@pytest.mark.parametrize(
    ("nodes", "most"), [("NumNodes=2 ", 0), ("NumNodes=2-2 ", 2), ("NumNodes=1-9 ", 9), ("", None)]
)
def test_a_waiting_job_says_how_many_nodes_it_accepts(nodes: str, most: int | None) -> None:
    details = text.details_of(f"JobId=4 JobName=a\n   UserId=a(7) GroupId=a(7)\n   {nodes}NumCPUs=4\n")
    for state, known in (("PENDING", most), ("RUNNING", None)):
        (job,) = text.with_details(text.jobs(f"4|4|{state}\n", columns=("id", "number", "state")), details)
        assert job.most_nodes == known


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ("Restarts=1   NumNodes=5 NumCPUs=8   TRES=cpu=8,node=1", 2),
        ("Restarts=1   NumNodes=5 NumCPUs=8   TRES=cpu=8,node=3", 3),
        ("Restarts=1   NumNodes=5-5 NumCPUs=8   TRES=cpu=8,node=5", 5),
        ("Restarts=0   NumNodes=5 NumCPUs=8   TRES=cpu=8,node=1", 5),
    ],
)
def test_requeued_job_needs_no_more_nodes_than_it_asks_for(told: str, expected: int) -> None:
    details = text.details_of(f"JobId=4 JobName=a\n   UserId=a(7) GroupId=a(7)\n   {told}\n")
    columns = ("id", "number", "state", "cpus", "nodes_wanted")
    (job,) = text.with_details(text.jobs("4|4|PENDING|8|5\n", columns=columns), details, 4)
    assert job.nodes_wanted == expected


def test_partitions_have_tiers_and_factors() -> None:
    told = "PartitionName=a Nodes=n1 PriorityJobFactor=100 PriorityTier=3\nPartitionName=b Nodes=n1\n"
    assert [(each.tier, each.factor) for each in text.partitions(told)] == [(3, 100), (1, 1)]
