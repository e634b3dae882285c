from pathlib import Path
from zoneinfo import ZoneInfo

import numpy as np
import pytest

from sim.engine.check import Checker
from sim.engine.engine import Engine
from sim.support.errors import TraceError
from sim.workload.formats import sacct, table
from sim.workload.formats.sacct import Unmodelled, Used
from sim.workload.model import Field, Trace, Workload
from sim.workload.reading import read, read_shape
from tests.effort import calls

COLUMNS = "JobID|JobName|User|Partition|Submit|Start|End|Elapsed|State|NNodes|NCPUS|Timelimit\n"


def parse(*lines: str, header: str = COLUMNS, count: sacct.Width = "cpus") -> Trace:
    how = sacct.Reading(count, zone=ZoneInfo("UTC"))
    return sacct.read(header + "".join(line + "\n" for line in lines), "dump", "dump.log", how)


def record(
    job: str = "1",
    name: str = "job",
    user: str = "ann",
    submit: str = "2021-12-10T14:00:00",
    start: str = "2021-12-10T14:00:30",
    end: str = "2021-12-10T15:00:30",
    elapsed: str = "01:00:00",
    state: str = "COMPLETED",
    limit: str = "1-00:00:00",
) -> str:
    return f"{job}|{name}|{user}|batch|{submit}|{start}|{end}|{elapsed}|{state}|2|64|{limit}"


def test_records_become_jobs() -> None:
    trace = parse(record())
    job = dict(zip(Field, trace.table[0].tolist(), strict=True))
    assert trace.ids == ("1",)
    assert (job[Field.SUBMIT], job[Field.WAIT], job[Field.RUN]) == (0, 30, 3600)
    assert (job[Field.PROCS_ASKED], job[Field.ESTIMATE], job[Field.STATUS]) == (64, 86400, 1)
    assert parse(record(), count="nodes").column(Field.PROCS_ASKED).tolist() == [2]
    trace = parse(record(submit="2021-12-10T14:00:20"), record(job="2"))
    assert trace.column(Field.SUBMIT).tolist() == [20, 0]
    assert trace.header.unix_start == 1639144800
    assert trace.fidelity.assumed[0].what == "times without a time zone, taken as those of UTC"
    trace = parse(record(), *(record(job=f"1.{step}") for step in ("batch", "extern", "0", "interactive")))
    assert trace.ids == ("1",)
    assert not trace.fidelity.skipped
    assert [note.count for note in trace.fidelity.assumed if "job steps" in note.what] == [4]
    ids = ("4744528_255", "123+0", "123+1", "77_[1-10%5]")
    assert parse(*map(record, ids)).ids == ids
    assert parse(record(elapsed="00:00:00", state="FAILED")).column(Field.RUN).tolist() == [0]
    trace = parse(record(end="Unknown", state="RUNNING"))
    assert trace.column(Field.RUN).tolist() == [86400]
    assert any("runs on to its limit" in note.what for note in trace.fidelity.assumed)
    header = "JobID|Submit|Elapsed|ElapsedRaw|Timelimit|TimelimitRaw|NCPUS\n"
    trace = parse("1|2021-12-10T14:00:00|01:00:00|3599|1-00:00:00|10|4", header=header)
    assert trace.column(Field.RUN)[0] == 3599
    assert trace.column(Field.ESTIMATE)[0] == 600


def test_what_a_job_is_charged_to_stays_with_it_wherever_it_goes() -> None:
    header = COLUMNS.rstrip("\n") + "|Account\n"
    late = record(job="2", submit="2021-12-10T14:00:20") + "|physics"
    trace = parse(late, record() + "|maths", record(job="3", submit="2021-12-10T14:00:30") + "|", header=header)
    assert trace.accounts == ("physics", "maths", "")
    workload = Workload.of(trace)
    assert workload.accounts == ("maths", "physics", "")
    assert workload.take(slice(1, 2)).accounts == ("physics",)
    assert parse(record()).accounts == Workload.of(parse(record())).accounts == ()


def test_names_and_repeated_ids_are_kept() -> None:
    trace = parse(record(user="ann"), record(job="2", user="bob"), record(job="3", user="ann"))
    assert trace.column(Field.USER).tolist() == [0, 1, 0]
    assert trace.names[Field.USER] == ("ann", "bob")
    assert trace.names[Field.QUEUE] == ("batch",)
    assert trace.header.queues == {0: "batch"}
    trace = parse(record(), record(submit="2021-12-10T16:00:00"))
    assert trace.ids == ("1", "1")
    assert any("come again" in note.what for note in trace.fidelity.assumed)


@pytest.mark.parametrize(
    ("state", "status"),
    [("COMPLETED", 1), ("CANCELLED by 89200431", 5), ("CANCELLED+", 5), ("TIMEOUT", 0), ("OUT_OF_MEMORY", 0)],
)
def test_states_become_status_codes(state: str, status: int) -> None:
    assert parse(record(state=state)).column(Field.STATUS).tolist() == [status]


@pytest.mark.parametrize(
    ("limit", "seconds"), [("01:30:00", 5400), ("30:00", 1800), ("UNLIMITED", -1), ("Partition_Limit", -1), ("", -1)]
)
def test_limits_become_estimates(limit: str, seconds: int) -> None:
    assert parse(record(limit=limit)).column(Field.ESTIMATE).tolist() == [seconds]


@pytest.mark.parametrize(
    "never",
    [
        record(start="None", elapsed="00:00:00", state="CANCELLED by 5"),
        record(start="2021-12-10T15:00:30", elapsed="00:00:00", state="CANCELLED by 5"),
    ],
)
def test_a_job_that_never_started_has_no_run_time(never: str) -> None:
    trace = parse(record(), never)
    assert trace.column(Field.RUN).tolist() == [3600, -1]
    assert trace.column(Field.WAIT).tolist() == [30, -1]
    assert Workload.of(trace).fidelity.skipped[0].what == "never ran (run time < 0)"


def test_odd_names_shift_no_columns() -> None:
    trace = parse(record(name="a||b|"), record(job="2", name="|"), record(job="3", name="grep | sort"))
    assert trace.column(Field.RUN).tolist() == [3600] * 3
    assert trace.names[Field.USER] == ("ann",)
    trace = parse(record(name="if true\n  then | echo\nfi"), record(job="2"))
    assert trace.ids == ("1", "2")
    assert not trace.fidelity.skipped
    trace = parse(record(), "2|job|ann", record(job="3", name="two\nlines"), "||garbage", record(job="4"))
    assert trace.ids == ("1", "3", "4")
    (note,) = trace.fidelity.skipped
    assert (note.what, note.count, note.first) == ("damaged lines", 2, "line 3")
    with_pipe = parse(record() + "|", record(name="x|y") + "|", header=COLUMNS.strip() + "|\n")
    assert np.array_equal(with_pipe.table, parse(record(), record(name="x|y")).table)


def test_dump_without_jobs_is_refused() -> None:
    with pytest.raises(TraceError, match=r"dump.log:1: has no column Submit, no column Elapsed .*NCPUS"):
        parse("1|x", header="JobID|JobName\n")
    with pytest.raises(TraceError, match=r"dump.log:2: expected a record of sacct .* got 'junk'"):
        parse("junk")
    with pytest.raises(TraceError, match="names more than 10,000 columns"):
        sacct.read("JobID|Submit|Elapsed|NCPUS" + "|x" * 10_000 + "\n1|", "x", "x.log")


def test_real_dumps_are_read_whole(shared: Path) -> None:
    raw = read(shared / "formats" / "slurm" / "sacct_simple.log")
    expected = read(shared / "formats" / "slurm" / "sacct_simple_formatted_expected.log")
    assert np.array_equal(raw.table, expected.table)
    assert raw.column(Field.RUN).tolist() == [84805, 12688, 2009, 2003]
    trace = read(shared / "formats" / "slurm" / "sacct_dump2110.log")
    assert trace.ids == ("7957382",) * 5
    assert (trace.table == trace.table[0]).all()
    assert trace.column(Field.PROCS_ASKED)[0] == 2
    trace = read(shared / "formats" / "slurm" / "sacct_submitline_multiline.log")
    assert len(trace.ids) == 6
    assert not trace.fidelity.skipped
    assert trace.column(Field.PROCS_ASKED).tolist() == [2, 576, 2, 2, 2, 2]
    trace = read(shared / "formats" / "slurm" / "sacct_dump2101.log")
    assert trace.column(Field.RUN).tolist() == [-1] * 6 + [128930] + [259222] * 5
    assert trace.fidelity.skipped[0].first == "line 16"


HELD = "JobID|Submit|Eligible|Start|Elapsed|NCPUS\n"


def test_held_jobs_come_when_they_may() -> None:
    held = "1|2021-12-10T14:00:00|2021-12-13T14:00:00|2021-12-13T14:00:30|01:00:00|4"
    free = "2|2021-12-10T14:00:00|2021-12-10T14:00:00|2021-12-10T15:00:00|01:00:00|4"
    trace = parse(held, free, header=HELD)
    assert trace.column(Field.SUBMIT).tolist() == [3 * 86400, 0]
    assert trace.column(Field.WAIT).tolist() == [30, 3600]
    (note,) = [note for note in trace.fidelity.assumed if "eligible" in note.what]
    assert (note.count, note.first) == (1, "job 1")
    held = "1|2021-12-10T14:00:00|2021-12-13T14:00:00|2021-12-13T14:00:30|01:00:00|4"
    trace = sacct.read(HELD + held, "dump", "dump.log", sacct.Reading(held="submit"))
    assert trace.column(Field.SUBMIT).tolist() == [0]
    assert trace.column(Field.WAIT).tolist() == [3 * 86400 + 30]
    assert any("as asked" in note.what for note in trace.fidelity.assumed)
    held = WAITS.format(2, "Dependency").replace(
        "2026-11-23T10:01:00|2026-11-23T10:01:00", "2026-11-23T10:01:00|Unknown"
    )
    text = WAITING + RAN.format("COMPLETED") + "\n" + held
    assert sacct.read(text, "x", "x.log").ids == ("1",)
    assert sacct.read(text, "x", "x.log", sacct.Reading(held="submit")).ids == ("1", "2")


@pytest.mark.parametrize("eligible", ["Unknown", "", "2021-12-09T14:00:00", "2021-12-12T14:00:00"])
def test_an_eligible_time_that_cannot_be_is_not_used(eligible: str) -> None:
    odd = f"1|2021-12-10T14:00:00|{eligible}|2021-12-10T14:00:30|01:00:00|4"
    assert parse(odd, header=HELD).column(Field.WAIT).tolist() == [30]


def test_hopeless_dumps_cost_little() -> None:
    with pytest.raises(TraceError, match=r"expected a record of sacct") as refusal:
        sacct.read("JobID|Submit|Elapsed|NCPUS\n" + "1|x|01:00|1\n" * 12_000, "x", "x.log")
    assert "12000" not in str(refusal.value)
    text = "JobID|Submit|Elapsed|NCPUS\n" + "\n" * 50_000 + "1|2021-12-10T14:00:00|01:00|1\n"
    assert calls(lambda: sacct.read(text, "x", "x.log")) < 5_000
    assert sacct.read(text, "x", "x.log").ids == ("1",)


def test_search_for_the_end_of_a_broken_record_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "MOST_IN_VAIN", 1000)
    text = "JobID|Submit|Elapsed|NCPUS\n" + "a|\n" * 20_000

    def refused() -> None:
        with pytest.raises(TraceError, match=r"x.log:2: expected a record of sacct"):
            sacct.read(text, "x", "x.log")

    assert calls(refused) < 100_000


# Dumps from the middle of a day

WAITING = "JobID|Submit|Eligible|Start|Elapsed|NCPUS|ReqCPUS|NodeList|State|Timelimit|Reason\n"
RAN = "1|2026-11-23T10:00:00|2026-11-23T10:00:00|2026-11-23T10:00:05|00:10:00|4|4|n1|{}|01:00:00|None"
WAITS = "2|2026-11-23T10:01:00|2026-11-23T10:01:00|Unknown|00:00:00|0|{}|None assigned|PENDING|00:30:00|{}"


def test_waiting_jobs_are_as_of_the_dump() -> None:
    trace = parse(RAN.format("RUNNING"), WAITS.format(2, "Priority"), header=WAITING)
    assert trace.column(Field.RUN).tolist() == [3600, 1800]
    assert trace.column(Field.PROCS_ASKED).tolist() == [4, 2]
    assert trace.column(Field.WAIT).tolist() == [5, 9 * 60 + 5]  # 10:10:05, where the running job stands
    trace = parse(RAN.format("RUNNING").replace("01:00:00", "00:05:00"), header=WAITING)
    assert trace.column(Field.RUN).tolist() == [600]
    array = WAITS.format(2, "Priority").replace("2|", "2_[4-6,9%3]|", 1)
    assert parse(array, header=WAITING).ids == ("2_4", "2_5", "2_6", "2_9")
    beside = RAN.format("COMPLETED").replace("1|", "3|", 1)
    trace = parse(RAN.format("SUSPENDED"), beside, header=WAITING)
    assert trace.header.max_procs == 4


@pytest.mark.parametrize("reason", ["JobHeldUser", "PartitionTimeLimit", "DependencyNeverSatisfied"])
def test_a_job_that_no_policy_can_start_is_counted(reason: str) -> None:
    trace = parse(RAN.format("COMPLETED"), WAITS.format(2, reason), header=WAITING)
    assert trace.ids == ("1",)
    assert [note.what for note in trace.fidelity.skipped] == [f"waiting for what no policy gives ({reason})"]


def test_the_machine_is_what_ran_and_not_what_can_never_run() -> None:
    trace = parse(
        RAN.format("COMPLETED").replace("|n1|", "|n[1-2]|"),
        RAN.format("COMPLETED").replace("1|", "3|", 1).replace("|4|4|n1|", "|3|3|n1|"),
        WAITS.format(40, "Resources"),
        header=WAITING,
    )
    assert trace.header.max_procs == 7  # 4 of the first job and 3 of the second at once
    assert Workload.of(trace).ids == ("1", "3")


def test_times_are_of_their_zone() -> None:
    summer, winter = record(submit="2026-07-01T12:00:00"), record(job="2", submit="2026-12-01T12:00:00")
    text = COLUMNS + summer + "\n" + winter
    trace = sacct.read(text, "x", "x.log", sacct.Reading(zone=ZoneInfo("Europe/Berlin")))
    assert trace.header.clock[0] == "Europe/Berlin"
    assert trace.header.unix_start == 1782900000  # 10:00 in UTC
    assert trace.column(Field.SUBMIT)[1] == 153 * 86400 + 3600
    trace = parse("1|1639144800|00:10:00|4", header="JobID|Submit|Elapsed|NCPUS\n")
    assert trace.header.unix_start == 1639144800
    assert not [note for note in trace.fidelity.assumed if "zone" in note.what]


def test_what_is_not_modelled_is_noted() -> None:
    header = "JobID|Submit|Elapsed|NCPUS|Partition|ReqTRES|QOS\n"
    first = "1|2026-11-23T10:00:00|00:10:00|4|batch|cpu=4,mem=4G|normal"
    trace = parse(first, "2|2026-11-23T10:00:00|00:10:00|4|gpu|cpu=4,mem=4G,gres/gpu=1|normal", header=header)
    (line,) = [note.what for note in trace.fidelity.assumed if "not modelled" in note.what]
    assert line == "not modelled, so a start is never held up by memory (2 jobs), GPUs (1 job) and 2 partitions"
    text = """JobID|Submit|Start|End|NCPUS|Timelimit|State|Dependency
1|2026-01-01T00:00:00|2026-01-01T00:00:00|2026-01-01T00:10:00|1|1:00:00|COMPLETED|afterok:9?afterany:2
2|2026-01-01T00:00:10|2026-01-01T00:20:00|2026-01-01T00:21:00|1|1:00:00|COMPLETED|afterany:1
"""
    notes = [note for note in sacct.read(text, "x", "x").fidelity.assumed if "later in the file" in note.what]
    assert [(note.count, note.first) for note in notes] == [(1, "job 1")]


@pytest.mark.parametrize(("version", "waiting"), [("v22.05", 15), ("v24.11", 19)])
def test_a_recorded_day_keeps_its_machine_and_its_waiting_jobs(shared: Path, version: str, waiting: int) -> None:
    captures = shared / "slurm" / "captures" / version
    shape = read_shape(min((captures / "series").glob("*.nodes")))
    given = read(captures / "final.sacct", sacct.Reading(shape=shape))
    alone = read(captures / "final.sacct")
    assert given.header.max_procs == alone.header.max_procs == 32
    assert [note.count for note in given.fidelity.assumed if note.what.startswith("waiting when")] == [waiting]


def test_jobs_come_when_those_in_their_dependency_have_ended_or_started() -> None:
    text = """JobID|Submit|Eligible|Start|End|NCPUS|Timelimit|User|JobName|State|Dependency
1|2026-01-01T00:00:00|2026-01-01T00:00:00|2026-01-01T00:00:00|2026-01-01T00:10:00|1|1:00:00|a|x|FAILED|
2|2026-01-01T00:00:10|Unknown|2026-01-01T00:20:00|2026-01-01T00:21:00|1|1:00:00|a|y|COMPLETED|afternotok:1
3|2026-01-01T00:00:20|2026-01-01T00:02:00|2026-01-01T00:20:00|2026-01-01T00:21:00|1|1:00:00|a|z|COMPLETED|after:1+2
4|2026-01-01T00:00:30|2026-01-01T00:09:00|2026-01-01T00:20:00|2026-01-01T00:21:00|1|1:00:00|a|z|COMPLETED|expand:1
"""
    workload = Workload.of(sacct.read(text, "x", "x")).with_overruns()
    engine = Engine(workload, "fcfs", watchers=[Checker])
    engine.run()
    assert engine.schedule().workload.submit.tolist() == [0, 600, 120, 540]
    assert engine.schedule().start.tolist() == [0, 600, 120, 540]
    assert any("dependencies of the kind 'expand'" in note.what for note in workload.fidelity.assumed)


def test_jobs_of_one_time_add_up_on_their_nodes() -> None:
    used = Used()
    used.add("n1", 4, 0, 10, suspended=False)
    used.add("n1", 4, 10, 20, suspended=False)
    assert (used.nodes, used.cpus) == (1, 4)
    used = Used()
    used.add("n[1-2]", 5, 0, 10, suspended=False)
    used.add("n1", 2, 0, 10, suspended=False)
    assert (used.nodes, used.cpus) == (2, 7)  # 2 each alone, and 7 in all at one moment
    used = Used()
    used.add("", 4, 0, 10, suspended=False)
    used.add("None assigned", 2, 5, 10, suspended=False)
    assert (used.nodes, used.cpus) == (0, 6)
    used = Used()
    used.add("n[1-3]", 3, 0, 10, suspended=False)
    assert used.strange_to({"n1": 4}) == 2
    unmodelled = Unmodelled()
    unmodelled.add({"jobid": "1", "reqmem": "0", "partition": "batch"})
    assert unmodelled.note() == ()
