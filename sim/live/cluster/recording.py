"""Recording of a live cluster: one SQLite file, to which each poll adds what has changed.

Each poll writes and commits one row, so a killed program loses at most the last poll. Many programs may read while one
writes. After each poll all data is in the one file, so that a copy of it has every poll. Every `FRAME`th row has the
whole picture (state of the cluster), all others the changes since the row before. The table `jobs` has each
job once, as it was last seen, so that the file can be read as a trace.
"""

from __future__ import annotations

import json
import os
import sqlite3
import tempfile
import zlib
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from math import inf, nextafter
from pathlib import Path
from threading import Lock
from typing import Any

from sim.live.cluster.codec import DamagedError, Plain, changed, decode, encode, number, text, whole
from sim.live.cluster.machine import EarlierMachine, is_changed, machine_in_words, with_earlier, with_first
from sim.live.cluster.pseudonyms import anonymous, pseudonymous
from sim.live.cluster.values import Cluster, ClusterJob, Limit, Node, Partition, Reservation, Share
from sim.support.databases import connected, foreign_database, refuse_computing
from sim.support.errors import FileError

FRAME = 60
"""Number of polls from one complete picture to the next; small, so that any time can be read within half a second."""
MOST_BYTES, MOST_TIMES = 1 << 26, 50
"""Limits of a picture in a file, against damage: bytes when unpacked, and their ratio to the packed size."""
MOST_NEAR = 10_000
"""Largest total number of jobs in the pictures that a reader keeps in memory, so that steps back in time are fast."""
CACHE = 256
"""Size in KB of the writer's page cache in SQLite; small because the writer never reads old pages again."""
FORMAT = 2
SHIFTED = ("priority", "start")
"""Names of job fields that change for most waiting jobs at each poll: one list with the change of every job is stored
for each field."""
TABLES = ("about", "polls", "jobs")
_SCHEMA = """
CREATE TABLE IF NOT EXISTS about (name TEXT PRIMARY KEY, value TEXT);
CREATE TABLE IF NOT EXISTS polls (at REAL PRIMARY KEY, cost REAL, is_frame INTEGER, data BLOB);
CREATE TABLE IF NOT EXISTS jobs (id TEXT PRIMARY KEY, state TEXT, reason TEXT, submit REAL, eligible REAL, start REAL,
    end REAL, cpus INTEGER, time_limit REAL, user TEXT, account TEXT, partition TEXT, qos TEXT, wanted INTEGER,
    nodes TEXT, name TEXT, memory INTEGER, gpus INTEGER, reservation TEXT, tres TEXT, dependency TEXT,
    tried TEXT);
"""
_KINDS: tuple[tuple[str, type[Any], str], ...] = (
    ("nodes", Node, "name"),
    ("partitions", Partition, "name"),
    ("reservations", Reservation, "name"),
    ("jobs", ClusterJob, "id"),
    ("shares", Share, "id"),
)
"""For each kind of item in a picture: field of `Cluster`, class of the items, and field that identifies an item."""
MOST_PAST = 50_000
"""Largest number of jobs that ended before the first poll and are read from a recording; the latest ones are taken."""


class PollRecorder:
    """Writer of a recording; with `secret`, pseudonyms replace names of users, accounts and jobs."""

    def __init__(self, path: str | Path, secret: bytes | None = None) -> None:
        self._path, self._secret = str(path), secret
        self._before: Cluster | None = None
        self._since_frame, self._waits, self._tried = 0, dict[str, str](), dict[str, str]()
        self._machine, self._earlier = "", EarlierMachine()
        try:
            # it may be made on another thread than the one that polls
            self._db = connected(path, "mode=rwc", isolation_level=None, check_same_thread=False)
        except sqlite3.Error as error:
            raise FileError(f"cannot record there: {error}", self._path) from None
        try:
            self._prepare()
        except BaseException:
            self._db.close()
            raise

    def _prepare(self) -> None:
        """Make the tables of a new file, or check those of an old one. Raise `FileError` for any other database."""
        try:
            refuse_computing(self._db)
            there = {name for (name,) in self._db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
            if there and not set(TABLES) <= there:
                raise sqlite3.DatabaseError("it is another database")
            found = self._db.execute("SELECT value FROM about WHERE name = 'format'").fetchall() if there else []
            if there and found != [(str(FORMAT),)]:
                raise FileError("the recording is of another version of schedscope; record in another file", self._path)
            self._db.set_progress_handler(None, 0)
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.execute("PRAGMA synchronous=NORMAL")
            self._db.execute(f"PRAGMA cache_size=-{CACHE}")
            self._db.executescript(_SCHEMA)
            for name in ("tres", "dependency", "tried"):  # early recordings lack these columns
                with suppress(sqlite3.OperationalError):
                    self._db.execute(f"ALTER TABLE jobs ADD COLUMN {name} TEXT")
            self._db.execute("INSERT OR IGNORE INTO about VALUES ('format', ?)", (str(FORMAT),))
            if known := self._db.execute("SELECT value FROM about WHERE name = 'machine'").fetchall():
                self._earlier = EarlierMachine.of(str(known[0][0]))
        except sqlite3.Error as error:
            raise FileError(f"cannot record there: {error}", self._path) from None

    def add(self, cluster: Cluster) -> None:
        """Add one poll. Raise `FileError` if it cannot be written; the file stays valid."""
        shown = cluster if self._secret is None else anonymous(cluster, self._secret)
        if self._before is None:
            self._go_on(shown)
        known = self._before.job_of if self._before else {}
        kept = [shown.job_of[id] for id in known if id in shown.job_of]
        shown = replace(shown, jobs=(*kept, *(job for job in shown.jobs if job.id not in known)))
        is_frame = self._before is None or self._since_frame >= FRAME
        data = _whole(shown) if is_frame or self._before is None else _delta(self._before, shown)
        packed = zlib.compress(json.dumps(data, separators=(",", ":")).encode(), 6)
        told = [job for job in shown.jobs if (was := known.get(job.id)) != job and _is_told(was, job)]
        told += [_left(job, shown.at) for id, job in known.items() if id not in shown.job_of]
        self._waits = {job.id: self._waits.get(job.id) or job.dependency for job in (*shown.jobs, *told)}
        self._tried = {job.id: self._tried.get(job.id) or _several(job) for job in (*shown.jobs, *told)}
        rows = [_row(replace(job, dependency=self._waits[job.id]), self._tried[job.id]) for job in told]  # as submitted
        self._write([(shown.at, shown.cost, int(is_frame), packed)], rows)
        self._earlier.drains.add(shown)
        if is_changed(self._before, shown, self._earlier.qos):
            self._write_machine(with_first(with_earlier(shown, self._earlier.reserved), self._earlier.shares))
        self._before, self._since_frame = shown, 1 if is_frame else self._since_frame + 1
        self._gather()

    def _go_on(self, first: Cluster) -> None:
        """Take over the jobs that an earlier recorder left open in this file. Jobs that the first poll does not show
        have ended meanwhile: now or, if that was earlier, at their time limits.
        """
        try:
            rows = self._db.execute("SELECT id, dependency, tried FROM jobs WHERE end IS NULL").fetchall()
            self._waits = {id: text(waits or "") for id, waits, _ in rows if id in first.job_of}
            self._tried = {id: text(tried or "") for id, _, tried in rows if id in first.job_of}
            gone = [(first.at, first.at, id) for id, _, _ in rows if id not in first.job_of]
            self._db.executemany(
                "UPDATE jobs SET state = iif(start IS NULL, 'CANCELLED', 'ENDED'),"
                " end = min(?, coalesce(start + time_limit, ?)) WHERE id = ?",
                gone,
            )
        except (sqlite3.Error, DamagedError) as error:
            raise FileError(f"the recording cannot be continued: {error}", self._path) from None

    def add_history(self, jobs: Iterable[ClusterJob]) -> None:
        self._write([], [_row(pseudonymous(job, key) if (key := self._secret) is not None else job) for job in jobs])

    def _write(self, polls: list[tuple[Any, ...]], jobs: list[tuple[Any, ...]]) -> None:
        try:
            with self._db:
                self._db.execute("BEGIN IMMEDIATE")
                last = self._db.execute("SELECT max(at) FROM polls").fetchone()
                if polls and self._before and last != (self._before.at,):  # changes would follow a foreign poll
                    raise FileError("another program has begun to record there; this one stops", self._path)
                self._db.executemany("INSERT OR REPLACE INTO polls VALUES (?, ?, ?, ?)", polls)
                self._db.executemany(f"INSERT OR REPLACE INTO jobs VALUES ({', '.join('?' * 22)})", jobs)
        except sqlite3.Error as error:
            raise FileError(f"the recording cannot be written: {error}", self._path) from None

    def _write_machine(self, cluster: Cluster) -> None:
        machine = machine_in_words(cluster, self._earlier.qos, self._earlier.drains)
        if machine != self._machine:
            self._machine = machine
            with suppress(sqlite3.Error):
                self._db.execute("INSERT OR REPLACE INTO about VALUES ('machine', ?)", (machine,))

    def _gather(self) -> None:
        """Move data from SQLite's log into the file itself, unless another program reads it."""
        with suppress(sqlite3.Error):
            self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def close(self) -> None:
        self._gather()
        self._db.close()


def _is_told(was: ClusterJob | None, job: ClusterJob) -> bool:
    return was is None or _row(was) != _row(job)


def _left(job: ClusterJob, at: float) -> ClusterJob:
    """Return the job, which is no longer listed, in an ended state; `at` is taken as its end if that is unknown."""
    if job.has_ended:
        return job
    if job.is_waiting:
        return replace(job, state="CANCELLED", start=None, end=at)
    return replace(job, state="ENDED", end=at)


def _several(job: ClusterJob) -> str:
    """Return the partitions in which the job is tried, separated by commas; "" if it is one, as it is after a start."""
    return job.partition if "," in job.partition else ""


def _row(job: ClusterJob, tried: str = "") -> tuple[Any, ...]:
    began = job.start if not job.is_waiting else None
    ended = job.end if job.has_ended else None
    wanted = len(job.nodes) or job.nodes_wanted
    return (
        job.id, job.state, job.reason, job.submit, job.eligible, began, ended, job.cpus, job.limit, job.user,
        job.account, job.partition, job.qos, wanted, ",".join(job.nodes), job.name,
        job.memory, job.gpus, job.reservation, job.tres, job.dependency, tried,
    )  # fmt: skip


def _past_job(row: tuple[Any, ...]) -> ClusterJob:
    id, state, start, end, submit, cpus, limit, user, account, partition, nodes = row
    return ClusterJob(
        id=text(id), number=text(id), state=text(state), start=number(start), end=number(end), submit=number(submit),
        cpus=whole(cpus), limit=None if limit is None else number(limit), user=text(user), account=text(account),
        partition=text(partition), nodes=tuple(text(nodes).split(",")),
    )  # fmt: skip


# Rows of polls


def _whole(cluster: Cluster) -> Plain:
    data: Plain = {kind: [encode(item) for item in getattr(cluster, kind)] for kind, _, _ in _KINDS}
    return data | _rest(cluster)


def _rest(cluster: Cluster) -> Plain:
    return {
        "name": cluster.name,
        "version": cluster.version,
        "me": cluster.me,
        "private": cluster.is_private,
        "settings": cluster.settings,
        "limits": [encode(limit) for limit in cluster.limits],
        "parts": _columns(cluster),
    }


def _columns(cluster: Cluster) -> Plain:
    """Return the parts of all jobs' priorities, one column for each part, because columns compress well."""
    numbers = list(cluster.parts)
    names = sorted({name for parts in cluster.parts.values() for name in parts})
    return {"numbers": numbers, "names": {n: [cluster.parts[j].get(n, 0) for j in numbers] for n in names}}


def _delta(before: Cluster, after: Cluster) -> Plain:
    data: Plain = {}
    for kind, _, name in _KINDS:
        was = {getattr(item, name): item for item in getattr(before, kind)}
        now = {getattr(item, name): item for item in getattr(after, kind)}
        if not _keeps_order(list(was), list(now)):  # of nodes it is that of the chart
            data[f"{kind}!"] = [encode(item) for item in now.values()]
            continue
        if kind == "jobs":
            was = _shift(was, now, data)
        told = {key: (encode(item) if key not in was else changed(was[key], item)) for key, item in now.items()}
        gone = [key for key in was if key not in now]
        if told := {key: value for key, value in told.items() if value or key not in was}:
            data[kind] = told
        if gone:
            data[f"{kind}-"] = gone
    was_rest, rest = _rest(before), _rest(after)
    return data | {key: value for key, value in rest.items() if was_rest[key] != value}


def _keeps_order(was: list[str], now: list[str]) -> bool:
    """Return True if `now` begins with the items it shares with `was`, in the same order; new items follow."""
    there = set(now)
    left = [key for key in was if key in there]
    return now[: len(left)] == left


def _shift(was: dict[str, ClusterJob], now: dict[str, ClusterJob], data: Plain) -> dict[str, ClusterJob]:
    """Add to `data` the changes of the fields in `SHIFTED` from `was` to `now`; return the jobs `was` with these
    changes applied. Keys are the ids of jobs.
    """
    kept = [key for key in was if key in now]
    moved = dict(was)
    for field in SHIFTED:
        pairs = [(getattr(was[key], field), getattr(now[key], field)) for key in kept]
        by = [_difference(*pair) for pair in pairs]
        if any(by):
            data[f"by {field}"] = by
            for key, each in zip(kept, by, strict=True):
                if each:
                    moved[key] = replace(moved[key], **{field: getattr(moved[key], field) + each})
    return moved


def _difference(was: float | None, now: float | None) -> float:
    """Return `now` minus `was`; 0 if one is None or no whole number (then the new value itself is stored)."""
    if was is None or now is None or was != int(was) or now != int(now):
        return 0
    return int(now) - int(was)


class Recording:
    """Reader of a recording; another program may add polls at the same time."""

    def __init__(self, path: str | Path) -> None:
        self.path = str(path)
        if not os.path.isfile(path):
            wrong = "is a directory; give the path of a recording in it" if os.path.isdir(path) else "it is no file"
            raise FileError("no such file" if not os.path.exists(path) else wrong, self.path)
        self._near: deque[Cluster] = deque()
        """Pictures that were read last, of successive polls: each picture is computed from the one before it."""
        self._lock = Lock()
        try:
            found = self._ask("SELECT value FROM about WHERE name = 'format'")
        except FileError as error:
            raise FileError(f"it is no recording of a cluster: {error.what}", self.path) from None
        if found != [(str(FORMAT),)]:
            raise FileError("the recording is of another version of schedscope", self.path)

    def times(self, is_whole: bool = False) -> tuple[float, ...]:
        """Return the times of all polls in the file by now, in order; with `is_whole`, of whole pictures only."""
        rows = self._ask("SELECT at FROM polls WHERE is_frame OR NOT ? ORDER BY at", (is_whole,))
        return tuple(self._moment(at) for (at,) in rows)

    def _moment(self, at: object) -> float:
        try:
            return number(at)
        except DamagedError as error:
            raise FileError(f"the recording is damaged: a moment of a poll: {error}", self.path) from None

    def at(self, time: float) -> Cluster:
        """Return the picture of the last poll at or before `time`; if there is none, that of the first poll."""
        with self._lock:
            ((last, first),) = self._ask(
                "SELECT (SELECT MAX(at) FROM polls WHERE at <= ?), (SELECT MIN(at) FROM polls)", (float(time),)
            )
            if first is None:
                raise FileError("the recording has no poll yet", self.path)
            return self._picture(self._moment(first if last is None else last))

    def pictures(self) -> Iterator[Cluster]:
        """Yield the picture of every poll in the order of time."""
        question = "SELECT at, cost, is_frame, data FROM polls WHERE at > ? ORDER BY at LIMIT ?"
        cluster = None
        while rows := self._ask(question, (-1.0 if cluster is None else cluster.at, FRAME)):
            for at, cost, is_frame, packed in rows:
                cluster = self._next(None if is_frame else cluster, packed, at, cost)
                yield cluster

    def rows(self, since: float, until: float) -> Iterator[tuple[float, bool, Plain]]:
        """Yield (time, whether it is a whole picture, its data) for each poll up to the time `until`, in order. The
        first one is the last whole picture at or before `since`, or else the first picture.
        """
        found = self._ask("SELECT MAX(at) FROM polls WHERE is_frame AND at <= ?", (since,))[0][0]
        last = -1.0 if found is None else self._moment(found)
        question = "SELECT at, is_frame, data FROM polls WHERE at >= ? AND at <= ? ORDER BY at LIMIT ?"
        while rows := self._ask(question, (last, until, FRAME)):
            for at, is_frame, packed in rows:
                try:
                    yield number(at), bool(is_frame), _unpacked(packed)
                except (DamagedError, ValueError, RecursionError) as error:
                    raise FileError(f"the recording is damaged at {at}: {error}"[:300], self.path) from None
            last = nextafter(self._moment(rows[-1][0]), inf)

    def history(self) -> tuple[ClusterJob, ...]:
        """Return the jobs that ended before the first poll, which the scheduler's accounting listed."""
        return self.ended(0.0, next(iter(self.times()), 0.0))

    def ended(self, since: float, until: float) -> tuple[ClusterJob, ...]:
        """Return the jobs that ran and ended after the time `since` and by `until`, both in seconds since 1970."""
        rows = self._ask(
            "SELECT id, state, start, end, submit, cpus, time_limit, user, account, partition, nodes FROM jobs"
            " WHERE end > ? AND end <= ? AND start < end AND nodes != '' ORDER BY end DESC LIMIT ?",
            (since, until, MOST_PAST),
        )
        try:
            return tuple(map(_past_job, rows))
        except (DamagedError, ValueError, TypeError) as error:
            raise FileError(f"the recording is damaged: a job of the past: {error}"[:300], self.path) from None

    def _picture(self, at: float) -> Cluster:
        known = next((cluster for cluster in self._near if cluster.at == at), None)
        if known is not None:
            return known
        cluster = self._near[-1] if self._near and self._near[-1].at < at else None
        found = self._ask("SELECT MAX(at) FROM polls WHERE is_frame AND at <= ?", (at,))[0][0]
        framed = -1.0 if found is None else self._moment(found)
        if cluster is None or framed > cluster.at:
            cluster = None
            self._near.clear()
        begin, since = (-1.0, framed) if cluster is None else (cluster.at, -1.0)
        rows = self._ask(
            "SELECT at, cost, is_frame, data FROM polls WHERE at <= ? AND at > ? AND at >= ? ORDER BY at",
            (at, begin, since),
        )
        for moment, cost, is_frame, packed in rows:
            if cluster is None and not is_frame:
                break
            cluster = self._next(None if is_frame else cluster, packed, moment, cost)
            self._remember(cluster)
        if cluster is None:
            raise FileError("the recording is damaged: no whole picture before that moment", self.path)
        return cluster

    def _remember(self, cluster: Cluster) -> None:
        self._near.append(cluster)
        while len(self._near) > 1 and sum(len(near.jobs) for near in self._near) > MOST_NEAR:
            self._near.popleft()

    def _next(self, before: Cluster | None, packed: object, at: object, cost: object) -> Cluster:
        try:
            data = _unpacked(packed)
            cluster = _of_whole(data) if before is None else _applied(before, data)
            return replace(cluster, at=number(at), cost=number(cost))
        except (DamagedError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise FileError(f"the recording is damaged at {at}: {error}"[:300], self.path) from None

    def _ask(self, question: str, values: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
        failed = ""
        for mode in ("mode=ro", "mode=ro&immutable=1"):  # for folders without write access, as on a CD
            try:
                with foreign_database(self.path, TABLES, mode) as db:
                    return db.execute(question, values).fetchall()
            except (sqlite3.Error, UnicodeDecodeError, OverflowError) as error:
                failed = str(error)
        raise FileError(failed, self.path)


def _unpacked(packed: object) -> Plain:
    if not isinstance(packed, bytes):
        raise DamagedError("no picture")
    unpacker = zlib.decompressobj()
    try:
        raw = unpacker.decompress(packed, min(MOST_BYTES, max(MOST_TIMES * len(packed), 1 << 20)))
    except zlib.error as error:
        raise DamagedError(str(error)) from None
    if unpacker.unconsumed_tail:
        raise DamagedError("the picture is too large")
    data = json.loads(raw)
    if not isinstance(data, dict):
        raise DamagedError("no picture")
    return data


def _of_whole(data: Plain) -> Cluster:
    data = {"shares": [], **data}  # early recordings have none
    items: Plain = {kind: tuple(decode(cls, each) for each in data[kind]) for kind, cls, _ in _KINDS}
    return replace(_with_rest(Cluster(0.0), data), **items)


def _with_rest(cluster: Cluster, data: Plain) -> Cluster:
    found: Plain = {name: text(data[name]) for name in ("name", "version", "me", "settings") if name in data}
    if "private" in data:
        found["is_private"] = bool(data["private"])
    if "limits" in data:
        found["limits"] = tuple(decode(Limit, each) for each in data["limits"])
    if "parts" in data:
        columns = {text(name): [number(v) for v in column] for name, column in data["parts"]["names"].items()}
        numbers = [text(each) for each in data["parts"]["numbers"]]
        found["parts"] = {
            job: {name: column[at] for name, column in columns.items() if column[at]} for at, job in enumerate(numbers)
        }
    return replace(cluster, **found)


def _applied(before: Cluster, data: Plain) -> Cluster:
    """Return the picture that follows `before`; `data`, one row of the file, contains the changes between the two."""
    found: Plain = {}
    for kind, cls, name in _KINDS:
        if f"{kind}!" in data:
            found[kind] = tuple(decode(cls, each) for each in data[f"{kind}!"])
            continue
        told, gone, by = data.get(kind, {}), set(data.get(f"{kind}-", ())), _shifts(data) if kind == "jobs" else {}
        if not (told or gone or by):
            continue
        items = {getattr(item, name): item for item in getattr(before, kind) if getattr(item, name) not in gone}
        for field, column in by.items():
            for key, each in zip(list(items), column, strict=True):
                if each:
                    items[key] = replace(items[key], **{field: getattr(items[key], field) + each})
        for key, each in told.items():
            items[key] = decode(cls, {**encode(items[key]), **each}) if key in items else decode(cls, each)
        found[kind] = tuple(items.values())
    return replace(_with_rest(before, data), **found)


def _shifts(data: Plain) -> dict[str, list[int]]:
    return {field: list(map(whole, data[f"by {field}"])) for field in SHIFTED if f"by {field}" in data}


class Scratch(PollRecorder):
    """Pictures in a temporary file, which ends with this object; one thread may write while others read."""

    def __init__(self) -> None:
        try:
            self._folder = tempfile.TemporaryDirectory(prefix="schedscope-live-")
        except OSError as error:
            raise FileError(f"no folder for temporary files: {error.strerror or error}") from None
        path = Path(self._folder.name, "live.slog")
        super().__init__(path)
        self._recording = Recording(path)

    def at(self, time: float) -> Cluster:
        return self._recording.at(time)

    def close(self) -> None:
        super().close()
        self._folder.cleanup()
