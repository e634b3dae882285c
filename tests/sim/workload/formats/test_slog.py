import sqlite3
from contextlib import closing, suppress
from dataclasses import replace
from math import inf
from pathlib import Path

import pytest

from sim.engine.engine import Engine
from sim.live.cluster.recording import PollRecorder
from sim.live.cluster.values import Cluster, ClusterJob, Node, Partition, Share
from sim.support.errors import TraceError
from sim.workload.follows import After, Follow
from sim.workload.model import Field, Trace, Workload
from sim.workload.reading import read
from sim.workload.shape import Seats, Shape, ShareEntry

NODES = (Node("n1", 8), Node("n2", 8))
DONE = ClusterJob(
    "1", "1", "COMPLETED", user="a", cpus=2, limit=100, submit=1e9, start=1e9 + 10, end=1e9 + 40, nodes=("n1",)
)
RUNS = replace(DONE, id="2", state="RUNNING", end=1e9 + 110)
WAITS = replace(DONE, id="3", state="PENDING", reason="Priority", start=1e9 + 200, end=1e9 + 300, nodes=(), cpus=3)
GOES = replace(RUNS, id="4", name="x|y\n9|9")


def recording(path: Path) -> Path:
    recorder = PollRecorder(path)
    recorder.add_history([replace(DONE, id="0")])
    recorder.add(Cluster(1e9 + 50, nodes=NODES, jobs=(DONE, RUNS, WAITS, GOES)))
    recorder.add(Cluster(1e9 + 60, nodes=NODES, jobs=(DONE, RUNS, WAITS)))
    recorder.close()
    return path


def recorded(folder: Path, *polls: Cluster) -> tuple[Trace, Shape]:
    recorder = PollRecorder(folder / "week.slog")
    for poll in polls:
        recorder.add(poll)
    recorder.close()
    trace = read(folder / "week.slog")
    assert trace.shape is not None
    return trace, trace.shape


def test_jobs_that_ended_run_wait_and_vanished(tmp_path: Path) -> None:
    trace = read(recording(tmp_path / "week.slog"))
    assert (trace.name, trace.format, trace.header.max_procs) == ("week", "slog", 16)
    run = dict(zip(trace.ids, trace.column(Field.RUN), strict=True))
    assert run == {"0": 30, "1": 30, "2": 100, "3": 100, "4": 50}
    assert list(trace.column(Field.PROCS_ASKED)) == [2, 2, 2, 3, 2]
    assert list(trace.column(Field.ESTIMATE)) == [100] * 5


@pytest.mark.parametrize("harm", ["DROP TABLE jobs", "DROP TABLE polls", "DROP TABLE about"])
def test_another_database_is_one_line(tmp_path: Path, harm: str) -> None:
    path = recording(tmp_path / "week.slog")
    with closing(sqlite3.connect(path)) as db:
        db.execute(harm)
    with pytest.raises(TraceError, match=r"no recording of a cluster .*; schedscope results FILE shows a sweep"):
        read(path)


@pytest.mark.parametrize(
    "harm",
    ["UPDATE jobs SET id = x'00ff' WHERE id = '1'", "UPDATE jobs SET cpus = 'many'", "UPDATE jobs SET start = 1e308"],
)
def test_damaged_rows_are_skipped_or_one_line(tmp_path: Path, harm: str) -> None:
    path = recording(tmp_path / "week.slog")
    with closing(sqlite3.connect(path)) as db:
        db.execute(harm)
        db.commit()
    with suppress(TraceError):
        assert len(read(path).ids) <= 5


def test_a_damaged_size_of_the_machine_is_not_used(tmp_path: Path) -> None:
    path = recording(tmp_path / "week.slog")
    for text in ("{", "[]", '{"n1": "4"}', '{"n1": -4}'):
        with closing(sqlite3.connect(path)) as db:
            db.execute("UPDATE about SET value = ? WHERE name = 'machine'", (text,))
            db.commit()
        trace = read(path)
        assert (trace.header.max_procs, trace.shape) == (8, None)


def test_jobs_of_a_recording_run_on_its_nodes(tmp_path: Path) -> None:
    nodes = (Node("n1", 8, memory=1000), Node("n2", 8, memory=1000, gpus=2))
    partitions = (Partition("gpu", ("n2",), max_time=200.0), Partition("batch", ("n1", "n2"), is_exclusive=True))
    there = replace(DONE, id="5", partition="gpu", nodes=("n2",), tres="cpu=2,mem=400M,node=1,gres/gpu=1")
    jobs = (there, replace(WAITS, gpus=1, memory=9))
    trace, shape = recorded(tmp_path, Cluster(1e9 + 50, nodes=nodes, partitions=partitions, jobs=jobs))
    assert [node.name for node in shape.nodes] == ["n1", "n2"]
    assert [group.is_exclusive for group in shape.groups] == [False, True]
    unknown, known = shape.requests
    assert (known.each, known.per_node, known.groups) == ((1, 200, 0), (0, 0, 1), (0,))
    assert (unknown.each, unknown.per_node, unknown.groups) == ((1, 3, 0), (0, 0, 1), ())
    assert shape.ran == (None, Seats((1,), ((2, 400, 1),)))
    assert trace.fidelity.unmodelled().assumed == ()


def test_jobs_of_a_recording_wait_for_those_that_they_depend_on(tmp_path: Path) -> None:
    """A dependency that is met vanishes from the list of jobs; the first text counts."""
    runs = replace(DONE, id="5", state="RUNNING", end=None)
    waits = replace(WAITS, id="6", submit=1e9 + 10, dependency="afterok:5(unfulfilled)")
    polls = (50, (runs, waits)), (60, (replace(DONE, id="5"), replace(waits, dependency=""))), (70, ())
    trace, _ = recorded(tmp_path, *(Cluster(1e9 + at, nodes=(Node("n1", 8),), jobs=jobs) for at, jobs in polls))
    assert trace.ids == ("5", "6")
    assert trace.follows == (None, Follow((After(0, "ok"),)))


def test_priorities_of_qos_are_those_that_jobs_show(tmp_path: Path) -> None:
    urgent, usual = replace(WAITS, id="5", number="5", qos="urgent"), replace(WAITS, id="6", number="6", qos="normal")
    parts = {"5": {"age": 3.0, "qos": 2000.0}, "6": {"age": 4.0, "qos": 500.0}}
    trace, shape = recorded(
        tmp_path,
        Cluster(1e9 + 50, nodes=NODES, jobs=(usual,), parts=parts),
        Cluster(1e9 + 60, nodes=NODES, jobs=(urgent, usual), parts=parts),
        Cluster(1e9 + 70, nodes=NODES, jobs=(replace(usual, id="7", number="7", qos="new"),)),
    )
    assert shape.qos == (("normal", 500), ("urgent", 2000))
    assert dict(zip(trace.ids, shape.qos_factors, strict=True)) == {"5": 1, "6": 0.25, "7": 0}


def test_an_early_recording_has_only_the_cores_of_its_nodes(tmp_path: Path) -> None:
    path = recording(tmp_path / "week.slog")
    with closing(sqlite3.connect(path)) as db:
        db.execute("ALTER TABLE jobs DROP COLUMN tres")
        db.execute("ALTER TABLE jobs DROP COLUMN dependency")
        db.execute("UPDATE about SET name = 'nodes', value = '{\"n1\": 8, \"n2\": 8}' WHERE name = 'machine'")
        db.commit()
    trace = read(path)
    assert trace.shape is not None
    assert (trace.shape.cores, trace.shape.kinds) == (16, ("cores", "memory"))
    PollRecorder(path).close()  # goes on in the same file
    assert read(path).shape == trace.shape


def test_a_view_in_place_of_a_table_is_refused(tmp_path: Path) -> None:
    path = recording(tmp_path / "week.slog")
    endless = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x AS id FROM c"
    with closing(sqlite3.connect(path)) as db:
        db.executescript(f"DROP TABLE jobs; CREATE VIEW jobs AS {endless}")
    with pytest.raises(TraceError, match="no recording of a cluster"):
        read(path)


def test_memory_gpus_and_reservations_are_counted_as_not_modelled(tmp_path: Path) -> None:
    jobs = (replace(WAITS, id="5", memory=4000, gpus=2), replace(WAITS, id="6", memory=4000, reservation="class"))
    trace, _ = recorded(tmp_path, Cluster(1e9 + 50, nodes=NODES, jobs=(DONE, *jobs)))
    (note,) = trace.fidelity.unmodelled().assumed
    assert note.what.endswith("by memory (2 jobs), GPUs (1 job) and reservations (1 job)")


def test_the_tree_of_accounts_has_the_usage_of_the_first_poll(tmp_path: Path) -> None:
    tree = (
        Share("1", "root"),
        Share("3", "physics", "", "root", 10, 5.5),
        Share("5", "physics", "ann", "physics", None),
    )
    lists = (Partition("batch", ("n1",), tier=2, factor=7), Partition("gpu", ("n1",)))
    later = (*(replace(each, usage=9.0) for each in tree), Share("6", "physics", "bob", "physics", 2, 4.0))
    jobs = (replace(WAITS, id="5"),)
    _, shape = recorded(
        tmp_path,
        Cluster(1e9, nodes=NODES, jobs=jobs, partitions=lists, shares=tree),
        Cluster(1e9 + 70, nodes=NODES[:1], jobs=jobs, partitions=lists, shares=later),
    )
    assert shape.accounts == (
        ShareEntry("root"),
        ShareEntry("physics", "", "root", 10, 5.5),
        ShareEntry("physics", "ann", "", None),
        ShareEntry("physics", "bob", "", 2, 4.0),
    )
    assert [(group.priority, group.factor) for group in shape.groups] == [(2, 7), (1, 1)]


def test_a_job_cancelled_while_it_waited_holds_its_place_until_then(tmp_path: Path) -> None:
    """The job that asks for all is first in the queue for 30 seconds; a held one never was in any plan."""
    runs = replace(DONE, id="1", state="RUNNING", cpus=8, start=1e9, end=1e9 + 100, submit=1e9)
    wide = replace(WAITS, id="2", submit=1e9 + 10, cpus=16, nodes_wanted=2)
    held = replace(wide, id="3", reason="JobHeldUser")
    small = replace(WAITS, id="4", submit=1e9 + 20, cpus=8)
    polls = (30, (runs, wide, held, small)), (40.5, (runs, small))
    trace, _ = recorded(tmp_path, *(Cluster(1e9 + at, nodes=NODES, jobs=jobs) for at, jobs in polls))
    workload = Workload.of(trace)
    assert workload.ids == ("1", "2", "4")
    assert workload.shape is not None
    assert [request.admitted.withdrawn for request in workload.shape.requests] == [inf, 40, inf]
    engine = Engine(workload, "fcfs")
    engine.run()
    assert engine.schedule().start[[0, 2]].tolist() == [0, 40]
    assert engine.moment.dropped == (1,)


def test_nodes_that_were_drained_are_so_in_a_replay(tmp_path: Path) -> None:
    away = (NODES[0], replace(NODES[1], states=frozenset({"DRAIN", "IDLE"})))
    polls = (10, NODES), (20, away), (30, away), (40, NODES), (50, away), (60, away)
    _, shape = recorded(tmp_path, *(Cluster(1e9 + at, nodes=nodes, jobs=(WAITS,)) for at, nodes in polls))
    assert [(each.start, each.end, each.nodes, each.is_drain) for each in shape.reservations] == [
        (20, 40, frozenset({1}), True),
        (50, 60, frozenset({1}), True),
    ]


def test_a_job_keeps_all_partitions_in_which_it_was_tried(tmp_path: Path) -> None:
    """After its start Slurm names the one in which it runs."""
    lists = (Partition("batch", ("n1", "n2")), Partition("short", ("n1",)))
    waits = replace(WAITS, id="5", partition="short,batch")
    polls = (10, waits), (20, replace(RUNS, id="5", partition="batch"))
    _, shape = recorded(tmp_path, *(Cluster(1e9 + at, nodes=NODES, partitions=lists, jobs=(job,)) for at, job in polls))
    assert shape.requests[0].groups == (1, 0)


def test_array_tasks_get_slurms_nodes_in_order(tmp_path: Path) -> None:
    tasks = [replace(WAITS, id=f"7_{number}", number=f"7_{number}") for number in (10, 2, 1)]
    trace, shape = recorded(tmp_path, Cluster(1e9 + 50, nodes=NODES, jobs=tuple(tasks)))
    assert list(trace.ids) == ["7_1", "7_2", "7_10"]
    assert shape.placement == "consecutive"
