"""Recordings from files with answers of Slurm: captured series of two versions, and damaged files."""

from __future__ import annotations

import gzip
import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sim.live.cluster.slurm.dumps import Dumps, read_dumps
from sim.support.errors import TraceError
from tests.sim.live.cluster.captures import VERSIONS, series

JOB: dict[str, Any] = {
    "job_id": 7, "job_state": "RUNNING", "cpus": 2, "nodes": "n[1-2]", "submit_time": 1795469000,
    "start_time": 1795469100, "user_name": "ann", "partition": "batch", "time_limit": 10, "node_count": 2,
}  # fmt: skip
SACCT = "JobID|State|Submit|Start|End|NCPUS|NodeList|User\n"


def folder(path: Path, **files: object) -> Dumps:
    """Write files, whose names begin with _, and read all of them."""
    for name, content in files.items():
        (path / name.lstrip("_")).write_text(content if isinstance(content, str) else json.dumps(content))
    return read_dumps([path])[0]


@pytest.mark.parametrize("version", VERSIONS)
def test_a_captured_series_is_read_as_it_was_polled(shared: Path, version: str) -> None:
    captures = shared / "slurm" / "captures" / version
    found, ignored = read_dumps([captures / "series", captures / "final.sacct"])
    pictures, known = list(found.pictures()), series(shared, version)
    assert [cluster.at for cluster in pictures] == [cluster.at for cluster in known]
    for made, cluster in zip(pictures, known, strict=True):
        listed = tuple(job for job in made.jobs if job.id in cluster.job_of)
        assert replace(cluster, name="") == replace(made, name="", jobs=listed)
    assert any(job.has_ended and job.id not in known[-1].job_of for made in pictures for job in made.jobs)
    assert ignored == 2 * len(known), "sdiag and sinfo"


def test_jobs_alone_tell_the_nodes_and_sacct_its_zone(shared: Path, tmp_path: Path) -> None:
    rows = "7|COMPLETED|2026-11-23T22:23:20|2026-11-23T22:25:00|2026-11-23T22:26:00|2|n1,n2|ann\n"
    rows += "7.batch|COMPLETED|2026-11-23T22:23:20|2026-11-23T22:25:00|2026-11-23T22:26:00|2|n1|\n7|strange\n"
    found = folder(tmp_path, _1795469120={"jobs": [JOB]}, _1795469200={"jobs": []}, _sacct=SACCT + rows)
    first, last = found.pictures()
    assert [(node.name, node.cpus) for node in first.nodes] == [("n1", 1), ("n2", 1)]
    assert [(job.id, job.state, job.submit, job.end) for job in last.jobs] == [
        ("7", "COMPLETED", 1795469000.0, 1795469160.0)
    ]


def test_moment_is_in_the_name_or_in_the_answer(tmp_path: Path) -> None:
    new = {"jobs": [], "last_update": {"set": True, "infinite": False, "number": 1795469300}}
    found = folder(tmp_path, _a=new, _1795469200={"jobs": [JOB]}, _readme="hello")
    assert sorted(found.polls) == [1795469200.0, 1795469300.0]


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b'{"jobs": [', "is no JSON of squeue"), (b"{" * 100_000, "is no JSON of squeue"),
        (b"\x1f\x8bxx", "damaged gzip"),
        (b'{"jobs": 5}', "holds no list of jobs"), (b"\xff\xfe", "is no text"), (b"", "holds no list of jobs"),
    ],
    ids=["cut", "nested", "gzip", "number", "bytes", "empty"],
)  # fmt: skip
def test_damaged_files_are_refused_in_one_line(tmp_path: Path, content: bytes, why: str) -> None:
    (tmp_path / "x.json").write_bytes(content)
    with pytest.raises(TraceError, match=why):
        read_dumps([tmp_path / "x.json"])
    with pytest.raises(TraceError, match="cannot be read"):
        read_dumps([tmp_path / "nothing"])


def test_file_that_unpacks_to_too_much_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_bytes(gzip.compress(b"{" + b" " * 2**27, 1))
    with pytest.raises(TraceError, match="too large when unpacked"):
        read_dumps([tmp_path / "x.json"])


@pytest.mark.parametrize("value", [1e400, -1, "x" * 9999, None, [], {"set": True, "number": 1e308}, {"set": 1}, 2**70])
def test_strange_values_of_fields_are_no_error(tmp_path: Path, value: object) -> None:
    jobs = [
        JOB,
        *({**JOB, "job_id": number, key: value} for number, key in enumerate(JOB, 100)),
        value,
        {"job_id": value},
    ]
    found = folder(tmp_path, _1795469200={"jobs": jobs, "meta": value, "last_update": value})
    assert found.history() == []
    (cluster,) = found.pictures()
    assert "7" in cluster.job_of
    shutil.rmtree(tmp_path)
