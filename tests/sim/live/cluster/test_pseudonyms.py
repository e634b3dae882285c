"""Recordings in which pseudonyms stand for the names of people."""

from __future__ import annotations

import sqlite3
import zlib
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from sim.live.cluster.recording import PollRecorder, Recording
from sim.live.cluster.values import Cluster, ClusterJob, Limit, Node, Reservation, Share


def rows(path: Path, question: str) -> list[tuple[bytes, ...]]:
    with closing(sqlite3.connect(path)) as db:
        return db.execute(question).fetchall()


def test_pseudonyms_are_stable_and_hide_the_names(tmp_path: Path) -> None:
    job = ClusterJob("1", "1", "RUNNING", name="secret plan", user="anna", account="physics", workdir="/home/anna")
    picture = Cluster(
        1.0,
        "c",
        nodes=(Node("n1", 4, reason="broken [anna@today]"),),
        jobs=(job,),
        reservations=(Reservation("class", 0, 9, users=("anna",)),),
        limits=(Limit("user", "anna of physics", "MaxJobs", 2, 1), Limit("qos of a user", "anna in high", "x", 1, 1)),
        me="anna",
        shares=(Share("5", "physics", "anna", "physics"), Share("3", "physics", "", "root")),
    )
    for name in ("a", "b"):
        recorder = PollRecorder(tmp_path / name, secret=b"key")
        recorder.add(picture)
        recorder.add_history([replace(job, id="0", state="COMPLETED")])
        recorder.close()
        held = b"".join(zlib.decompress(row) for (row,) in rows(tmp_path / name, "SELECT data FROM polls"))
        held += repr(rows(tmp_path / name, "SELECT * FROM jobs")).encode()
        for word in (b"anna", b"physics", b"secret", b"broken"):
            assert word not in held
    first, second = (Recording(tmp_path / name).at(1) for name in "ab")
    assert first == second
    assert first.me == first.jobs[0].user == first.reservations[0].users[0]
    assert first.limits[0].name == f"{first.jobs[0].user} of {first.jobs[0].account}"
    assert first.limits[1].name == f"{first.jobs[0].user} in high"
    assert first.shares[0].user == first.me
    assert first.shares[0].account == first.shares[0].parent == first.shares[1].account == first.jobs[0].account
