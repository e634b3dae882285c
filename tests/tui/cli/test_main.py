"""The command line as other programs and people use it: what it prints, writes and refuses.

Also tests tui.__main__, tui.cli.policies, tui.cli.terminal, tui.cli.watch.
"""

from __future__ import annotations

import csv
import json
import os
import re
import signal
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from io import BytesIO, StringIO, TextIOWrapper
from pathlib import Path
from threading import Thread
from typing import NamedTuple

import click
import pytest

from sim.workload.reading import read
from tests.tui.terminals import terminal
from tui.cli.main import COMMANDS, commands, main

PROGRAM = [sys.executable, "-m", "tui.cli.main"]
NAMES = {
    *("jobs", "mean_wait", "max_wait", "mean_turnaround", "mean_slowdown", "mean_bounded_slowdown"),
    *("mean_bounded_slowdown_z", "utilization", "loss_of_capacity", "makespan", "backfilled", "killed"),
    *("preemptions", "migrations", "missed_reservations"),
}


class Done(NamedTuple):
    returncode: object
    stdout: str
    stderr: str


def schedscope(*arguments: str | Path) -> Done:
    """The program as in a process of its own that writes to pipes, without the price of one."""
    written = BytesIO(), BytesIO()
    out, err = (TextIOWrapper(each, encoding="utf-8", write_through=True) for each in written)
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        patch.setattr(sys, "argv", ["schedscope", *map(str, arguments)])
        patch.setattr(sys, "stdin", StringIO())
        patch.setenv("COLUMNS", "80")
        with pytest.raises(SystemExit) as end:
            main()
    return Done(end.value.code, *(each.getvalue().decode() for each in written))


def error(*arguments: str | Path) -> tuple[object, str]:
    """The exit code and the one line on stderr."""
    done = schedscope(*arguments)
    lines = done.stderr.splitlines()
    assert len(lines) == 1, done.stderr
    assert lines[0].startswith("schedscope: error: ")
    return done.returncode, lines[0].removeprefix("schedscope: error: ")


def write(path: Path, *jobs: str) -> Path:
    path.write_text("; MaxProcs: 4\n" + "".join(f"{job}\n" for job in jobs), encoding="utf-8")
    return path


@pytest.mark.parametrize("arguments", [[], ["w-figure1"], ["watch", "w-figure1"], ["--policy", "fcfs"]], ids=str)
def test_without_a_terminal_nothing_can_be_watched(arguments: list[str]) -> None:
    code, line = error(*arguments)
    assert code == 1
    assert line.startswith("the replay screen needs a terminal; without one there are schedscope run, explain")


def test_policies_side_by_side_with_the_best_marked() -> None:
    lines = schedscope("run", "z-figure4", "--policy", "fcfs", "--policy", "easy").stdout.splitlines()
    wait = next(line for line in lines if line.startswith("mean wait"))
    assert wait.split() == ["mean", "wait", "(s)", "942.0", "702.0", "*"]


def test_json_has_the_promised_names() -> None:
    found = json.loads(schedscope("run", "z-figure4", "--policy", "bf", "--format", "json").stdout)
    assert (found["trace"], found["procs"]) == ("z-figure4", 10)
    (policy,) = found["policies"]
    assert policy["policy"] == "bf"
    assert policy["metrics"].keys() >= NAMES


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
    again = read(str(out))
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
    assert heeded or f"--placement together changes nothing under {spec}" in told.stderr
    assert ((tmp_path / "lowest").read_text() != (tmp_path / "together").read_text()) == heeded


def test_one_schedule_needs_one_policy() -> None:
    code, line = error("run", "z-figure4", "--policy", "easy", "--policy", "fcfs", "--schedule", "x.csv")
    assert (code, "one --policy" in line) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["run", "z-figure4", "--policy", "eazy"], 1, "no policy 'eazy'; did you mean 'easy'"),
        (["run", "z-figure4", "--policy", "easy:depth=0"], 1, "depth=0: expected whole number >= 1"),
        (["run", "z-figure4", "--policy", "easy:depht=2"], 1, "easy has no parameter 'depht'; did you mean 'depth'?"),
        (["run", "z-figure4", "--policy", "easy:order=sfj"], 1, "no order 'sfj'; did you mean 'sjf'"),
        (["run", "nothing.swf"], 1, "nothing.swf: no such file"),
        (["run", "z-figure4", "--load", "0"], 1, "load factor must be between 0.000001 and 1,000,000"),
        (["run", "z-figure4", "--procs", "0"], 2, "--procs"),
        (["run", "z-figure4", "--by", "colour"], 2, "--by colour: expected one of category"),
        (["run"], 2, "Missing argument 'TRACE'"),
        (["run", "z-figure4", "--polisy", "easy"], 2, "No such option"),
        (["policies", "eazy"], 1, "did you mean 'easy'"),
        (["explain", "z-figure4", "99"], 1, "no job '99'"),
    ],
)
def test_wrong_words_get_one_line_that_helps(arguments: list[str], code: int, said: str) -> None:
    got, line = error(*arguments)
    assert got == code
    assert said in line


# Switches


def test_a_switch_takes_over_at_its_time() -> None:
    alone, switched = (
        json.loads(schedscope("run", "z-figure4", "--policy", "fcfs", *switch, "--format", "json").stdout)
        for switch in ([], ["--switch", "30=conservative", "--switch", "20=easy"])
    )
    waits = [found["policies"][0]["metrics"]["mean_wait"] for found in (alone, switched)]
    assert waits == [942, 702]


def test_a_job_is_explained_across_a_switch() -> None:
    told = schedscope("explain", "z-figure4", "5", "--policy", "fcfs", "--switch", "50=easy").stdout
    assert "easy" in told
    assert told != schedscope("explain", "z-figure4", "5", "--policy", "fcfs").stdout


@pytest.mark.parametrize("command", [["run", "z-figure4"], ["explain", "z-figure4", "5"]], ids=lambda words: words[0])
@pytest.mark.parametrize(
    ("switch", "code", "said"),
    [
        ("600", 2, "'600': expected T=SPEC, like 12d4h=easy:order=sjf"),
        ("600=", 2, "expected T=SPEC"),
        ("soon=easy", 2, "a time is seconds or like 12d4h30m"),
        ("600=eazy", 2, "no policy 'eazy'; did you mean 'easy'?"),
    ],
)
def test_what_is_no_switch(command: list[str], switch: str, code: int, said: str) -> None:
    got, line = error(*command, "--switch", switch)
    assert got == code
    assert said in line


def test_a_switch_when_all_is_over_cannot_be_made() -> None:
    said = "no switch at d10 00:00:00: all is over at d0 00:45:00"
    assert error("run", "z-figure4", "--switch", "10d=easy") == (1, said)


# Comparing and drawing


def test_two_policies_are_compared_with_where_they_part() -> None:
    done = schedscope("compare", "z-figure4", "--policy", "fcfs", "--policy", "easy")
    assert (done.returncode, done.stderr) == (0, "")
    assert "J5" in done.stdout
    late = schedscope("compare", "z-figure4", "--policy", "fcfs", "--policy", "easy", "--at", "40m")
    assert "J5" not in late.stdout


def test_a_comparison_for_other_programs() -> None:
    done = schedscope("compare", "z-figure4", "--policy", "fcfs", "--policy", "easy", "--format", "json")
    assert json.loads(done.stdout)["trace"] == "z-figure4"


def test_a_chart_is_drawn(tmp_path: Path) -> None:
    done = schedscope("draw", "z-figure4", "--policy", "easy", "--to", "20m", "-o", tmp_path / "chart.svg")
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "chart.svg").read_text(encoding="utf-8").startswith("<svg")


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["compare", "z-figure4", "--policy", "fcfs"], 2, "compare takes two --policy SPEC, got 1"),
        (["compare", "z-figure4", *["--policy", "fcfs"] * 3], 2, "compare takes two --policy SPEC, got 3"),
        (["compare", "z-figure4", *["--policy", "fcfs"] * 2, "--at", "noon"], 1, "a time is seconds or like"),
        (["draw", "z-figure4"], 2, "Missing option '-o'"),
        (["draw", "z-figure4", "-o", "chart.gif"], 1, "chart.gif: a picture is written as .svg or .png"),
        (["draw", "z-figure4", "-o", "no/chart.svg"], 1, "cannot write no/chart.svg"),
        (["draw", "z-figure4", "-o", "chart.svg", "--theme", "pink"], 1, "no theme 'pink'; there is contrast"),
        (["draw", "z-figure4", "-o", "chart.svg", "--colour", "pink"], 1, "no colour 'pink'; there is estimate"),
        (["draw", "z-figure4", "-o", "chart.svg", "--from", "10d"], 1, "there is nothing to draw from d10 00:00:00"),
    ],
)
def test_wrong_uses_of_comparing_and_drawing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], code: int, said: str
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path.cwd()))
    monkeypatch.chdir(tmp_path)
    got, line = error(*arguments)
    assert (got, list(tmp_path.iterdir())) == (code, [])
    assert said in line


# Sessions


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["z-figure4", "--session", "last"], "TRACE"),
        (["--session", "last", "--policy", "easy", "--jobs", "3"], "--policy, --jobs"),
        (["--session", "last", "--at", "#3"], "--at"),
    ],
)
def test_a_session_brings_everything_with_it(arguments: list[str], named: str) -> None:
    code, line = error(*arguments)
    assert code == 2
    assert line.startswith(f"--session brings its own trace and options back: leave out {named}; see ")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--session", "last"], "there is no last session: none has been left yet"),
        (["--session", "no.session"], "no.session: cannot be read: No such file or directory"),
        (["--session", "schedscope1:AAAA"], "the line: is damaged; copy all of it again"),
        (["no.swf"], "no.swf: no such file"),
        (["z-figure4", "--at", "soon"], "'soon' is no place to go to"),
        (["z-figure4", "--policy", "eazy"], "no policy 'eazy'; did you mean 'easy'?"),
    ],
)
def test_what_cannot_be_watched_is_said_before_the_screen_is_opened(arguments: list[str], said: str) -> None:
    with terminal(*arguments) as at:
        assert at.wait() == 1
        at.wait_for(lambda: at.written.endswith(b"\n"))
    (line,) = at.written.decode().splitlines()
    assert line.startswith("schedscope: error: ")
    assert said in line


def test_a_file_that_is_no_trace_is_refused_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "poem.swf").write_text("Shall I compare thee\nto a summer's day?\n", encoding="utf-8")
    code, line = error("run", tmp_path / "poem.swf")
    assert (code, "poem.swf:1: " in line) == (1, True)


@pytest.mark.parametrize("jobs", [[], ["1 0 -1 10 4 -1 -1 4 10"]], ids=["no job", "one job as wide as the machine"])
@pytest.mark.parametrize("command", ["inspect"])
def test_tiny_traces_are_no_trouble(tmp_path: Path, command: str, jobs: list[str]) -> None:
    done = schedscope(command, write(tmp_path / "tiny.swf", *jobs))
    assert (done.returncode, done.stderr) == (0, "")


def test_every_policy_checks_itself_on_a_sample() -> None:
    from sim.policies import POLICIES

    chosen = [word for name in POLICIES for word in ("--policy", name)]
    assert schedscope("run", "lublin-128", "--jobs", "120", "--check", *chosen).returncode == 0


def test_a_reader_that_goes_away_is_no_error() -> None:
    program = subprocess.Popen([*PROGRAM, "policies"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert program.stdout is not None
    assert program.stderr is not None
    program.stdout.close()
    assert (program.wait(30), program.stderr.read()) == (0, b"")
    program.stderr.close()


def test_an_interrupt_ends_it_with_a_word(tmp_path: Path) -> None:
    # A pipe is opened for writing when somebody reads it: then the program is at work, and waits.
    os.mkfifo(tmp_path / "pipe.swf")
    program = subprocess.Popen(
        [*PROGRAM, "run", str(tmp_path / "pipe.swf"), "--policy", "gang"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # Tests that run in the background of a shell would hand it on that interrupts are ignored.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    with (tmp_path / "pipe.swf").open("w"):
        program.send_signal(signal.SIGINT)
        out, said = program.communicate(timeout=30)
    assert (program.returncode, out, said.strip()) == (130, b"", b"schedscope: error: interrupted")


def test_without_unicode_it_is_plain_ascii() -> None:
    for arguments in (["run", "z-figure4"], ["inspect", "lublin-128"], ["explain", "z-figure4", "3"]):
        done = subprocess.run(
            [*PROGRAM, *arguments],
            capture_output=True,
            text=True,
            encoding="utf-8",
            env={**os.environ, "PYTHONIOENCODING": "ascii"},
        )
        assert done.returncode == 0
        assert done.stdout.isascii()


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_all_says_what_help_of_each_begins_with(name: str) -> None:
    command = commands.get_command(click.Context(commands), name)
    assert command.name == name
    assert command.help.partition("\n\n")[0].replace("\n", " ") == COMMANDS[name]


def test_the_package_runs_as_the_program_does() -> None:
    done = subprocess.run([sys.executable, "-m", "tui", "policies", "easy"], capture_output=True, text=True)
    assert done.stdout == schedscope("policies", "easy").stdout != ""


def test_help_imports_no_engine() -> None:
    code = "import sys, tui.cli.main as m\ntry: m.main()\nexcept SystemExit: sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code, "--help"], capture_output=True).returncode == 0


def test_parsing_imports_no_engine() -> None:
    heavy = "('numpy', 'textual', 'sim.engine.engine')"
    code = f"import sys, tui.cli.main; sys.exit(any(m.startswith({heavy}) for m in sys.modules))"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


@pytest.mark.parametrize("command", ["run", "explain", "compare", "draw"])
def test_where_nothing_can_be_simulated_one_line_says_why(tmp_path: Path, command: str) -> None:
    trace = write(tmp_path / "empty.swf", "7 0 -1 -1 4 -1 -1 4 10")
    more: dict[str, list[str | Path]] = {
        "explain": ["7"],
        "compare": ["--policy", "fcfs", "--policy", "easy"],
        "draw": ["-o", tmp_path / "x.svg"],
    }
    code, line = error(command, trace, *more.get(command, []))
    assert code == 1
    assert "nothing to simulate: none of its 1 jobs is left (never ran (run time < 0): 1)" in line
    assert not (tmp_path / "x.svg").exists()


def test_a_window_without_jobs_draws_nothing(tmp_path: Path) -> None:
    code, line = error("draw", "z-figure4", "--window", "100d,200d", "-o", tmp_path / "x.svg")
    assert (code, list(tmp_path.iterdir())) == (1, [])
    assert "nothing to simulate" in line


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


def test_the_trace_is_not_overwritten(tmp_path: Path) -> None:
    trace = write(tmp_path / "t.swf", "1 0 -1 10 4 -1 -1 4 10")
    before, beside = trace.read_text(), tmp_path / "beside.svg"
    beside.symlink_to(trace)
    for command, option, name in (("run", "--schedule", trace), ("run", "--segments", beside), ("draw", "-o", beside)):
        code, line = error(command, trace, option, name)
        assert code == 2
        assert "would overwrite the trace" in line
    assert trace.read_text() == before


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--schedule", "x.csv", "--segments", "./x.csv"], "would overwrite each other"),
        (["--schedule", ""], "--schedule needs the name of a file"),
        (["--segments", " "], "--segments needs the name of a file"),
    ],
)
def test_files_that_cannot_be_meant_are_wrong_usage(more: list[str], said: str) -> None:
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
    rows = dict(line.split(",", 1) for line in schedscope("run", "z-figure4", "--format", "csv").stdout.splitlines())
    assert len(rows["sha256"]) == 64
    assert "depth=1" in rows["policy"]


def test_jobs_are_known_by_their_users(tmp_path: Path) -> None:
    table = tmp_path / "jobs.csv"
    table.write_text("job,submit,run,procs,user\n1,0,50,1,ann\n2,0,50,1,bob\n3,9,5,1,ann\n", encoding="utf-8")
    by_user = schedscope("run", table, "--by", "user", "--format", "csv").stdout
    assert "ann,jobs,2" in by_user
    assert "By user" in schedscope("run", table, "--by", "user").stdout
    told = schedscope("explain", table, "user:ann")
    assert (told.returncode, told.stdout.splitlines()[0]) == (
        0, "the 2 jobs of ann that waited longest under easy, of 2",
    )  # fmt: skip
    code, line = error("explain", table, "user:anna")
    assert code == 1
    assert "no job of a user 'anna'; did you mean 'ann'?" in line
    schedscope("run", table, "--schedule", tmp_path / "out.csv")
    with open(tmp_path / "out.csv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0])[:7] == ["job", "submit", "start", "end", "procs", "estimate", "runtime"]
    assert [row["user"] for row in rows] == ["ann", "bob", "ann"]


def test_explain_as_json() -> None:
    found = json.loads(schedscope("explain", "z-figure4", "2", "--format", "json").stdout)
    assert found["job"] == "2"
    assert found["summary"]
    assert found["story"]
    assert found["sha256"]


@pytest.mark.parametrize(
    "time", ["9" * 400 + "=easy", "d0 00:00:05=eazy", "#99999=easy", "2026-11-21=easy", "-1=easy"], ids=range(5)
)
def test_a_switch_at_no_time_is_refused_in_a_line(time: str) -> None:
    code, line = error("run", "z-figure4", "--switch", time)
    assert code in (1, 2)
    assert len(line) < 300


def test_times_as_printed_are_taken(tmp_path: Path) -> None:
    out = tmp_path / "x.svg"
    assert schedscope("draw", "z-figure4", "--from", "d0 00:00:05", "--to", "#3", "-o", out).returncode == 0
    both = ("--policy", "easy", "--policy", "fcfs")
    assert schedscope("compare", "z-figure4", *both, "--at", "d0 00:10").returncode == 0
