"""Any bytes are read as a trace with finite numbers, or refused in one line."""

import gzip
import json
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from sim.support.errors import ParameterError, TraceError
from sim.workload.formats.sacct import Reading
from sim.workload.model import Workload
from sim.workload.reading import read
from tests.examples import examples
from tests.material import MATERIAL

SWF = b"; MaxProcs: 8\n; Queue: 1 q\n" + b"".join(
    b"%d %d 5 100.5 4 -1 -1 4 200 -1 1 7 8 9 2 1 -1 -1\n" % (i, i) for i in range(4)
)
SACCT = (
    b"JobID|JobName|User|Account|Partition|Submit|Eligible|Start|End|Elapsed|State|NCPUS|Timelimit\n"
    b"1|a|ann|x|batch|2021-12-10T14:00:00|2021-12-10T14:00:20|2021-12-10T14:00:30|2021-12-10T15:00:30|01:00:00|COMPLETED|64|1-00:00:00\n"
    b"2_3|a|b\n|ann|y|batch|2021-12-10T14:00:00|Unknown|Unknown|Unknown|00:00:00|PENDING|64|UNLIMITED\n"
    b"1.batch|a|ann|x||2021-12-10T14:00:00|Unknown|2021-12-10T14:00:30|2021-12-10T15:00:30|01:00.5|COMPLETED|64|\n"
)
BATSIM = (
    b'{"nb_res": 4, "jobs": [{"id": 1, "subtime": 0, "walltime": 100, "res": 2, "profile": "d"},'
    b'{"id": "w!2", "subtime": 1e3, "res": 1, "profile": "s"}], "profiles": {"d": {"type": "delay", "delay": 10},'
    b'"s": {"type": "composed", "repeat": 2, "seq": ["d", "d"]}}}'
)
EVALYS = (
    b"job_id,workload_name,submission_time,requested_number_of_resources,requested_time,success,starting_time,"
    b"execution_time,finish_time,waiting_time\n1,w,0.5,2,100,1,3,60,63,2.5\n2,v,1,2,100,1,,,,\n"
)
CSV = b'job;submit;start;end;procs;estimate;runtime;user\n7;10;25;85;2;100;60;"a\nnn"\n8;11;25;85;2;100;60;3\n'
JUNK = [
    b"nan", b"-inf", b"1e400", b"9" * 400, b"9007199254740993", b"-1", b"0", b"0.5", b"", b"null", b"true", b"[]",
    b"{}", b'"', b"|", b";", b",", b"\t", b"\n", b"\r", b"\0", b"\xff", b"\xe2\x80\xa8", b"_", b"1_0", b"\xd9\xa3",
    b"[" * 3000, b"0001-01-01T00:00:00+23:59", b"9999-12-31T23:59:59", b"\xc2\xb2",
]  # fmt: skip


def real() -> list[bytes]:
    """Return the first bytes of real files of all formats; empty if there is no shared folder."""
    paths = sorted(path for path in MATERIAL.glob("*/**/*.*") if path.suffix in KINDS)
    heads = []
    for path in paths:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            heads.append(file.read(2500))
    return heads


KINDS = (".swf", ".gz", ".csv", ".json", ".log")
FILES = [SWF, SACCT, BATSIM, EVALYS, CSV]
ALL = [*FILES, *real()]
PIECES = st.builds(
    lambda file, start, size: file[start : start + size], st.sampled_from(ALL), st.integers(0, 2500), st.integers(0, 90)
)


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """Draw the content of a valid file, damaged by random bytes or by pieces of another file."""
    content = draw(st.sampled_from(FILES) | st.sampled_from(ALL))
    for _ in range(draw(st.integers(0, 6))):
        start = draw(st.integers(0, len(content)))
        end = min(len(content), start + draw(st.integers(0, 12)))
        content = content[:start] + draw(st.sampled_from(JUNK) | st.binary(max_size=4) | PIECES) + content[end:]
    return content


def check(path: Path, content: bytes, count: Literal["cpus", "nodes"] = "cpus") -> None:
    path.write_bytes(content)
    try:
        trace = read(path, Reading(count, "submit" if count == "nodes" else "eligible"))
    except TraceError:
        return
    assert trace.table.dtype == np.float64
    assert trace.table.shape == (len(trace.ids), 18)
    assert np.isfinite(trace.table).all()
    try:
        workload = Workload.of(trace)
    except (TraceError, ParameterError):
        return
    assert (workload.width >= 1).all()
    assert (workload.runtime > 0).all()
    assert len(workload.jobs) == len(workload)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fuzz") / "file"


fuzzed = examples(300, suppress_health_check=[HealthCheck.too_slow])


@fuzzed
@given(content=st.binary(max_size=300) | st.text(max_size=200).map(lambda text: text.encode()))
def test_any_bytes(path: Path, content: bytes) -> None:
    check(path, content)


@examples(1000, suppress_health_check=[HealthCheck.too_slow])
@given(content=damaged(), count=st.sampled_from(["cpus", "nodes"]))
def test_damaged_files(path: Path, content: bytes, count: Literal["cpus", "nodes"]) -> None:
    check(path, content, count)


@fuzzed
@given(content=damaged(), at=st.integers(0, 400), byte=st.integers(0, 255), cut=st.integers(0, 20))
def test_damaged_gzip(path: Path, content: bytes, at: int, byte: int, cut: int) -> None:
    zipped = bytearray(gzip.compress(content))
    zipped[at % len(zipped)] = byte
    check(path, bytes(zipped[: len(zipped) - cut]))


@fuzzed
@given(
    jobs=st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=4)
            | st.dictionaries(
                st.sampled_from(["id", "subtime", "res", "walltime", "profile", "type", "delay", "seq", "d"]), inner
            )
        ),
        max_leaves=20,
    )
)
def test_json_with_the_wrong_types(path: Path, jobs: object) -> None:
    check(path, json.dumps({"nb_res": jobs, "jobs": [jobs], "profiles": {"d": jobs}}).encode())
    check(path, json.dumps({"jobs": jobs, "profiles": jobs}).encode())
