import csv
import io
import json
import os
import re
from pathlib import Path
from threading import Thread

import pytest

from sim.engine.engine import Engine
from sim.workload import reading
from sim.workload.replay import read
from tests.tui.cli.program import error, schedscope, write
from tui.cli.schedule_files import schedule_rows


def test_the_columns_are_what_the_command_line_writes() -> None:
    workload = read("z-figure4")
    engine = Engine(workload, "easy")
    engine.run()
    file = io.StringIO()
    csv.writer(file).writerows(schedule_rows(engine))
    rows = list(csv.DictReader(io.StringIO(file.getvalue())))
    columns = engine.schedule().columns
    assert list(rows[0]) == list(columns)
    assert [float(row["start"]) for row in rows] == columns["start"].tolist()
    assert [row["job"] for row in rows] == columns["job"].tolist()
    assert {len(column) for column in columns.values()} == {len(workload)}


NAMES = {
    *("jobs", "mean_wait", "max_wait", "mean_turnaround", "mean_slowdown", "mean_bounded_slowdown"),
    *("mean_bounded_slowdown_z", "utilization", "loss_of_capacity", "makespan", "backfilled", "killed"),
    *("preemptions", "migrations", "missed_reservations"),
}


def test_policies_are_compared_in_formats() -> None:
    lines = schedscope("run", "z-figure4", "--policy", "fcfs", "--policy", "easy").stdout.splitlines()
    wait = next(line for line in lines if line.startswith("mean wait"))
    assert wait.split() == ["mean", "wait", "(s)", "942.0", "702.0", "*"]
    found = json.loads(schedscope("run", "z-figure4", "--policy", "bf", "--format", "json").stdout)
    assert (found["trace"], found["procs"]) == ("z-figure4", 10)
    (policy,) = found["policies"]
    assert policy["policy"] == "bf"
    assert policy["metrics"].keys() >= NAMES
    assert "fairness" not in schedscope("run", "lublin-128", "--jobs", "99").stdout
    for by in ("user", "group"):
        assert f"fairness between {by}s" in schedscope("run", "lublin-128", "--jobs", "99", "--by", by).stdout


def test_each_group_of_the_second_policy_has_its_r_against_the_first() -> None:
    policies = "--policy", "easy", "--policy", "multiqueue", "--format"
    first, second = json.loads(schedscope("run", "lublin-128", "--jobs", "300", *policies, "json").stdout)["policies"]
    assert "r" not in first["groups"]["class"][0]
    rows = csv.reader(
        schedscope("run", "lublin-128", "--jobs", "300", "--by", "class", *policies, "csv").stdout.split()
    )
    written = {row[0]: float(row[3]) for row in rows if row[1:2] == ["r"]}
    assert {row["label"]: row["r"] for row in second["groups"]["class"]} == pytest.approx(written)


def test_fairness_is_measured_in_every_format_where_somebody_asks(tmp_path: Path) -> None:
    file = tmp_path / "jobs.csv"
    assert "passed by" not in schedscope("run", "z-figure4").stdout
    table = schedscope("run", "z-figure4", "--fair", "--schedule", file).stdout
    assert re.search(r"most passed by \(jobs\) +1\b", table)
    rows = list(csv.DictReader(file.read_text().splitlines()))
    assert [row["passed"] for row in rows] == ["0", "0", "1", "1", "0"]
    assert [row["in_its_way"] for row in rows] == ["0", "0", "0", "1", "0"]
    (policy,) = json.loads(schedscope("run", "z-figure4", "--fair", "--format", "json").stdout)["policies"]
    assert policy["metrics"]["unfair_starts"] == 0
    assert policy["fairness"]["job"] == ["1", "2", "3", "4", "5"]
    assert policy["fairness"]["fair_start"] == [0, 10, 1200, 1800, 600]
    assert "max_passed,1" in schedscope("run", "z-figure4", "--fair", "--format", "csv").stdout


@pytest.mark.parametrize("by", ["category", "month", "batch", "time"])
def test_groups_as_table_and_csv(by: str) -> None:
    for form in ("table", "csv"):
        done = schedscope("run", "lublin-128", "--jobs", "50", "--by", by, "--format", form)
        assert (done.returncode, done.stderr) == (0, "")
        assert len(done.stdout.splitlines()) > 10


def test_the_schedule_has_one_row_a_job_in_rank_order(tmp_path: Path) -> None:
    trace = write(tmp_path / "t.swf", "7 5 -1 10 2 -1 -1 2 20", "3 0 -1 10 4 -1 -1 4 10")
    assert schedscope("run", trace, "--schedule", tmp_path / "s.csv").returncode == 0
    text = (tmp_path / "s.csv").read_text(encoding="utf-8")
    assert text.startswith("job,submit,start,end,procs,estimate,runtime,")
    rows = list(csv.reader(text.splitlines()))[1:]
    assert [row[:7] for row in rows] == [
        ["3", "0", "0", "10", "4", "10", "10"],
        ["7", "5", "10", "20", "2", "20", "10"],
    ]


def test_the_segments_name_the_processors(tmp_path: Path) -> None:
    trace = write(tmp_path / "t.swf", "1 0 -1 10 1 -1 -1 1 10", "2 0 -1 10 2 -1 -1 2 10")
    assert schedscope("run", trace, "--segments", tmp_path / "s.csv").returncode == 0
    rows = list(csv.reader((tmp_path / "s.csv").read_text(encoding="utf-8").splitlines()))
    assert rows == [
        ["job", "start", "end", "kind", "processors"],
        ["1", "0", "10", "run", "0"],
        ["2", "0", "10", "run", "1-2"],
    ]


def test_a_schedule_says_whose_the_jobs_were_and_can_be_read_again(tmp_path: Path) -> None:
    trace, out = tmp_path / "t.csv", tmp_path / "s.csv"
    trace.write_text("job,submit,runtime,procs,user,group,queue,account\n1,0,5,1,ann,g,q,=x\n2,1,5,1,bob,,r,y\n")
    done = schedscope("run", trace, "--by", "account", "--schedule", out)
    assert re.search(r"By account\n\njobs +easy\n=x +1\ny +1", done.stdout)
    again = reading.read(str(out))
    assert again.accounts == ("=x", "y")
    columns = [row.split(",")[-4:] for row in out.read_text().splitlines()]
    assert columns == [["user", "group", "queue", "account"], ["ann", "g", "q", "'=x"], ["bob", "", "r", "y"]]
    assert "2 accounts" in schedscope("inspect", trace).stdout


@pytest.mark.parametrize("kind", ["--schedule", "--segments"])
def test_what_cannot_be_written_is_said_and_nothing_is_left_behind(tmp_path: Path, kind: str) -> None:
    code, line = error("run", "z-figure4", kind, tmp_path / "no" / "out.csv")
    assert (code, "cannot write" in line, list(tmp_path.iterdir())) == (1, True, [])


@pytest.mark.parametrize(
    ("spec", "heeded"), [("easy", True), ("gang", False), ("selective", False), ("multiqueue", False)]
)
def test_a_placement_that_a_policy_does_not_heed_is_said(spec: str, heeded: bool, tmp_path: Path) -> None:
    for placement in ("lowest", "together"):
        out = tmp_path / placement
        told = schedscope(
            "run", "lublin-128", "--jobs", "60", "--policy", spec, "--placement", placement, "--segments", out
        )
        assert told.returncode == 0
    assert (told.stderr == "") == heeded
    assert heeded or f"--placement together has no effect under {spec}" in told.stderr
    assert ((tmp_path / "lowest").read_text() != (tmp_path / "together").read_text()) == heeded


def test_impossible_runs_are_refused() -> None:
    code, line = error("run", "z-figure4", "--policy", "easy", "--policy", "fcfs", "--schedule", "x.csv")
    assert (code, "one --policy" in line) == (2, True)
    said = "no switch at d10 00:00:00: the run ends at d0 00:45:00"
    assert error("run", "z-figure4", "--switch", "10d=easy") == (1, said)


def test_a_switch_takes_over_at_its_time() -> None:
    alone, switched = (
        json.loads(schedscope("run", "z-figure4", "--policy", "fcfs", *switch, "--format", "json").stdout)
        for switch in ([], ["--switch", "30=conservative", "--switch", "20=easy"])
    )
    waits = [found["policies"][0]["metrics"]["mean_wait"] for found in (alone, switched)]
    assert waits == [942, 702]


@pytest.mark.parametrize(
    "time", ["9" * 400 + "=easy", "d0 00:00:05=eazy", "#99999=easy", "2026-11-21=easy", "-1=easy"], ids=range(5)
)
def test_a_switch_at_no_time_is_refused_in_a_line(time: str) -> None:
    code, line = error("run", "z-figure4", "--switch", time)
    assert code in (1, 2)
    assert len(line) < 300


def test_every_policy_checks_itself_on_a_sample() -> None:
    from sim.policies import POLICIES

    chosen = [word for name in POLICIES for word in ("--policy", name)]
    assert schedscope("run", "lublin-128", "--jobs", "40", "--check", *chosen).returncode == 0


def test_formats_for_programs_say_on_stderr_what_was_skipped(tmp_path: Path) -> None:
    trace = write(tmp_path / "t.swf", "1 0 -1 10 4 -1 -1 4 10", "7 0 -1 -1 4 -1 -1 4 10")
    for form in ("csv", "json"):
        assert (
            "schedscope: skipped 1: never ran (run time < 0), first job 7"
            in schedscope("run", trace, "--format", form).stderr.splitlines()
        )


def test_a_trace_from_a_pipe_is_read_once_and_has_no_hash(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.swf"
    os.mkfifo(pipe)
    Thread(target=lambda: pipe.write_text("; MaxProcs: 4\n1 0 -1 10 4 -1 -1 4 10\n"), daemon=True).start()
    assert json.loads(schedscope("run", pipe, "--format", "json").stdout)["sha256"] is None


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--schedule", "x.csv", "--segments", "./x.csv"], "would overwrite each other"),
        (["--schedule", ""], "--schedule needs the name of a file"),
        (["--segments", " "], "--segments needs the name of a file"),
        (["--schedule", "-"], "--schedule needs the name of a file, got '-'"),
        (["--estimates", "factor:0"], "estimates factor:R needs R above 0"),
        (["--window", "5,3"], "a window needs its start before its end"),
    ],
)
def test_what_cannot_be_meant_is_wrong_usage(more: list[str], said: str) -> None:
    code, line = error("run", "z-figure4", *more)
    assert code == 2
    assert said in line


def test_json_names_all_that_it_takes_to_do_it_again() -> None:
    found = json.loads(
        schedscope("run", "z-figure4", "--load", "2", "--policy", "easy:order=sjf", "--switch", "#2=fcfs", "--format",
                   "json").stdout
    )  # fmt: skip
    assert (len(found["sha256"]), found["seed"], found["options"]["load"]) == (64, 0, 2)
    assert found["options"]["placement"] == "lowest"
    assert found["version"]
    policy = found["policies"][0]
    assert policy["parameters"].startswith("easy:order=sjf,")
    assert "depth=1" in policy["parameters"]
    assert policy["switches"][0]["policy"].startswith("fcfs")


def test_csv_names_it_too_in_its_last_rows() -> None:
    given = ("run", "z-figure4", "--switch", "#2=fcfs", "--format", "csv")
    rows = dict(row for row in csv.reader(schedscope(*given).stdout.splitlines()))
    assert len(rows["sha256"]) == 64
    assert "depth=1" in rows["policy"]
    assert json.loads(rows["switches"]) == [{"time": 10.0, "policy": "fcfs:order=fcfs"}]


def test_many_turns_are_announced_before_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tui.cli.run.MANY", 10)
    done = schedscope("run", "z-figure7", "--policy", "gang:slice=60", "--segments", tmp_path / "s.csv")
    assert "turns of jobs are written" in done.stderr
    assert "turns of jobs are checked" in schedscope("run", "z-figure7", "--policy", "gang:slice=60", "--check").stderr
    done = schedscope("run", "z-figure7", "--policy", "easy", "--segments", tmp_path / "s.csv")
    assert done.stderr == ""


def test_very_many_ticks_are_told_before_the_run() -> None:
    done = schedscope("run", "z-figure4", "--policy", "tunable:tick=1", "--stretch", "1e6")
    assert done.returncode == 0
    assert "ticks or more; a longer tick makes fewer" in done.stderr
    assert "ticks" not in schedscope("run", "z-figure4", "--policy", "tunable:tick=1").stderr


def test_dump_without_weights_is_reported_under_slurm(tmp_path: Path) -> None:
    dump = tmp_path / "x.sacct"
    dump.write_text("JobID|Submit|Start|Elapsed|NCPUS\n1|2026-11-23T10:00:00Z|2026-11-23T10:00:05Z|00:10:00|4\n")
    assert "--slurm-conf FILE" in schedscope("run", dump, "--policy", "slurm").stderr
    assert "--slurm-conf FILE" not in schedscope("run", dump, "--policy", "easy").stderr
