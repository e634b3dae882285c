from pathlib import Path

import pytest

from sim.support.errors import TraceError
from sim.workload.formats import table
from sim.workload.model import Field, Trace, Workload
from sim.workload.reading import read
from tests.effort import calls


def parse(text: str) -> Trace:
    return table.read(text, "jobs", "jobs.csv")


def test_columns_have_their_meaning() -> None:
    trace = parse("Runtime, PROCS ,submit,Job\n60,4,5,first\n")
    assert trace.ids == ("first",)
    assert trace.column(Field.SUBMIT).tolist() == [5]
    assert trace.column(Field.RUN).tolist() == [60]
    assert trace.column(Field.PROCS_ASKED).tolist() == [4]
    assert trace.column(Field.ESTIMATE).tolist() == [-1]
    assert parse("nodes,procs,submit,run\n1,8,0,5\n").column(Field.PROCS_ASKED).tolist() == [8]
    assert parse("submit,start,end,procs\n0,5,65,2\n").column(Field.RUN).tolist() == [60]
    assert parse("submit,procs,runtime\n0,2,\n0,2,5\n").column(Field.RUN).tolist() == [-1, 5]
    trace = parse("submit,procs,runtime,user,queue\n0,2,5,ann,3\n0,2,5,bob,1\n0,2,5,,-1\n")
    assert trace.column(Field.USER).tolist() == [0, 1, -1]
    assert trace.column(Field.QUEUE).tolist() == [3, 1, -1]
    assert trace.names == {Field.USER: ("ann", "bob")}
    assert parse("submit,procs,runtime\n0,2,5\n0,2,5\n").ids == ("1", "2")


@pytest.mark.parametrize("mark", [",", ";", "\t"])
def test_the_header_shows_what_parts_the_columns(mark: str) -> None:
    text = "id,submit_time,cores,duration,time_limit\n1,0,2,3,4\n".replace(",", mark)
    trace = parse(text)
    assert trace.column(Field.ESTIMATE).tolist() == [4]
    assert trace.column(Field.RUN).tolist() == [3]


def test_a_schedule_of_ours_is_a_trace_with_waits() -> None:
    trace = parse("job,submit,start,end,procs,estimate,runtime,queue\n7,10,25,85,2,100,60,0\n")
    assert trace.column(Field.WAIT).tolist() == [15]
    assert trace.column(Field.RUN).tolist() == [60]
    assert trace.ids == ("7",)
    assert trace.column(Field.ID).tolist() == [7]


def test_a_missing_column_is_named() -> None:
    with pytest.raises(TraceError, match=r"jobs.csv:1: a table of jobs needs a column 'runtime'; there is 'job, sub"):
        parse("job,submit,procs\n1,0,2\n")
    with pytest.raises(TraceError, match="needs columns 'submit', 'procs' and 'runtime'; there is 'job, arrives'"):
        parse("job,arrives\n1,0\n")


def test_damaged_lines_are_left_out() -> None:
    trace = parse("# made by hand\njob,submit,procs,runtime\n1,0,2,5\n2,x,2,5\n3,0,2,5\n4\n")
    assert trace.ids == ("1", "3")
    (note,) = trace.fidelity.skipped
    assert (note.what, note.count, note.first) == ("damaged lines", 2, "line 4")
    trace = parse("job,submit,procs,runtime\n1,0,2,5\n" + "9" * 200_000 + ",0,2,5\n")
    assert trace.ids == ("1",)
    trace = parse("job,submit,run,procs\n1,0,50,1\n,2,5,60,2\n3,5,60,2,,\n")
    assert trace.ids == ("1", "3")
    assert [(note.what, note.first) for note in trace.fidelity.skipped] == [("damaged lines", "line 3")]


def test_quoted_fields_hold_separators_and_line_breaks() -> None:
    assert parse('job,submit,procs,runtime\n"a, b",0,2,5\n').ids == ("a, b",)
    assert parse('job,submit,procs,runtime\n"a\nb",0,2,5\nc,0,2,5\n').ids == ("ab", "c")
    lines = [f"{n},{n},50,1,{chr(34) if n == 3 else ''}ann" for n in range(1, 500)]
    trace = parse("job,submit,run,procs,user\n" + "\n".join(lines))
    assert len(trace.ids) == 498
    (note,) = trace.fidelity.skipped
    assert (note.what, note.count, note.first) == ("damaged lines", 1, "line 4")


@pytest.mark.parametrize("bomb", ['"\n' * 40_000, '"a\n' + "b\n" * 40_000], ids=["quotes", "a quote"])
def test_where_hardly_a_line_is_good_the_rest_is_not_looked_at(bomb: str) -> None:
    with pytest.raises(TraceError, match=r"jobs.csv:2: expected numbers for submit, procs"):
        parse("job,submit,procs,runtime\n" + bomb + "1,2,3,4\n" * 9_000)


def test_a_quote_that_nothing_closes_is_not_passed_over_in_a_large_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "LARGE", 1000)
    text = 'job,submit,procs,runtime,user\n1,0,1,5,"ann"\n2,0,1,5,"bob\n' + "3,0,1,5,cy\n" * 1000
    assert len(parse(text[:900]).ids) > 50
    with pytest.raises(
        TraceError, match=r"jobs.csv:3: has a quote that nothing closes, or a line without end; mend it"
    ):
        parse(text)


@pytest.mark.parametrize("bomb", ["," * 3_000_000, '"' + "a" * 3_000_000], ids=["commas", "letters"])
def test_a_line_that_no_record_can_be_is_not_taken_apart(bomb: str) -> None:
    trace = parse("job,submit,procs,runtime\n" + bomb + "\n1,2,3,4\n")
    assert trace.ids == ("1",)
    assert [(note.what, note.first) for note in trace.fidelity.skipped] == [("damaged lines", "line 2")]


def test_blank_lines_are_counted_and_passed_over_at_once() -> None:
    text = "\n \njob,submit,procs,runtime\n" + "\n" * 50_000 + "1,2,3,4\n\t\n x,y\n2,2,3,4\n  "
    assert calls(lambda: parse(text)) < 5_000
    assert parse(text).ids == ("1", "2")
    assert [note.first for note in parse(text).fidelity.skipped] == ["line 50006"]


def test_an_odd_number_among_thousands_costs_its_own_line_only() -> None:
    odd = {7: "1_0", 9: "nan", 11: "1e400", 13: "", 5000: "'=x"}
    lines = [f"{n},{n},1,{odd.get(n, 5)},ann" for n in range(1, 9000)]
    trace = parse("job,submit,procs,runtime,user\n" + "\n".join(lines))
    assert [note.count for note in trace.fidelity.skipped] == [4]
    assert len(trace.ids) == 8995
    assert trace.column(Field.RUN)[trace.ids.index("13")] == -1


OLD = "jobID,submission_time,requested_number_of_processors,requested_time,success,starting_time,execution_time,finish_time,waiting_time,turnaround_time,stretch,consumed_energy,allocated_processors\n"  # noqa: E501
NEW = "job_id,workload_name,submission_time,requested_number_of_resources,requested_time,success,starting_time,execution_time,finish_time,waiting_time,turnaround_time,stretch,consumed_energy,allocated_resources\n"  # noqa: E501


def test_both_namings_give_the_wait_that_was_recorded() -> None:
    old = table.read(OLD + "7,3,2,100,1,8,60,68,5,65,1,-1,0-1\n", "jobs", "jobs.csv", format="evalys")
    new = table.read(NEW + "7,w,3,2,100,1,8,60,68,5,65,1,-1,0-1\n", "jobs", "jobs.csv", format="evalys")
    assert old.table.tolist() == new.table.tolist()
    assert old.ids == new.ids == ("7",)
    job = dict(zip(Field, old.table[0].tolist(), strict=True))
    assert (job[Field.SUBMIT], job[Field.WAIT], job[Field.RUN]) == (3, 5, 60)
    assert (job[Field.PROCS_ASKED], job[Field.ESTIMATE], job[Field.STATUS]) == (2, 100, 1)


def test_a_rejected_job_never_ran() -> None:
    trace = table.read(OLD + "7,3,2,100,0,,,,,,,,\n", "jobs", "jobs.csv", format="evalys")
    assert trace.column(Field.RUN).tolist() == [-1]
    assert trace.column(Field.WAIT).tolist() == [-1]
    text = NEW + "7,a,3,2,100,1,8,60,68,5,65,1,-1,0-1\n7,b,3,2,100,1,8,60,68,5,65,1,-1,0-1\n"
    assert table.read(text, "jobs", "jobs.csv", format="evalys").ids == ("a!7", "b!7")


@pytest.mark.parametrize(
    ("file", "jobs", "widest"),
    [("jobs.csv", 250, 128), ("tests.easy_mediumWL_smallPF.csv", 800, 16), ("tests.oar_out_jobs.csv", 800, 32)],
)
def test_real_files(shared: Path, file: str, jobs: int, widest: int) -> None:
    trace = read(shared / "formats" / "evalys" / file)
    assert trace.format == "evalys"
    assert not trace.fidelity
    workload = Workload.of(trace)
    assert (len(workload), workload.procs) == (jobs, widest)
    assert (workload.wait >= 0).all()
