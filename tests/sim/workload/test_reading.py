"""Also tests sim.support.errors."""

import gzip
import os
import threading
import tracemalloc
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from time import sleep

import numpy as np
import pytest

from sim.support.errors import ParameterError, TraceError
from sim.workload import reading
from sim.workload.formats.sacct import Reading
from sim.workload.model import Field
from sim.workload.reading import read, read_shape, sniff
from sim.workload.source import Source
from tests.effort import calls

SWF = b"; MaxProcs: 8\n1 0 5 100 4 -1 -1 4 200 -1 1 7 8 9 2 1 -1 -1\n"


def put(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def test_gzip_is_told_by_its_first_bytes_whatever_the_name(tmp_path: Path) -> None:
    zipped = put(tmp_path / "a.swf", gzip.compress(SWF))
    plain = put(tmp_path / "b.swf.gz", SWF)
    assert read(zipped).table.tolist() == read(plain).table.tolist()


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("CTC-SP2-1996-3.1-cln.swf.gz", "CTC-SP2-1996-3.1-cln"),
        ("KTH-SP2-1996-2.1-cln", "KTH-SP2-1996-2.1-cln"),
        ("w.SWF", "w"),
    ],
)
def test_a_trace_has_the_name_of_its_file(tmp_path: Path, file: str, name: str) -> None:
    assert read(put(tmp_path / file, SWF)).name == name


@pytest.mark.parametrize(("text", "name", "format"), [
    ("; only a comment\n", "x.csv", "swf"), ("1 0 5 100 4", "x.json", "swf"), ("\n {\n", "x.swf", "batsim"),
    ("# sacct\nAccount|JobID|Submit", "x", "sacct"), ("job,submit,start,end,procs,estimate,runtime", "x", "csv"),
    ("jobID,submission_time,starting_time,execution_time,waiting_time", "x.swf", "evalys"),
    ("id\tsubmit\twait\truntime\tcpus", "x.swf", "swf"), ("id\tsubmit\twait\truntime\tcpus", "x.txt", "csv"),
])  # fmt: skip
def test_content_decides_the_format_and_the_name_only_a_tie(text: str, name: str, format: str) -> None:
    assert sniff(text, name) == format


def test_odd_bytes_are_read(tmp_path: Path) -> None:
    for end in (b"\r\n", b"\r"):
        assert read(put(tmp_path / "x", SWF.replace(b"\n", end))).ids == ("1",)
    latin = read(put(tmp_path / "x", b"; Computer: Universit\xe4t\n" + SWF))
    utf8 = read(put(tmp_path / "y", b"\xef\xbb\xbf; Computer: Universit\xc3\xa4t\n" + SWF))
    assert latin.header.computer == utf8.header.computer == "Universität"


@pytest.mark.parametrize(("content", "message"), [
    (b"", "is empty"), (b" \n\n ", "is empty"), (b"\x7fELF\x02\x01\x01\0\0\0", "is not a trace: binary data"),
    (bytes(range(1, 32)), "is not a trace: binary data"), (gzip.compress(SWF, mtime=0)[:-9], "is damaged gzip"),
    (gzip.compress(SWF * 99, mtime=0)[:30] + b"xxxx", "is damaged gzip"), (b"\x1f\x8bxxxxxxxxxxxx", "is damaged gzip"),
    (b"<html>\n<body>", "expected lines of 18 numbers"),
    (b"JobID JobName State\n------ ---- ----\n", "create it with sacct --parsable2"),
])  # fmt: skip
def test_what_is_no_trace_is_refused_in_one_line(tmp_path: Path, content: bytes, message: str) -> None:
    path = put(tmp_path / "x", content)
    with pytest.raises(TraceError, match=message) as error:
        read(path)
    assert str(error.value).startswith(str(path))
    assert "\n" not in str(error.value)


def test_a_missing_file_a_directory_and_a_name_that_cannot_be(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match="no such file"):
        read(tmp_path / "missing.swf")
    with pytest.raises(TraceError, match="is a directory; give the path"):
        read(tmp_path)
    with pytest.raises(TraceError, match="cannot be read"):
        read("nul\0.swf")
    with pytest.raises(TraceError, match="cannot be read"):
        read(put(tmp_path / "file", SWF) / "below")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read(tmp_path: Path) -> None:
    path = put(tmp_path / "x.swf", SWF)
    path.chmod(0)
    with pytest.raises(TraceError, match="may not be read"):
        read(path)


def test_a_file_above_the_limit_is_refused_while_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MAX_BYTES", 2_000_000)
    monkeypatch.setattr(reading, "PART", 500_000)
    bomb = put(tmp_path / "bomb.gz", gzip.compress(b"job,submit,procs,runtime\n" * 2_000_000))
    with pytest.raises(TraceError, match="holds more than 2,000,000 bytes"):
        read(bomb)


def test_too_little_memory_is_no_traceback(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr("sim.workload.formats.swf.read_parts", full)
    with pytest.raises(TraceError, match="does not fit into this machine's memory"):
        read(put(tmp_path / "x", SWF))


def test_a_pipe_can_be_read(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(gzip.compress(SWF),))
    writer.start()
    assert read(pipe).ids == ("1",)
    writer.join()


def test_the_count_option_reaches_sacct(tmp_path: Path) -> None:
    dump = put(tmp_path / "d", b"JobID|Submit|Elapsed|NCPUS|NNodes\n1|2021-12-10T14:00:00|01:00|64|2\n")
    assert read(dump).column(Field.PROCS_ASKED).tolist() == [64]
    assert read(dump, Reading(count="nodes")).column(Field.PROCS_ASKED).tolist() == [2]


def test_a_big_real_log_is_read_with_fewer_calls_than_it_has_fields(shared: Path) -> None:
    found = []
    assert calls(lambda: found.append(read(shared / "traces" / "CTC-SP2-1996-3.1-cln.swf.gz"))) < 10 * 77222
    assert len(found[0].ids) == 77222


def test_every_real_file_is_a_trace(shared: Path) -> None:
    for path in sorted((shared / "formats").glob("*/*")):
        trace = read(path)
        assert trace.table.shape == (len(trace.ids), len(Field))
        assert {"slurm": "sacct"}.get(path.parent.name, path.parent.name) == trace.format


def test_a_file_that_unpacks_to_nothing_but_newlines_is_refused_early(tmp_path: Path) -> None:
    path = tmp_path / "bomb.swf.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        for _ in range(100):
            file.write(b"\n" * 2**20)
    with pytest.raises(TraceError, match="is no trace: it unpacks to more than 100 times its size"):
        read(path)


def test_a_pipe_into_which_nobody_writes_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "PATIENCE", 0.01)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(TraceError, match="is a pipe that no process writes to"):
        read(tmp_path / "pipe")


def test_a_pipe_is_waited_for_while_somebody_has_it_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "PATIENCE", 0.01)
    os.mkfifo(tmp_path / "pipe")

    def write() -> None:
        with (tmp_path / "pipe").open("w") as pipe:
            sleep(0.1)
            pipe.write("1 0 -1 10 2 -1 -1 2 10 -1 1 1 1 1 1 1 -1 -1\n")

    both = os.open(tmp_path / "pipe", os.O_RDWR)  # a writer that has written nothing yet
    found: list[Sequence[str]] = []
    reader = threading.Thread(target=lambda: found.append(read(tmp_path / "pipe").ids))
    reader.start()
    write()
    os.close(both)
    reader.join(10)
    assert found == [("1",)]


def test_a_lesson_is_no_trace(tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    for text, said in (("[[scene]]", "schedscope learn FILE plays it"), ("seed = 1", "made by schedscope sweep")):
        path.write_text(text)
        with pytest.raises(TraceError, match=said):
            read(path)


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_a_file_is_the_same_text_in_any_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    monkeypatch.setattr(reading, "CHUNK", size)
    for end in (b"\xc3\xa9\n", b"\xe9\n", b"\xc3"):  # UTF-8; a letter of one byte; cut short
        text = b"\xef\xbb\xbfjob,submit,procs,runtime,user\r\n1,0,1,5,\xc3\xbc\r\n2,0,1,5,x\r3,0,1,5,y" + end
        trace = read(put(tmp_path / "x.csv", text))
        assert trace.ids == ("1", "2", "3")
        assert trace.names[Field.USER] == (
            ("ü", "x", "yé") if end == b"\xc3\xa9\n" else ("Ã¼", "x", "y" + end.decode("latin-1").strip())
        )


@pytest.mark.parametrize(
    "content",
    [
        b"," * 500_000,
        b"|" * 500_000,
        b"1 " * 600_000,
        b"nan " * 300_000,
        b"JobID|Submit|Elapsed|NCPUS" + b"\n" * 500_000,
    ],
    ids=["commas", "pipes", "numbers", "words", "blank lines"],
)
def test_what_is_hardly_a_trace_costs_little(tmp_path: Path, content: bytes) -> None:
    path = put(tmp_path / "x", content)

    def refused() -> None:
        with suppress(TraceError):
            read(path)

    assert calls(refused) < 300_000
    tracemalloc.start()
    refused()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * len(content)


def test_nodes_set_the_size_of_the_machine(tmp_path: Path) -> None:
    dump = put(tmp_path / "d", b"JobID|Submit|Elapsed|NCPUS|NNodes\n1|2021-12-10T14:00:00|01:00|64|2\n")
    table = put(tmp_path / "t.swf", b"1 0 0 10 4 -1 -1 4 10 -1 1 1 1 1 1 1 -1 -1\n")
    nodes = put(tmp_path / "nodes", b"NodeName=n1 CPUTot=96 State=IDLE\nNodeName=n2 CPUTot=32 State=DOWN\n")
    for trace in (dump, table):
        assert Source.of_options(str(trace), {"nodes": str(nodes)}).read()[1].procs == 128
    assert Source.of_options(str(dump), {"nodes": str(nodes), "count": "nodes", "procs": 3}).read()[1].procs == 3


def test_a_file_without_nodes_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match=r"names no nodes; make it with scontrol -o show node"):
        read_shape(put(tmp_path / "nodes", b"NodeName= CPUTot=4\nx\n"))


def test_a_zone_that_is_unknown_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="no time zone 'Mars'"):
        Source.of_options("lublin-128", {"zone": "Mars"}).read()


@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r"])
def test_a_log_read_in_parts_gives_the_same_jobs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ends: str) -> None:
    lines = [f"{job} {7 * job} 1 {job % 90 + 1} 4 -1 -1 4 100 -1 1 {job % 5} 1 -1 1 -1 -1 -1" for job in range(1, 4000)]
    lines[1500] = "no job"
    lines[2500] = lines[2500].replace(" 4 ", " 4.5 ")
    path = put(tmp_path / "log.swf", ends.join(["; MaxProcs: 64", *lines]).encode())
    whole = read(path)
    for part in (1, 1000, 50_000):
        monkeypatch.setattr(reading, "PART", part)
        monkeypatch.setattr(reading, "CHUNK", 777)
        parted = read(path)
        assert np.array_equal(parted.table, whole.table)
        assert (parted.ids, parted.header, parted.fidelity) == (whole.ids, whole.header, whole.fidelity)


def test_a_log_above_the_limit_of_other_formats_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MAX_BYTES", 1000)
    monkeypatch.setattr(reading, "PART", 400)
    path = put(tmp_path / "x.swf", b"".join(b"%d 0 -1 5 1\n" % job for job in range(1, 301)))
    assert len(read(path).ids) == 300
    monkeypatch.setattr("sim.workload.formats.swf.MOST_JOBS", 200)
    with pytest.raises(TraceError, match="more than 200 jobs; cut it"):
        read(path)


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_reader_tells_progress(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pack: Callable[[bytes], bytes]) -> None:
    monkeypatch.setattr(reading, "CHUNK", 2**14)
    lines = b"".join(b"%d %d 5 100 4 -1 -1 4 200 -1 1 7 8 9 2 1 -1 -1\n" % (at, at) for at in range(1, 3000))
    path, shares = tmp_path / "log.swf", list[float]()
    path.write_bytes(pack(lines))
    assert len(read(path, heard=shares.append).ids) == 2999
    assert len(shares) > 3
    assert shares == sorted(shares)
    assert shares[0] > 0
    assert shares[-1] == 1
