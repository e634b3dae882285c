import os
import sqlite3
import struct
from collections.abc import Callable
from contextlib import closing
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from sim.lab.results import Results
from sim.live.cluster.recording import PollRecorder, Recording
from sim.support.databases import connected, foreign_database
from sim.support.errors import SchedscopeError, TraceError
from sim.workload.reading import read
from tests.sim.lab.test_results import outcome
from tests.sim.workload.formats.test_slog import recording

ENDLESS = "instr(zeroblob(200000000), zeroblob(90000000) || x'01')"
COMPUTING = (
    f"ALTER TABLE jobs ADD COLUMN more GENERATED ALWAYS AS ({ENDLESS})",
    f'ALTER TABLE jobs ADD COLUMN [more"] AS ({ENDLESS})',
    f"CREATE TABLE more (x CHECK ({ENDLESS} > 0))",
    f"CREATE TABLE more (x DEFAULT ({ENDLESS}))",
    f"CREATE INDEX more ON jobs (instr(name, '{ENDLESS[:5]}'))",
    "CREATE INDEX more ON jobs (name) WHERE name > 'a'",
    f"CREATE VIEW more AS SELECT {ENDLESS}",
    "CREATE TRIGGER more AFTER INSERT ON jobs BEGIN DELETE FROM jobs; END",
    "CREATE VIRTUAL TABLE more USING fts5(x)",
    f"CREATE TABLE more ({', '.join(f'c{number} UNIQUE' for number in range(1100))})",
)


@cache
def contents() -> tuple[bytes, bytes]:
    """Return a file of results, and a recording, which are made once, as each waits for the disk."""
    with TemporaryDirectory() as folder:
        made, seen = Path(folder, "results"), Path(folder, "recording")
        with Results(made, write=True) as results:
            results.add([outcome(1)])
        recording(seen)
        for path in (made, seen):
            with closing(sqlite3.connect(path)) as db:
                db.execute("PRAGMA journal_mode=DELETE")
        with closing(sqlite3.connect(made)) as db:
            db.execute("CREATE TABLE jobs (key, name, part, data, PRIMARY KEY (key, name, part))")
        return made.read_bytes(), seen.read_bytes()


def results(path: Path) -> Path:
    path.write_bytes(contents()[0])
    return path


def whole_recording(path: Path) -> Path:
    path.write_bytes(contents()[1])
    return path


READERS: tuple[tuple[Callable[[Path], Path], Callable[[Path], object]], ...] = (
    (results, Results), (results, lambda path: Results(path, write=True)), (whole_recording, read),
    (whole_recording, Recording), (whole_recording, PollRecorder),
)  # fmt: skip


@pytest.mark.parametrize("sql", COMPUTING)
@pytest.mark.parametrize("at", range(len(READERS)))
def test_what_computes_is_refused(tmp_path: Path, sql: str, at: int) -> None:
    make, reader = READERS[at]
    path = make(tmp_path / "it")
    with closing(sqlite3.connect(path)) as db:
        db.execute(sql)
    with pytest.raises(SchedscopeError) as error:
        reader(path)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("end", ["-journal", "-wal", "-shm"])
@pytest.mark.parametrize("kind", ["fifo", "link", "hard link", "folder"])
@pytest.mark.parametrize("at", range(len(READERS)))
def test_what_is_no_file_beside_it_is_refused(tmp_path: Path, end: str, kind: str, at: int) -> None:
    make, reader = READERS[at]
    victim = tmp_path / "victim"
    victim.write_text("precious")
    make(tmp_path / "real")
    beside = tmp_path / f"real{end}"
    match kind:
        case "fifo":
            os.mkfifo(beside)
        case "link":
            beside.symlink_to(victim)
        case "hard link":
            beside.hardlink_to(victim)
        case _:
            beside.mkdir()
    path = tmp_path / "it"
    path.symlink_to("real")
    with pytest.raises(SchedscopeError, match=f"real{end} is no ordinary file; remove it"):
        reader(path)
    assert victim.read_text() == "precious"


def hot_journal(path: Path, victim: Path) -> None:
    """Write a journal next to the database at `path` that makes SQLite, if it obeys it, delete the file `victim`."""
    page, nonce = 4096, 0x12345678
    data, name = path.read_bytes(), os.fsencode(victim)
    first, summed = data[:page], nonce + sum(data[at] for at in range(page - 200, 0, -200))
    magic = bytes.fromhex("d9d505f920a163d7")
    head = (magic + struct.pack(">IIIII", 1, nonce, len(data) // page, 512, page)).ljust(512, b"\0")
    record = struct.pack(">I", 1) + first + struct.pack(">I", summed & 0xFFFFFFFF)
    other = struct.pack(">I", 0x40000000 // page + 1) + name + struct.pack(">II", len(name), sum(name)) + magic
    Path(f"{path}-journal").write_bytes(head + record + other)


@pytest.mark.parametrize("at", range(len(READERS)))
def test_a_journal_deletes_no_other_file(tmp_path: Path, at: int) -> None:
    make, reader = READERS[at]
    victim = tmp_path / "victim"
    victim.write_text("precious")
    hot_journal(make(tmp_path / "real"), victim)
    (tmp_path / "it").symlink_to("real")
    with pytest.raises(SchedscopeError, match="real-journal is a journal that names other files; remove it"):
        reader(tmp_path / "it")
    assert victim.read_text() == "precious"


def test_sqlite_would_delete_it(tmp_path: Path) -> None:
    """SQLite by itself deletes the other file, so that the journal of these tests is a real danger."""
    victim = tmp_path / "victim"
    victim.write_text("precious")
    hot_journal(results(tmp_path / "real"), victim)
    with closing(sqlite3.connect(tmp_path / "real")) as db:
        db.execute("SELECT count(*) FROM runs").fetchone()
    assert not victim.exists()


def test_a_question_without_end_is_interrupted(tmp_path: Path) -> None:
    with closing(connected(whole_recording(tmp_path / "it"))) as db:
        endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT max(x) FROM n"
        with pytest.raises(sqlite3.OperationalError, match="interrupted"):
            db.execute(endless).fetchone()


def test_a_database_without_the_tables_is_refused(tmp_path: Path) -> None:
    path = whole_recording(tmp_path / "it")
    with pytest.raises(sqlite3.DatabaseError, match="expected the tables none"), foreign_database(path, ("none",)):
        pass
    with foreign_database(path, ("jobs",)) as db:
        assert db.execute("SELECT count(*) FROM jobs").fetchone() == (5,)


def test_rows_that_take_more_than_they_can_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sim.workload.formats.slog.MOST_BYTES", 200)
    with pytest.raises(TraceError, match="its jobs take more than 200 bytes"):
        read(whole_recording(tmp_path / "it"))


@pytest.mark.parametrize("tables", [("notes (text)",), ("about (words)", "polls (words)", "jobs (words)")])
def test_no_recording_is_written_into_another_database(tmp_path: Path, tables: tuple[str, ...]) -> None:
    with closing(sqlite3.connect(tmp_path / "d")) as db:
        for table in tables:
            db.execute(f"CREATE TABLE {table}")
    before = (tmp_path / "d").read_bytes()
    with pytest.raises(SchedscopeError, match="cannot record there: "):
        PollRecorder(tmp_path / "d")
    assert (tmp_path / "d").read_bytes() == before


@pytest.mark.parametrize("write", [PollRecorder, lambda path: Results(path, write=True)])
def test_no_file_is_made_where_a_link_leads(tmp_path: Path, write: Callable[[Path], object]) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "gone")
    with pytest.raises(SchedscopeError, match="is a link to a missing or empty file; remove it"):
        write(tmp_path / "link")
    assert not (tmp_path / "gone").exists()
    (tmp_path / "gone").touch()
    with pytest.raises(SchedscopeError, match="is a link to a missing or empty file; remove it"):
        write(tmp_path / "link")
    assert (tmp_path / "gone").read_bytes() == b""
