"""The program's view of a cluster against what a real Slurm reports, for every job and every core."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from getpass import getuser
from typing import TypeVar

import pytest

from sim.live.cluster.changes import changes
from sim.live.cluster.slurm.adapter import SlurmSource
from sim.live.cluster.values import SUSPENDED, Cluster, ClusterJob
from tests.sim.live.cluster.slurm.real import CPUS, NODES, missing, say, slurm, submit, until

pytestmark = pytest.mark.skipif(bool(missing()), reason=f"needs Slurm on this machine: {missing()} is not installed")
HOSTILE = "a|b [red]x[/red] \x1b[31m\n17|17|17|RUNNING|"
Told = TypeVar("Told")
LONG = "x" * 1000
"""About the longest text that Slurm accepts."""


def state(number: str) -> str:
    return say("squeue", "-h", "-t", "all", "-j", number, "-o", "%T").strip()


@pytest.fixture(scope="module")
def jobs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """Submit some twenty jobs of every kind to a real Slurm; yield the mapping from the purpose of each job to its
    number.
    """
    with slurm(tmp_path_factory.mktemp("slurm")):
        say("scontrol", "update", "nodename=n4", "state=drain", "reason=disk is slow")
        say("scontrol", "create", "reservation", "ReservationName=class", "StartTime=now+60minutes", "Duration=30",
            "Nodes=n3", f"Users={getuser()}")  # fmt: skip
        made = {
            "done": submit("-n", "1", seconds=0),
            "fails": submit("-n", "1", seconds=0, code=3),
            "stopped": submit("-n", "2"),
            "given up": submit("-n", "1"),
        }
        until(lambda: state(made["done"]) == "COMPLETED" and state(made["fails"]) == "FAILED")
        until(lambda: state(made["stopped"]) == state(made["given up"]) == "RUNNING")
        say("scontrol", "suspend", made["stopped"])
        say("scancel", made["given up"])
        made["two"] = submit("-n", "2")
        made |= {
            "wide": submit("-N", "2", "-n", "3"),
            "array": submit("--array=1-6%2"),
            "then": submit("-d", f"afterok:{made['two']}"),
            "never": submit("-d", f"afterok:{made['fails']}"),
            "held": submit("-H"),
            "later": submit("--begin=now+3600"),
            "too long": submit("-p", "short", "-t", "10"),
            "hostile": submit("-J", HOSTILE),
            "long": submit("-J", LONG),
            "either": submit("-p", "short,batch"),
            "reserved": submit("--reservation=class"),
        }
        until(lambda: {state(made[name]) for name in ("two", "wide", "hostile", "long")} == {"RUNNING"})
        made |= {"all": submit("-n", "12"), "behind": submit("-n", "11")}
        until(lambda: SlurmSource().snapshot().job_of[made["all"]].reason == "Resources")
        yield made


@pytest.fixture(scope="module")
def cluster(jobs: dict[str, str]) -> Cluster:
    """Return the state of the cluster, as the program reads it."""
    return SlurmSource().snapshot()


def records(kind: str) -> list[dict[str, str]]:
    """Return the fields that scontrol reports for each job or node (`kind`), parsed without the program's own
    reader.
    """
    said = say("scontrol", "-d", "show", kind).split("\n\n")
    return [dict(re.findall(r"(?:^|\s)([A-Z][\w/]*)=(\S*)", part)) for part in said if part.strip()]


def between(told: Callable[[], Told]) -> tuple[Cluster, Told]:
    """Return the program's state of the cluster, and what `told` (which asks scontrol) gives. Repeat until that was the
    same before and after.
    """
    while True:
        before = told()
        cluster = SlurmSource().snapshot()
        if told() == before:
            return cluster, before


def told_jobs() -> dict[str, dict[str, object]]:
    """Return, for the number of every job: what scontrol reports on it. Waiting tasks of an array are left out."""
    known = [record for record in records("job") if "-" not in record.get("ArrayTaskId", "")]
    return {record["JobId"]: _of_scontrol(record) for record in known}


def told_cores() -> dict[str, int]:
    return {record["NodeName"]: int(record["CPUAlloc"]) for record in records("node")}


@pytest.mark.usefixtures("jobs")
def test_every_job_is_as_scontrol_says() -> None:
    cluster, told = between(told_jobs)
    assert len(told) >= 18
    seen = {job.number: job for job in cluster.jobs}
    assert {number: _of(seen[number]) for number in told} == told


def _of(job: ClusterJob) -> dict[str, object]:
    return {
        "state": job.state,
        "reason": job.reason or "None",
        "partition": job.partition,
        "cpus": job.cpus,
        "limit": job.limit,
        "priority": job.priority,
        "nodes": len(job.nodes),
    }


def _of_scontrol(record: dict[str, str]) -> dict[str, object]:
    hours, minutes, seconds = (int(part) for part in record["TimeLimit"].split(":"))
    held = re.sub(r"\(null\)", "", record["NodeList"])
    names = say("scontrol", "show", "hostnames", held).split() if held else []
    return {
        "state": record["JobState"],
        "reason": record["Reason"],
        "partition": record["Partition"],
        "cpus": int(record["NumCPUs"].split("-")[0]),
        "limit": 3600 * hours + 60 * minutes + seconds,
        "priority": int(record["Priority"]),
        "nodes": len(names),
    }


@pytest.mark.usefixtures("jobs")
def test_every_core_is_held_as_scontrol_says() -> None:
    cluster, told = between(told_cores)
    held = Counter({node.name: 0 for node in cluster.nodes})
    seen: dict[str, int] = {}
    for job in cluster.running:
        assert sum(cores.mask.bit_count() for cores in job.cores) == job.cpus
        assert tuple(cores.node for cores in job.cores) == job.nodes
        for cores in job.cores:
            assert not seen.get(cores.node, 0) & cores.mask, "a core is given to two jobs"
            seen[cores.node] = seen.get(cores.node, 0) | cores.mask
            held[cores.node] += cores.mask.bit_count()
    assert held == told


def test_nodes_partitions_and_reservations_are_as_they_were_made(cluster: Cluster) -> None:
    assert [(node.name, node.cpus) for node in cluster.nodes] == [(f"n{n}", CPUS) for n in range(1, NODES + 1)]
    gone = {node.name: node.reason for node in cluster.nodes if node.is_gone}
    assert list(gone) == ["n4"]
    assert gone["n4"].startswith("disk is slow")
    assert {partition.name: partition.max_time for partition in cluster.partitions} == {"batch": 3600, "short": 300}
    (reservation,) = cluster.reservations
    assert (reservation.name, reservation.nodes, reservation.end - reservation.start) == ("class", ("n3",), 1800)
    assert (cluster.name, cluster.is_private, cluster.limits) == ("trial", False, ())


def test_reasons_and_states_are_those_that_were_meant(cluster: Cluster, jobs: dict[str, str]) -> None:
    meant = {
        "then": "Dependency",
        "never": "DependencyNeverSatisfied",
        "held": "JobHeldUser",
        "later": "BeginTime",
        "too long": "PartitionTimeLimit",
        "all": "Resources",
        "behind": "Priority",
        "reserved": "Reservation",
    }
    assert {name: cluster.job_of[jobs[name]].reason for name in meant} == meant
    ended = {name: cluster.job_of[jobs[name]].state for name in ("done", "fails", "given up", "stopped")}
    assert ended == {"done": "COMPLETED", "fails": "FAILED", "given up": "CANCELLED", "stopped": SUSPENDED}
    tasks = [job for job in cluster.jobs if job.array == jobs["array"]]
    assert sorted(job.id for job in tasks) == [f"{jobs['array']}_{task}" for task in range(1, 7)]
    assert Counter(job.state for job in tasks) == {"RUNNING": 2, "PENDING": 4}
    assert {job.reason for job in tasks if job.is_waiting} == {"JobArrayTaskLimit"}


def test_a_hostile_name_is_one_name(cluster: Cluster, jobs: dict[str, str]) -> None:
    assert cluster.job_of[jobs["hostile"]].name == HOSTILE
    assert cluster.job_of[jobs["long"]].name == LONG[:200]


def test_what_happens_between_two_polls_is_seen(cluster: Cluster, jobs: dict[str, str]) -> None:
    say("scancel", jobs["two"], jobs["all"], jobs["behind"])
    say("scontrol", "update", "nodename=n4", "state=resume")
    new = submit("-n", "1", seconds=0)
    until(lambda: state(new) == "COMPLETED" and state(jobs["two"]) == "CANCELLED")
    until(lambda: "*" not in say("sinfo", "-h", "-n", "n4", "-o", "%T"))  # it takes jobs once it responds
    found = changes(cluster, SlurmSource().snapshot())
    kinds = {(event.kind, event.subject) for event in found}
    assert {("arrival", new), ("start", new), ("completion", new), ("completion", jobs["two"]), ("node", "n4")} <= kinds
