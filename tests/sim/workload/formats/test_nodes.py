import json
from pathlib import Path

import pytest

from sim.support.errors import TraceError
from sim.workload.formats.nodes import JobEntries, read, read_machine
from sim.workload.model import Workload
from sim.workload.reading import read as read_file
from sim.workload.shape import ComputeNode, NodeGroup, Shape, ShareEntry

NODE = {"cores": 4, "mem": 16}
JOB = {"id": "1", "submit": 0, "run": 5, "nodes": 1, "cores": 2, "mem": 8}
SCONTROL = """NodeName=n1 CPUTot=4 RealMemory=900 Gres=gpu:a100:2(S:0) AvailableFeatures=big,fast State=IDLE
NodeName=n2 CPUTot=8 RealMemory=1900 Gres=(null) AvailableFeatures=(null) State=DOWN
PartitionName=short Nodes=n[1-2] MaxTime=01:00:00 MaxNodes=1 PriorityTier=5 OverSubscribe=EXCLUSIVE
PartitionName=all Nodes=n1,n2,n9 MaxTime=UNLIMITED MaxNodes=UNLIMITED PriorityTier=1 OverSubscribe=NO
"""


def test_json_gives_machine_and_requests(tmp_path: Path) -> None:
    path = tmp_path / "small.json"
    jobs = [JOB, JOB | {"id": "2", "nodes": 3}, JOB | {"id": "3", "mem": 17}, {"id": "4", "submit": "soon"}]
    path.write_text(json.dumps({"nodes": [NODE, NODE], "jobs": jobs, "placement": "spread"}), encoding="utf-8")
    workload = Workload.of(read_file(path))
    assert workload.procs == 8
    assert workload.ids == ("1",)
    assert workload.shape is not None
    assert workload.shape.placement == "spread"
    assert workload.shape.requests[0].each == (2, 8)
    told = {note.what: note.count for note in workload.fidelity.skipped}
    assert told == {
        "damaged jobs": 1,
        "never fits the machine: too few nodes have enough together": 1,
        "never fits the machine: no node has enough memory": 1,
    }


def test_a_job_uses_at_most_one_node_for_each_task(tmp_path: Path) -> None:
    job = {"id": "1", "submit": 0, "run": 5, "tasks": 2, "least_nodes": 3}
    path = tmp_path / "few.json"
    path.write_text(json.dumps({"nodes": [NODE] * 3, "jobs": [job, job | {"id": "2", "tasks": 4}]}), encoding="utf-8")
    shape = Workload.of(read_file(path)).shape
    assert shape is not None
    assert [request.least for request in shape.requests] == [2, 3]


def test_machines_are_read_from_json_and_text() -> None:
    text = json.dumps({"nodes": [NODE, NODE], "jobs": [JOB], "placement": "spread"})
    assert read_machine(text, "small.json").has.tolist() == [[4, 16], [4, 16]]
    text = "NodeName=n1 CPUTot=4 State=IDLE+CLOUD\nNodeName=n2 CPUTot=4 State=FUTURE\nNodeName=n3 CPUTot=x State=IDLE\n"
    assert [node.name for node in read_machine(text, "x").nodes] == ["n1"]


def test_scontrol_text_gives_nodes_and_partitions() -> None:
    shape = read_machine(SCONTROL, "x")
    first, second = shape.nodes
    assert (first.cores, first.memory, first.others, first.features) == (
        4,
        900,
        (("gpu", 2),),
        frozenset({"big", "fast"}),
    )
    assert (second.cores, second.others, second.features) == (8, (), frozenset())
    short, every = shape.groups
    assert (short.most_time, short.most_nodes, short.priority, short.is_exclusive) == (3600, 1, 5, True)
    assert (every.nodes, every.most_time, every.most_nodes, every.is_exclusive) == (
        frozenset({0, 1}),
        None,
        None,
        False,
    )


def test_scontrol_text_is_read_on_one_line_and_on_several(shared: Path) -> None:
    captures = shared / "slurm" / "captures"
    files = [*captures.glob("v*/series/*.nodes"), *captures.glob("v*/snap1/scontrol-node.txt")]
    assert len(files) > 2
    for file in files:
        nodes = read_machine(file.read_text(), file).nodes
        assert [(node.name, node.cores) for node in nodes] == [(f"n{number}", 4) for number in range(1, 9)]


def test_toml_gives_many_nodes_alike() -> None:
    text = """
placement = "lowest"
[[node]]
name = "gpu[01-02]"
cores = 8
gpus = 4
partitions = ["gpu"]
[[node]]
count = 3
cores = 2
mem = 100
[[partition]]
name = "gpu"
max_time = 60
"""
    shape = read_machine(text, "x")
    assert [node.name for node in shape.nodes] == ["gpu01", "gpu02", "n3", "n4", "n5"]
    assert shape.has.tolist() == [[8, 0, 4], [8, 0, 4], [2, 100, 0], [2, 100, 0], [2, 100, 0]]
    assert shape.groups[0].nodes == {0, 1}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "describes no nodes"),
        ("[[node]]\ncores = 'many'", "'cores' must be a whole number from 1, got 'many'"),
        ("[[node]]\ncores = 0", "'cores' must be a whole number from 1, got '0'"),
        ("[[node]]\nname = 'n1'", "'cores' must be a whole number from 1, it is missing"),
        ("[[node]]\nname = 'n[4-1]'\ncores = 4", "node 1: 'n.4-1.' is no range of names"),
        (
            "[[node]]\nname = 'n1'\ncores = 4\n[[partition]]\nname = 'p'\nnodes = 'n7'",
            "partition 1: no node has the name 'n7'",
        ),
        (
            "[[node]]\ncores = 4\n[[partition]]\nname = 'p'\nmax_time = '2h'",
            "partition 1: max_time must be seconds, got '2h'",
        ),
        ("[[node]]\ncores = 4\ncount = 99999999", "count must be from 1 to 65,536"),
        ("[[node]]\ncores = 1099511627776", "more than the"),
        ("placement = 'bset'\n[[node]]\ncores = 1", "placement must be one of"),
        ("[[partition]]\nname = 3\n[[node]]\ncores = 1", "partition 1: expected a table with a name"),
        ("{", "is no TOML"),
        ("NodeName=x CPUTot=0", "names no nodes"),
        ("x" * (2**22 + 1), "longer than 4,194,304 letters"),
        ("a." * 1000 + "a = 1", "more than 12 parts"),
        ("[[node]]\ncores = 1\ncount = 65536\n" + "[[partition]]\nname = 'a'\n" * 20, "more than 4,096 partitions"),
        ("[[node]]\ncores = 1\n" + "[[partition]]\nname = 'a'\n" * 5000, "more than 4,096 partitions"),
        (
            "NodeName=n[1-9] CPUTot=1\n" + "".join(f"PartitionName=p{n} Nodes=n1\n" for n in range(5000)),
            "more than 4,096 partitions",
        ),
        ("NodeName=n1 CPUTot=1\n" + "PartitionName=p Nodes=x1[1-99999]\n" * 30, "more than 4,096 partitions"),
        ("[[node]]\ncores = 1\n" + "[[partition]]\nname = 'a'\nnodes = 'x[1-99999]'\n" * 30, "more than 4,096"),
        ("[[node]]\ncores = 1\ncount = 2\nname = 'x[1-9]'\n", "its name stands for 9 nodes, and count is 2"),
        ("[[node]]\ncores = 1\n[[limits]]\nuser = '*'\ncores = 1", "the machine has the unknown word 'limits'"),
        ("[[node]]\ncores = 1\n[[partition]]\nname = 'a'\nmaxtime = 1", "partition 1 .* did you mean 'max_time'"),
    ],
)
def test_wrong_machines_are_refused_in_one_line(text: str, told: str) -> None:
    with pytest.raises(TraceError, match=told) as error:
        read_machine(text, "m.toml")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("text", ["[1]", '{"nodes": [{"cores": 1}]}', '{"nodes": [{"cores": 1}], "jobs": [1, 2]}'])
def test_wrong_json_is_refused(text: str) -> None:
    with pytest.raises(TraceError):
        read(text, "x", "x.json")


def test_unread_words_of_jobs_are_noted() -> None:
    job = {"submit": 0, "run": 5, "tasks": 2, "memory": 4}
    jobs = [{"id": 1, **job, "partitions": ["x"]}, {"id": 2, **job, "memroy": 9}]
    trace = read(json.dumps({"nodes": [{"cores": 2, "mem": 10}], "jobs": jobs}), "x", "x.json")
    assert [(note.what.rpartition(" ")[2], note.first) for note in trace.fidelity.assumed] == [
        ("nodes", "job 1"), ("'memroy'", "job 2"),
    ]  # fmt: skip
    assert trace.shape is not None
    assert trace.shape.requests[0].each[1] == 4


def test_accounts_have_shares_and_what_has_no_meaning_is_left_out() -> None:
    text = """
[[node]]
cores = 4

[[account]]
account = "physics"
parent = "science"
shares = 10
usage = 5.5

[[account]]
account = "physics"
user = "ann"
shares = "parent"

[[account]]
account = "art"
shares = -3
usage = nan

[[account]]
user = "nobody"
"""
    assert read_machine(text, "x").accounts == (
        ShareEntry("physics", "", "science", 10, 5.5), ShareEntry("physics", "ann", "", None), ShareEntry("art"),
    )  # fmt: skip
    assert read_machine(text.replace("[[account]]", "[[other]]"), "x").accounts == ()


SHAPE = Shape((ComputeNode("n1", 4, 100, (("gpu", 2),)),), (NodeGroup("day", frozenset({0})),))


def test_requests_are_shared_and_words_read() -> None:
    entries = JobEntries(SHAPE)
    first = entries.request({"id": "1", "submit": 0, "run": 5, "tasks": 2, "gpus": 1, "partitions": ["day"]})
    second = entries.request({"id": "2", "submit": 9, "run": 7, "tasks": 2, "gpus": 1, "partitions": ["day"]})
    assert first is not None
    assert first is second
    assert (first.each, first.tasks, first.groups) == ((1, 0, 1), 2, (0,))
    entries = JobEntries(SHAPE)
    assert entries.request({"nodes": 1, "features": [["a"], {"b": 1}, "fast"]}) == entries.request(
        {"nodes": 1, "features": "fast"}
    )
    assert entries.request({"nodes": {"a": 1}}) is None
    entries = JobEntries(SHAPE)
    assert entries.unread({"id": 1, "gpu": 1, "gpus": 1, "run": 5}) == ""
    assert entries.unread({"wall": 1, "colour": "red"}) == "colour"
    assert entries.unread({"fpgas": 0}) == ""


@pytest.mark.parametrize(("one", "other"), [(True, 1), (False, 0), (True, 1.0)])
def test_values_that_only_compare_equal_are_told_apart(one: object, other: object) -> None:
    entries = JobEntries(SHAPE)
    for exclusive in (one, other, one):
        request = entries.request({"nodes": 1, "cores": 1, "exclusive": exclusive})
        assert request is not None
        assert request.is_exclusive == (exclusive is True)
    assert entries.request({"nodes": one, "cores": 1}) is None  # no number
