"""Also tests sim.workload.model."""

import io
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sim.support.errors import TraceError
from sim.timeline.scenario import run
from sim.workload.formats import swf, table
from sim.workload.model import Field, Header, Trace, Workload
from sim.workload.reading import read

GOOD = "1 0 5 100 4 -1 -1 4 200 -1 1 7 8 9 2 1 -1 -1\n"


def parse(text: str) -> Trace:
    return swf.read(text, "log", "log.swf")


def written(trace: Trace) -> str:
    file = io.StringIO()
    swf.write(trace, file)
    return file.getvalue()


def test_a_line_is_a_job_with_its_processors() -> None:
    trace = parse(GOOD)
    assert trace.ids == ("1",)
    assert trace.table.tolist() == [[1, 0, 5, 100, 4, -1, -1, 4, 200, -1, 1, 7, 8, 9, 2, 1, -1, -1]]
    assert trace.format == "swf"
    assert not trace.fidelity
    assert parse("1 0 5 100 x -1 -1 4").column(Field.PROCS_ASKED)[0] == 4
    with pytest.raises(TraceError, match="expected lines of 18 numbers"):
        parse("1 0 5 100 x -1 -1 y")
    trace = parse("1 0 5 100 0.5 -1 -1 2.5")
    assert trace.column(Field.PROCS_ASKED)[0] == 3
    assert Workload.of(trace).width.tolist() == [3]
    assert trace.fidelity.assumed[0].what == "processors that are no whole number, rounded up"


def test_columns_that_are_missing_or_odd_are_read() -> None:
    trace = parse("   " + GOOD.replace(" ", "\t ") + "\n  \n" + GOOD.strip() + "\n   ")
    assert len(trace.ids) == 2
    assert np.array_equal(trace.table[0], trace.table[1])
    trace = parse("1 0.5 5 100.25 4 246.00 -1 4 2e2 -1 1 7 8 9 2 1 -1 -1")
    assert trace.column(Field.SUBMIT)[0] == 0.5
    assert trace.column(Field.RUN)[0] == 100.25
    assert trace.column(Field.ESTIMATE)[0] == 200
    assert parse(GOOD.strip() + " DAG_1 99").table.tolist() == parse(GOOD).table.tolist()
    assert parse("1 0 5 100 4").table.tolist() == [[1, 0, 5, 100, 4] + [-1] * 13]
    for mark in ";|,":
        assert parse(GOOD.replace(" ", mark)).table.tolist() == parse(GOOD).table.tolist()
    trace = parse("id\tsubmit\twait\truntime\tcpus\n" + GOOD)
    assert trace.ids == ("1",)
    assert not trace.fidelity


def test_a_field_that_is_no_number_is_unknown_and_counted() -> None:
    trace = parse(GOOD + GOOD.replace("1 -1 -1\n", "1 1&2&3 -1\n"))
    assert trace.column(Field.PRECEDING).tolist() == [-1, -1]
    note = trace.fidelity.assumed[0]
    assert note.what == "field 17 (preceding) that is no number, taken as -1"
    assert (note.count, note.first) == (1, "line 2")


@pytest.mark.parametrize("field", [Field.SUBMIT, Field.RUN])
@pytest.mark.parametrize("junk", ["x", "nan", "inf", "1e400", "1_0", "1e300", "9" * 5000])
def test_a_line_without_a_time_is_damaged(field: Field, junk: str) -> None:
    tokens = GOOD.split()
    tokens[field] = junk
    trace = parse(GOOD * 2 + " ".join(tokens) + "\n" + GOOD)
    assert len(trace.ids) == 3
    (note,) = trace.fidelity.skipped
    assert (note.what, note.count, note.first) == ("damaged lines", 1, "line 3")


def test_file_without_jobs_is_refused_or_empty() -> None:
    with pytest.raises(TraceError) as error:
        parse("; a comment\nDear diary, today")
    expected = "expected lines of 18 numbers (Standard Workload Format), got 'Dear diary, today'"
    assert str(error.value) == f"log.swf:2: {expected}"
    trace = parse("; MaxProcs: 8\n;\n")
    assert trace.table.shape == (0, 18)
    assert Workload.of(trace).procs == 8


def test_damaged_lines_shift_no_others() -> None:
    parse(GOOD + "junk\n")
    with pytest.raises(TraceError, match=r"log.swf:2: 2 of 3 lines are damaged: expected"):
        parse(GOOD + "junk\nmore junk\n")
    lines = [GOOD.replace("1 0", f"{i} {i}", 1) for i in range(1, 10001)]
    lines[6000] = "6001 6001 5 100 4\n"
    trace = parse("".join(lines))
    assert trace.column(Field.SUBMIT).tolist() == list(range(1, 10001))
    assert trace.ids[-1] == "10000"
    trace = parse("1,0,-1,5,1\n,2,3,-1,5,1\n3,0,-1,5,1\n")
    assert trace.ids == ("1", "3")
    assert trace.fidelity.skipped[0].first == "line 2"
    trace = parse(GOOD + GOOD.replace("5 100 4 -1 -1 4", "- 100 4 -1-1 -1 4") + GOOD)
    assert trace.table[1].tolist() == [1, 0, -1, 100, 4, -1, *trace.table[0, 6:].tolist()]
    assert [note.first for note in trace.fidelity.assumed[:2]] == ["line 2"] * 2
    assert parse(GOOD + GOOD.strip() + "x").fidelity.assumed[0].first == "line 2"


def test_the_header_tells_the_machine() -> None:
    header = parse(
        ";Computer: IBM SP2\n; UnixStartTime: 843480031\n;  TimeZone: 3600\n; TimeZoneString: Europe/Stockholm\n"
        "; MaxNodes: 338 (batch partition; 512 total)\n# MaxProcs: 1664 (72, 1368, 224)\n;\n;   continued: text\n"
    ).header
    assert header.computer == "IBM SP2"
    assert header.unix_start == 843480031
    assert header.time_zone == "Europe/Stockholm"
    assert (header.max_nodes, header.max_procs) == (338, 1664)


def test_header_keeps_what_makes_sense() -> None:
    header = parse(f"; MaxProcs: N/A\n; MaxNodes: 0\n; UnixStartTime: {'9' * 5000}\n; TimeZone:\n").header
    assert (header.max_procs, header.max_nodes, header.unix_start, header.time_zone) == (None,) * 4
    assert parse("; MaxProcs: N/A\n; MaxProcs: 8\n; MaxProcs: 16\n").header.max_procs == 8
    header = parse("; Queues: these are classes\n; Queue:  0  interactive  \n; Queue: 10 q256s\n; Queue: x\n").header
    assert header.queues == {0: "interactive", 10: "q256s"}
    text = ";Computer: X\n;\n;   Copyright: all of this\n" + GOOD
    assert parse(text).header.comments == ("Computer: X", "", "   Copyright: all of this")
    assert written(parse(text)) == text


def test_what_is_written_reads_the_same() -> None:
    trace = parse("; MaxProcs: 9\n" + GOOD + "2 0.1 -1 1e9 3 246.25 -1 -1 2147483647\n")
    again = parse(written(trace))
    assert np.array_equal(again.table, trace.table)
    assert again.header == trace.header
    trace = Trace("none", "batsim", (), np.empty((0, 18)))
    assert parse(written(trace)).table.shape == (0, 18)
    header = Header(max_procs=6, unix_start=12, queues={0: "batch"})
    trace = Trace("w", "batsim", (), np.empty((0, 18)), header)
    header = parse(written(trace)).header
    assert (header.max_procs, header.unix_start, header.queues) == (6, 12, {0: "batch"})
    trace = parse(GOOD.replace("1 0", "7_1 0", 1) + GOOD.replace("1 0", "7_2 0", 1))
    assert trace.ids == ("7_1", "7_2")
    assert swf.from_workload(Workload.of(trace)).column(Field.ID).tolist() == [1, 2]


def test_a_workload_becomes_a_trace_of_its_machine() -> None:
    trace = parse("; Computer: X\n; MaxProcs: 4 (of 8)\n" + GOOD)
    trace = swf.from_workload(Workload.of(trace, procs=16))
    assert written(trace) == "; MaxProcs: 16\n; Computer: X\n1 0 5 100 4 -1 -1 4 200 -1 1 7 8 -1 2 -1 -1 -1\n"
    again = Workload.of(parse(written(trace)))
    assert again.procs == 16
    assert again.ids == ("1",)


@pytest.mark.parametrize(
    ("file", "jobs", "procs"),
    [
        ("KTH-SP2-1996-2.swf.gz", 28489, 100),
        ("CTC-SP2-1996-3.1-cln.swf.gz", 77222, 338),
        ("SDSC-Par-1996-3.1-cln.swf.gz", 32135, 400),
        ("lublin_256.swf.gz", 10000, 256),
    ],
)
def test_real_logs_are_read_whole(shared: Path, file: str, jobs: int, procs: int) -> None:
    trace = read(shared / "traces" / file)
    assert trace.table.shape == (jobs, 18)
    assert not trace.fidelity
    assert (trace.header.max_procs or trace.header.max_nodes) == procs


def test_real_logs_keep_their_fields(shared: Path) -> None:
    trace = read(shared / "traces" / "SDSC-SP2-1998-4.2-cln.swf.gz")
    again = parse(written(trace))
    assert np.array_equal(again.table, trace.table)
    assert again.header == trace.header
    assert again.header.queues[6] == "No_Class"
    trace = read(shared / "formats" / "swf" / "jaros2.swf")
    assert len(trace.ids) == 12
    assert trace.fidelity.assumed[0].first == "line 7"


def test_odd_jobs_are_told_of() -> None:
    lines = ["7 0 -1 5 1 -1 -1 1", "7 3 -1 5 1 -1 -1 1", "8 -1 -1 5 1 -1 -1 1"]
    told = {note.what: note.first for note in Workload.of(parse("\n".join(lines))).fidelity.assumed}
    assert told["ids that come again (such as requeued jobs), kept as jobs of their own"] == "job 7"
    assert told["submitted before time 0 (-1 means unknown), kept unchanged"] == "job 8"
    workload = Workload.of(parse("1 0 -1 5 4 -1 -1 4\n2 1 -1 5 2000000000 -1 -1 2000000000\n"))
    assert (workload.ids, workload.procs) == (("1",), 4)
    assert workload.fidelity.skipped[0].what == "wider than the largest supported machine (10,000,000 processors)"
    lines = ["1 0 -1 1e-9 1 -1 -1 1 1e-9", "2 0 -1 5 2 -1 -1 2 1e-300", "3 1 -1 1e-6 1 -1 -1 1 1"]
    workload = Workload.of(parse("\n".join(lines)))
    assert workload.runtime.tolist() == [1, 5, 1e-6]
    assert workload.estimate.tolist() == [1, 5, 1]
    assert "run time under a microsecond, taken as 1 second" in {note.what for note in workload.fidelity.assumed}
    ids = ("007", "8", "0", "9.0", "10")
    assert parse("".join(GOOD.replace("1 ", f"{job} ", 1) for job in ids)).ids == ids
    assert parse("".join(GOOD.replace("1 ", f"{job} ", 1) for job in ids[:3])).ids == ids[:3]


def test_reading_in_a_thread_changes_no_filters_of_warnings(monkeypatch: pytest.MonkeyPatch) -> None:
    seen, real = [tuple(warnings.filters)], np.fromstring

    def watched(*given: Any, **more: Any) -> Any:
        seen.append(tuple(warnings.filters))
        return real(*given, **more)

    monkeypatch.setattr(np, "fromstring", watched)
    parse(GOOD + GOOD.replace("100", "1oo"))
    assert len(seen) > 1
    assert all(filters == seen[0] for filters in seen)


def test_where_hardly_a_line_is_good_the_rest_is_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "LETTERS", 1000)
    with pytest.raises(TraceError, match=r"x.swf:2: \d+ of \d+ lines are damaged") as refusal:
        swf.read("1 0 5 100 4\n" + "a\n" * 20_000, "x", "x.swf")
    assert "20001" not in str(refusal.value)


def test_a_file_of_comments_is_no_log(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(swf, "MOST_COMMENTS", 100)
    with pytest.raises(TraceError, match=r"x.swf: holds more than 100 lines of comments; take them away"):
        swf.read(";\n" * 101, "x", "x.swf")


def test_columns_that_are_not_given_are_unknown() -> None:
    runtime = np.array([60.0, 30.0])
    jobs = Workload.known_by(
        ("1", "2"), name="two", procs=4, submit=np.zeros(2), width=np.array([4, 1]), runtime=runtime
    )
    assert jobs.estimate is runtime
    assert (jobs.wait.tolist(), jobs.user.tolist()) == ([-1, -1], [-1, -1])
    assert not jobs.killed.any()
    assert np.isnan(jobs.reserve).all()
    assert run(jobs, "fcfs").start.tolist() == [0, 60]
