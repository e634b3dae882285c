"""A recording gives back every polled state, whatever was added in between; other files are refused.

Also tests sim.live.cluster.codec, sim.live.cluster.machine.
"""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sim.live.cluster.machine import with_earlier
from sim.live.cluster.recording import FRAME, PollRecorder, Recording, Scratch
from sim.live.cluster.values import Cluster, ClusterJob, Cores, Limit, Node, Reservation, Share
from sim.support.errors import FileError

TRIGGER = "CREATE TRIGGER t AFTER INSERT ON polls BEGIN DELETE FROM jobs; END"
TEXT = st.text(max_size=6)
WAITING = tuple(ClusterJob(id=each, number=each, state="PENDING") for each in "1234")
NUMBER = st.integers(0, 2_000_000_000)
MAYBE = st.none() | NUMBER.map(float)


def jobs() -> st.SearchStrategy[tuple[ClusterJob, ...]]:
    ids = st.lists(st.integers(1, 6), unique=True, max_size=5)
    job = st.builds(
        ClusterJob,
        id=st.just(""),
        number=TEXT,
        state=st.sampled_from(["PENDING", "RUNNING", "COMPLETED"]),
        name=TEXT,
        reason=TEXT,
        start=MAYBE,
        priority=NUMBER,
        nodes=st.tuples(TEXT),
        cores=st.just(()) | st.just((Cores("n1", 5),)),
    )
    return ids.flatmap(lambda found: st.tuples(*(st.builds(lambda j, i=i: replace(j, id=str(i)), job) for i in found)))


def clusters() -> st.SearchStrategy[Cluster]:
    nodes = st.lists(
        st.builds(Node, name=st.sampled_from("abc"), cpus=NUMBER, states=st.frozensets(TEXT)),
        unique_by=lambda node: node.name,
    )
    return st.builds(
        Cluster,
        at=st.just(0.0),
        name=TEXT,
        me=TEXT,
        nodes=nodes.map(tuple),
        jobs=jobs(),
        limits=st.just(()) | st.just((Limit("qos", "high", "GrpJobs", 4, 2),)),
        parts=st.dictionaries(TEXT, st.dictionaries(st.sampled_from(["age", "qos"]), st.just(7.0), min_size=1)),
        is_private=st.booleans(),
    )


@given(st.lists(clusters(), min_size=1, max_size=6))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_every_picture_comes_back(tmp_path_factory: pytest.TempPathFactory, pictures: list[Cluster]) -> None:
    pictures = [replace(picture, at=float(60 * number)) for number, picture in enumerate(pictures)]
    recording = Recording(kept(tmp_path_factory.mktemp("slog"), *pictures))
    assert recording.times() == tuple(picture.at for picture in pictures)
    for picture in (*pictures, *reversed(pictures)):
        found = recording.at(picture.at + 30)
        assert dict(found.job_of) == dict(picture.job_of)
        assert replace(found, jobs=picture.jobs) == picture


def moving(polls: int) -> Iterator[Cluster]:
    """Yield the states of `polls` polls, in which a job waits while its expected start and its priority change."""
    for poll in range(polls):
        job = ClusterJob("1", "1", "PENDING", reason="Priority", priority=100 + poll, start=1e6 + 7 * poll)
        yield Cluster(60.0 * poll, "c", nodes=(Node("n1", 4),), jobs=(job,))


def kept(folder: Path, *pictures: Cluster, history: Sequence[ClusterJob] = ()) -> Path:
    """Return the path of a recording of these pictures."""
    with closing(PollRecorder(folder / "x.slog")) as recorder:
        recorder.add_history(history)
        for picture in pictures:
            recorder.add(picture)
    return folder / "x.slog"


def harmed(path: Path, change: str, *values: object) -> Path:
    with closing(sqlite3.connect(path)) as db, db:
        db.execute(change, values)
    return path


def test_whole_pictures_come_at_intervals_and_all_others_are_read_from_them(tmp_path: Path) -> None:
    pictures = list(moving(FRAME + 3))
    path = kept(tmp_path, *pictures)
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("SELECT COUNT(*) FROM polls WHERE is_frame").fetchall() == [(2,)]
    assert Recording(path).at(pictures[-1].at) == pictures[-1]


def test_it_is_read_while_it_is_written(tmp_path: Path) -> None:
    recorder = PollRecorder(tmp_path / "x.slog")
    first, second = moving(2)
    recorder.add(first)
    recording = Recording(tmp_path / "x.slog")
    assert recording.at(1e9) == first
    recorder.add(second)
    assert recording.at(1e9) == second
    assert recording.times() == (0.0, 60.0)
    recorder.close()


def test_copy_of_the_file_alone_has_every_poll(tmp_path: Path) -> None:
    pictures = list(moving(3))
    with closing(PollRecorder(tmp_path / "x.slog")) as recorder:
        for number, picture in enumerate(pictures, 1):
            recorder.add(picture)
            copy = tmp_path / f"{number}.slog"
            copy.write_bytes((tmp_path / "x.slog").read_bytes())
            assert list(Recording(copy).pictures()) == pictures[:number]


def test_a_recording_goes_on_in_the_same_file(tmp_path: Path) -> None:
    first, second = moving(2)
    for picture in (first, second):
        path = kept(tmp_path, picture)
    assert list(Recording(path).pictures()) == [first, second]


@pytest.mark.parametrize("harm", [
    "UPDATE polls SET data = x'00'", "UPDATE polls SET data = 'text'", "UPDATE polls SET at = 'soon'",
    "UPDATE about SET value = '99'", "DROP TABLE polls", "UPDATE polls SET is_frame = 0",
])  # fmt: skip
def test_a_damaged_recording_is_one_line(tmp_path: Path, harm: str) -> None:
    path = harmed(kept(tmp_path, *moving(1)), harm)
    with pytest.raises(FileError) as told:
        Recording(path).at(0)
    assert "\n" not in str(told.value)


@pytest.mark.parametrize(
    "data",
    [b"[]", b"{}", b'{"nodes": [{"name": 7}]}', b'{"nodes": [{"cpus": true}]}', b"{" * 99_999, b'{"jobs": 1}'],
    ids=range(6),
)
def test_a_picture_of_other_things_is_one_line(tmp_path: Path, data: bytes) -> None:
    path = harmed(kept(tmp_path, *moving(1)), "UPDATE polls SET data = ?", zlib.compress(data))
    with pytest.raises(FileError, match="damaged"):
        Recording(path).at(0)


def test_a_picture_that_unpacks_without_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sim.live.cluster.recording.MOST_BYTES", 1000)
    path = kept(tmp_path, replace(next(moving(1)), name="x" * 5000))
    with pytest.raises(FileError, match="too large"):
        Recording(path).at(0)


@pytest.mark.parametrize("content", [None, b"", b"no database", b"SQLite format 3\x00" + bytes(200)])
def test_what_is_no_recording(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "x.slog"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(FileError):
        Recording(path)


@pytest.mark.parametrize("harm", ["DROP TABLE polls; CREATE VIEW polls AS SELECT 1 AS at", TRIGGER])
def test_a_recording_with_code_of_its_own_is_refused(tmp_path: Path, harm: str) -> None:
    path = kept(tmp_path, *moving(1))
    with closing(sqlite3.connect(path)) as db:
        db.executescript(harm)
    with pytest.raises(FileError, match="no recording"):
        Recording(path)


def test_a_recorder_that_continues_a_file_knows_what_the_one_before_knew(tmp_path: Path) -> None:
    path = tmp_path / "x.slog"
    nodes = tuple(Node(name, 4) for name in ("n1", "n2", "n3"))
    away = (replace(nodes[0], states=frozenset({"DOWN"})), replace(nodes[1], states=frozenset({"DRAIN"})), nodes[2])
    maintenance = Reservation("maintenance", 5.0, 30.0, ("n3",), ("root",))
    shares = (Share("1", "root", shares=None), Share("2", "root", "ann", "root", 7, 3.5))
    now = Cluster(0.0, nodes=nodes, shares=shares, reservations=(maintenance,))
    with closing(PollRecorder(path)) as first:
        first.add(now)
        first.add(replace(now, at=10.0, nodes=away))
        first.add(replace(now, at=20.0, nodes=(*away[:1], *nodes[1:])))
    later = replace(now, at=60.0, reservations=(), shares=(replace(shares[1], usage=99.0), Share("3", "new")))
    with closing(PollRecorder(path)) as second:
        second.add(later)
    with closing(sqlite3.connect(path)) as db:
        machine = json.loads(db.execute("SELECT value FROM about WHERE name = 'machine'").fetchone()[0])
    assert machine["reservations"] == [
        {"name": "maintenance", "start": "5", "end": "30", "users": ["root"], "accounts": [], "nodes": [2]},
        {"name": "a drain", "drained": True, "start": "10", "nodes": [1], "end": "20"},
        {"name": "a drain", "drained": True, "start": "10", "nodes": [0], "end": "60"},
    ]
    assert machine["accounts"] == [
        {"account": "root", "shares": "parent"},
        {"account": "root", "shares": 7, "user": "ann", "usage": 3.5},
        {"account": "new", "shares": 1},
    ]


@pytest.mark.parametrize(
    "machine", ["", "[]", "{", '{"nodes": [{"name": 7}]}', '{"nodes": [], "qos": 7}', "[" * 99_999]
)
def test_a_recorder_that_continues_a_damaged_file_begins_anew(tmp_path: Path, machine: str) -> None:
    path, picture = tmp_path / "x.slog", Cluster(0.0, nodes=(Node("n1", 4),))
    for at in (0.0, 10.0):
        with closing(PollRecorder(path)) as recorder:
            recorder.add(replace(picture, at=at))
        with closing(sqlite3.connect(path)) as db, db:
            ((written,),) = db.execute("SELECT value FROM about WHERE name = 'machine'").fetchall()
            db.execute("UPDATE about SET value = ? WHERE name = 'machine'", (machine,))
    assert json.loads(written) == {"nodes": [{"name": "n1", "cores": 4}], "partitions": []}


def test_jobs_that_ended_between_two_recorders_have_an_end(tmp_path: Path) -> None:
    path = tmp_path / "x.slog"
    runs = ClusterJob("1", "1", "RUNNING", submit=0.0, start=10.0, limit=30.0, nodes=("n1",))
    waits = ClusterJob("2", "2", "PENDING", submit=0.0, dependency="afterok:1", partition="a,b")
    others = (replace(runs, id="3", limit=300.0), replace(waits, id="4"), replace(runs, id="5"))
    with closing(PollRecorder(path)) as first:
        first.add(Cluster(20.0, jobs=(runs, waits, *others)))
    with closing(PollRecorder(path)) as second:
        second.add_history([replace(runs, id="5", state="COMPLETED", end=25.0)])
        second.add(Cluster(90.0, jobs=(replace(waits, dependency="", partition="b", state="RUNNING", start=80.0),)))
    with closing(sqlite3.connect(path)) as db:
        found = db.execute("SELECT id, state, end, dependency, tried FROM jobs ORDER BY id").fetchall()
    assert found == [
        ("1", "ENDED", 40.0, "", ""), ("2", "RUNNING", None, "afterok:1", "a,b"), ("3", "ENDED", 90.0, "", ""),
        ("4", "CANCELLED", 90.0, "afterok:1", "a,b"), ("5", "COMPLETED", 25.0, "", ""),
    ]  # fmt: skip


def test_a_drained_node_may_leave_the_machine(tmp_path: Path) -> None:
    gone = Node("n2", 4, states=frozenset({"DOWN"}))
    with closing(PollRecorder(tmp_path / "x.slog")) as recorder:
        recorder.add(Cluster(0.0, nodes=(Node("n1", 4), gone)))
        recorder.add(Cluster(10.0, nodes=(Node("n1", 4),)))
    with closing(sqlite3.connect(tmp_path / "x.slog")) as db:
        machine = json.loads(db.execute("SELECT value FROM about WHERE name = 'machine'").fetchone()[0])
    assert "reservations" not in machine


def test_jobs_that_ended_before_the_first_poll_are_the_history(tmp_path: Path) -> None:
    ended = ClusterJob("7", "7", "COMPLETED", start=10.0, end=20.0, submit=5.0, cpus=2, user="ann", nodes=("n1", "n2"))
    jobs = (replace(ended, id="9", state="RUNNING", start=90.0, end=None),)
    history = ended, replace(ended, id="8", state="CANCELLED", start=None, nodes=())
    (job,) = Recording(kept(tmp_path, Cluster(at=100.0, jobs=jobs), Cluster(at=160.0), history=history)).history()
    assert (job.id, job.start, job.end, job.cpus, job.user, job.nodes) == ("7", 10.0, 20.0, 2, "ann", ("n1", "n2"))


def test_jobs_that_ended_between_two_polls_are_known(tmp_path: Path) -> None:
    runs = ClusterJob("7", "7", "RUNNING", start=10.0, end=99.0, nodes=("n1",), limit=60.0)
    recording = Recording(kept(tmp_path, Cluster(20.0, jobs=(runs,)), Cluster(30.0), Cluster(40.0)))
    assert [(job.id, job.end) for job in recording.ended(20.0, 40.0)] == [("7", 30.0)]
    assert recording.ended(0.0, 29.0) == recording.ended(30.0, 40.0) == recording.history() == ()


def test_a_damaged_history_is_one_line(tmp_path: Path) -> None:
    history = [ClusterJob("7", "7", "COMPLETED", start=10.0, end=20.0, nodes=("n1",))]
    path = harmed(kept(tmp_path, Cluster(at=100.0), history=history), "UPDATE jobs SET cpus = 'many'")
    with pytest.raises(FileError, match="damaged: a job of the past"):
        Recording(path).history()


def test_a_recording_of_another_version_is_not_written(tmp_path: Path) -> None:
    path = harmed(kept(tmp_path), "UPDATE about SET value = '1' WHERE name = 'format'")
    with pytest.raises(FileError, match="another version"):
        PollRecorder(path)
    with pytest.raises(FileError, match="another version"):
        Recording(path)


# Reservations


def test_a_reservation_whose_start_moves_is_kept_once_and_one_that_has_begun_stays() -> None:
    kept: dict[tuple[str, float], Reservation] = {}
    for at in range(0, 100, 10):
        moving = Reservation("float", at + 60.0, at + 120.0)
        seen = with_earlier(Cluster(float(at), reservations=(moving, Reservation("class", 20.0, 300.0))), kept)
    assert [(each.name, each.start) for each in seen.reservations] == [("class", 20.0), ("float", 150.0)]
    over = with_earlier(Cluster(95.0), kept)
    assert over.reservations == (Reservation("class", 20.0, 95.0),)


def test_early_recordings_have_no_shares_and_settings(tmp_path: Path) -> None:
    picture = Cluster(
        1.0, "c", shares=(Share("1", "root", usage=3.0), Share("2", "root", "anna", "root")), settings="A=1"
    )
    later = replace(picture, at=2.0, shares=(replace(picture.shares[0], usage=4.0), *picture.shares[1:]))
    path = kept(tmp_path, picture, later)
    found = [*Recording(path).pictures()]
    assert [each.shares[0].usage for each in found] == [3.0, 4.0]
    assert (found[0], found[1].settings) == (picture, "A=1")
    with closing(sqlite3.connect(path)) as db:
        data = json.loads(zlib.decompress(db.execute("SELECT data FROM polls").fetchone()[0]))
        early = {name: value for name, value in data.items() if name not in ("shares", "settings")}
        db.execute("UPDATE polls SET data = ? WHERE is_frame", (zlib.compress(json.dumps(early).encode()),))
        db.execute("DELETE FROM polls WHERE NOT is_frame")
        db.commit()
    assert [*Recording(path).pictures()] == [Cluster(1.0, "c")]


def test_of_two_programs_that_record_in_one_file_the_first_stops(tmp_path: Path) -> None:
    path = tmp_path / "two.slog"
    polls = [Cluster(float(at), jobs=WAITING[:at]) for at in range(1, 5)]
    with closing(PollRecorder(path)) as first, closing(PollRecorder(path)) as second:
        first.add(polls[0])
        second.add(polls[1])
        with pytest.raises(FileError, match="another program has begun to record there"):
            first.add(polls[2])
        second.add(polls[3])
    found = list(Recording(path).pictures())
    assert [(each.at, len(each.jobs)) for each in found] == [(1.0, 1), (2.0, 2), (4.0, 4)]


DAY = 1795392000.0


def test_pictures_come_back_and_the_folder_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    scratch = Scratch()
    for at in range(5):
        scratch.add(Cluster(DAY + at, jobs=(ClusterJob("1", "1", "PENDING", priority=at),)))
    assert [scratch.at(DAY + at).jobs[0].priority for at in (3, 1, 4)] == [3, 1, 4]
    scratch.close()
    assert not list(tmp_path.iterdir())


def test_a_missing_folder_is_an_error_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", "/nowhere/at/all")
    with pytest.raises(FileError, match="no folder for temporary files"):
        Scratch()
